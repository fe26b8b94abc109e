"""Who is stopped and who is deleted after the end: upstream's matrix, and no survivor keeps its machine."""

import pytest

from paddle_operator.api.paddlejob import PaddleJobStatus
from paddle_operator.api.words import Phase
from paddle_operator.plan.model import Observed, Plan, PodPhase
from paddle_operator.plan.names import STOPPED
from paddle_operator.plan.planner import make_plan
from support.build import job, pod, seen
from support.virtual_time import EPOCH

DONE = PodPhase.SUCCEEDED
HALF_DONE = seen(pod("ps-0"), pod("worker-0", DONE))


def plan(phase: Phase, policy: str = "", observed: Observed = HALF_DONE) -> Plan:
    model = job(ps=1, worker=1, cleanPodPolicy=policy, status=PaddleJobStatus(phase=phase))
    return make_plan(model, observed, EPOCH)


@pytest.mark.parametrize(
    ("policy", "phase", "deletes"),
    [
        ("", Phase.COMPLETED, True),
        ("", Phase.FAILED, False),
        ("Always", Phase.COMPLETED, True),
        ("Always", Phase.FAILED, True),
        ("Never", Phase.COMPLETED, False),
        ("Never", Phase.FAILED, False),
        ("OnFailure", Phase.COMPLETED, False),
        ("OnFailure", Phase.FAILED, True),
        ("OnCompletion", Phase.COMPLETED, True),
        ("OnCompletion", Phase.FAILED, False),
    ],
)
def test_pods_are_deleted_or_kept_as_upstream_did(policy: str, phase: Phase, deletes: bool) -> None:
    assert {one.name for one in plan(phase, policy).delete_pods} == (
        {"demo-ps-0", "demo-worker-0"} if deletes else set()
    )


@pytest.mark.defect("upstream-2")
@pytest.mark.parametrize("phase", [Phase.COMPLETED, Phase.FAILED])
def test_where_pods_are_kept_the_living_are_stopped_and_their_logs_stay(phase: Phase) -> None:
    (patch,) = plan(phase, "Never").patch_pods
    assert patch.pod.name == "demo-ps-0"
    assert patch.body["spec"] == {"activeDeadlineSeconds": 1}
    assert STOPPED in patch.body["metadata"]["annotations"]


def test_a_pod_is_stopped_once() -> None:
    stopped = seen(pod("ps-0", stopped=True), pod("worker-0", DONE))
    assert plan(Phase.COMPLETED, "Never", stopped).patch_pods == ()


def test_a_pod_that_has_no_node_is_deleted_because_it_has_no_log() -> None:
    unbound = seen(pod("ps-0", PodPhase.PENDING, node="", ip=""), pod("worker-0", DONE))
    got = plan(Phase.FAILED, "Never", unbound)
    assert [one.name for one in got.delete_pods] == ["demo-ps-0"]
    assert got.patch_pods == ()


def test_a_pod_is_deleted_once() -> None:
    going = seen(pod("ps-0", deleting=True), pod("worker-0", DONE), removing=frozenset({"uid-worker-0"}))
    assert plan(Phase.COMPLETED, "", going).delete_pods == ()


@pytest.mark.defect("upstream-3")
@pytest.mark.parametrize("phase", [Phase.COMPLETED, Phase.FAILED])
def test_a_finished_job_is_final(phase: Phase) -> None:
    got = plan(phase, "Never", seen(config_map=False))
    assert got.create_pods == ()
    assert got.create_config_map is None


@pytest.mark.defect("upstream-16")
def test_a_job_that_is_being_deleted_gets_nothing_new() -> None:
    got = make_plan(job(deleting=True), seen(config_map=False), EPOCH)
    assert (got.create_pods, got.create_config_map, got.delete_pods) == ((), None, ())
    assert got.status.phase is Phase.TERMINATING


def test_the_end_is_written_before_anything_is_cleaned() -> None:
    """An operator that dies in between must not find finished workers missing."""
    got = make_plan(job(ps=1, worker=1), HALF_DONE, EPOCH)
    assert got.status.phase is Phase.COMPLETED
    assert (got.delete_pods, got.patch_pods) == ((), ())

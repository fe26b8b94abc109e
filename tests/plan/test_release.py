"""When the members may start."""

from datetime import timedelta

import pytest

from paddle_operator.plan.model import PodPhase
from paddle_operator.plan.names import RELEASE
from paddle_operator.plan.planner import make_plan
from paddle_operator.plan.release import config_map_due, nudges_due
from support.build import UID, job, pod, seen
from support.virtual_time import EPOCH

WAITS = "CreateContainerConfigError"


def waiting(member: str, released: str = "") -> "pod":  # type: ignore[valid-type]
    return pod(member, PodPhase.PENDING, waiting=WAITS, released=released)


def mark(count: int, seconds_ago: float) -> str:
    return f"{count} {(EPOCH - timedelta(seconds=seconds_ago)).isoformat()}"


def test_the_config_map_is_made_when_the_last_member_has_an_address() -> None:
    model = job(worker=2)
    one = seen(pod("worker-0"), pod("worker-1", ip=""), config_map=False)
    both = seen(pod("worker-0"), pod("worker-1"), config_map=False)
    assert config_map_due(model, one) is None
    made = config_map_due(model, both)
    assert made is not None
    assert made["data"]["PADDLE_TRAINERS"] == "10.0.2.0,10.0.2.1"


def test_the_config_map_belongs_to_the_job_and_is_called_like_it() -> None:
    made = config_map_due(job(worker=1), seen(pod("worker-0"), config_map=False))
    assert made is not None
    meta = made["metadata"]
    assert (meta["name"], meta["namespace"]) == ("demo", "ns")
    assert meta["labels"]["paddle-res-name"] == "demo"
    assert meta["ownerReferences"][0]["uid"] == UID


def test_an_address_of_a_pod_that_leaves_does_not_count() -> None:
    leaving = seen(pod("worker-0"), pod("worker-1", deleting=True), config_map=False)
    assert config_map_due(job(worker=2), leaving) is None


def test_it_is_made_once() -> None:
    assert config_map_due(job(worker=1), seen(pod("worker-0"))) is None


@pytest.mark.defect("upstream-11")
def test_a_role_of_no_members_does_not_hold_up_the_release() -> None:
    assert config_map_due(job(ps=0, worker=1), seen(pod("worker-0"), config_map=False)) is not None


@pytest.mark.defect("upstream-12")
def test_ipv6_addresses_are_addresses() -> None:
    made = config_map_due(job(worker=1), seen(pod("worker-0", ip="fd00::7"), config_map=False))
    assert made is not None
    assert made["data"]["PADDLE_TRAINER_ENDPOINTS"] == "[fd00::7]:2379"


def test_nobody_is_nudged_before_the_release() -> None:
    assert nudges_due(seen(waiting("worker-0"), config_map=False), EPOCH) == ([], None)


def test_a_pod_that_waits_after_the_release_is_nudged_and_looked_at_again() -> None:
    patches, again = nudges_due(seen(waiting("worker-0"), pod("worker-1")), EPOCH)
    assert [patch.pod.name for patch in patches] == ["demo-worker-0"]
    assert patches[0].body["metadata"]["annotations"][RELEASE] == mark(1, 0)
    assert again == 1.0


@pytest.mark.parametrize(
    ("released", "nudged"),
    [
        ("0", True),
        (mark(1, 0.5), False),
        (mark(1, 1.0), True),
        (mark(2, 1.5), True),
        (mark(3, 60), False),
        ("nonsense", True),
        ("1 nonsense", True),
    ],
)
def test_a_nudge_is_repeated_after_a_second_and_three_times_at_most(released: str, nudged: bool) -> None:
    patches, _ = nudges_due(seen(waiting("worker-0", released)), EPOCH)
    assert bool(patches) is nudged


def test_after_three_nudges_there_is_nothing_more_to_look_for() -> None:
    assert nudges_due(seen(waiting("worker-0", mark(3, 60))), EPOCH) == ([], None)


def test_a_pod_that_waits_for_something_else_is_left_alone() -> None:
    other = pod("worker-0", PodPhase.PENDING, waiting="ImagePullBackOff")
    assert nudges_due(seen(other), EPOCH) == ([], None)


def test_the_release_and_the_first_nudges_are_one_look_apart() -> None:
    """The plan that creates the ConfigMap nudges nobody: the kubelet might look before it is there."""
    plan = make_plan(job(worker=1), seen(waiting("worker-0"), config_map=False), EPOCH)
    assert plan.create_config_map
    assert not plan.patch_pods

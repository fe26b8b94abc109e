"""What status says."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from paddle_operator.api.paddlejob import Condition, PaddleJobStatus, RoleStatus
from paddle_operator.api.words import Mode, Phase
from paddle_operator.plan import status as say
from paddle_operator.plan.model import PodPhase, PodView
from paddle_operator.plan.planner import make_plan
from paddle_operator.plan.reasons import Kind, Reason
from support.build import failed, job, pod, seen
from support.virtual_time import EPOCH

DONE, PENDING = PodPhase.SUCCEEDED, PodPhase.PENDING


def conditions(status: PaddleJobStatus) -> dict[str, str]:
    return {one.type: one.status for one in status.conditions}


@pytest.mark.defect("upstream-24")
@pytest.mark.parametrize(
    ("pods", "want"),
    [
        ([], Phase.PENDING),
        ([pod("worker-0", PENDING), pod("worker-1", PENDING)], Phase.PENDING),
        ([pod("worker-0"), pod("worker-1", PENDING)], Phase.STARTING),
        ([pod("worker-0", ready=False), pod("worker-1", PENDING)], Phase.STARTING),
        ([pod("worker-0", ready=False), pod("worker-1")], Phase.STARTING),
        ([pod("worker-0"), pod("worker-1")], Phase.RUNNING),
        ([pod("worker-0", DONE), pod("worker-1")], Phase.RUNNING),
    ],
)
def test_the_phase_is_computed_from_the_present(pods: list[PodView], want: Phase) -> None:
    got = make_plan(job(), seen(*pods, config_map=False), EPOCH).status
    assert got.phase is want


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"ps": 1, "worker": 1}, Mode.PS),
        ({"ps": 0, "worker": 2}, Mode.PS),
        ({"worker": 2}, Mode.COLLECTIVE),
        ({"worker": 1}, Mode.SINGLE),
    ],
)
def test_the_mode_is_upstreams(spec: dict[str, Any], want: Mode) -> None:
    assert make_plan(job(**spec), seen(config_map=False), EPOCH).status.mode is want


def test_counters_and_references_are_of_the_pods_there_are() -> None:
    got = make_plan(job(ps=1), seen(pod("ps-0"), pod("worker-0", PENDING), config_map=False), EPOCH).status
    assert got.ps is not None
    assert got.worker is not None
    assert (got.ps.running, got.worker.pending) == (1, 1)
    assert [one.name for one in got.worker.refs] == ["demo-worker-0"]


def test_zero_counters_are_not_written() -> None:
    got = make_plan(job(worker=1), seen(pod("worker-0")), EPOCH).status
    (reference,) = (msgspec.to_builtins(got)["worker"].pop("refs"),)
    assert msgspec.to_builtins(got)["worker"] == {"running": 1, "refs": reference}


def test_ready_counts_all_members_that_do_or_did_their_work() -> None:
    some = seen(pod("ps-0"), pod("worker-0", DONE), pod("worker-1", ready=False), config_map=False)
    assert make_plan(job(ps=1), some, EPOCH).status.ready == "2/3"
    completed = PaddleJobStatus(phase=Phase.COMPLETED)
    assert say.after_the_end(job(ps=1, worker=2, status=completed), seen()).ready == "3/3"


@pytest.mark.parametrize(
    ("seconds", "want"),
    [(0, "0s"), (59, "59s"), (60, "1m0s"), (3600, "1h0m0s"), (90_061, "25h1m1s"), (-5, "0s")],
)
def test_the_duration_is_from_start_to_end(seconds: int, want: str) -> None:
    assert say.duration("2026-01-01T00:00:00Z", EPOCH + timedelta(seconds=seconds)) == want


def test_an_ended_job_says_how_long_it_ran_and_one_that_never_ran_does_not() -> None:
    ran = make_plan(job(worker=1), seen(pod("worker-0")), EPOCH).status
    later = EPOCH + timedelta(seconds=75)
    assert make_plan(job(worker=1, status=ran), seen(pod("worker-0", DONE)), later).status.duration == "1m15s"
    assert make_plan(job(worker=1), seen(failed("worker-0")), later).status.duration == ""


@pytest.mark.defect("upstream-26")
def test_references_do_not_change_with_every_version_of_a_pod() -> None:
    got = make_plan(job(worker=1), seen(pod("worker-0")), EPOCH).status
    assert got.worker is not None
    assert set(msgspec.to_builtins(got.worker.refs[0])) == {"apiVersion", "kind", "name", "namespace", "uid"}


def test_the_start_is_when_all_ran_first() -> None:
    ran = make_plan(job(worker=1), seen(pod("worker-0")), EPOCH).status
    assert ran.start_time == "2026-01-01T00:00:00Z"
    later = make_plan(job(worker=1, status=ran), seen(pod("worker-0")), EPOCH + timedelta(hours=1)).status
    assert later.start_time == ran.start_time


def test_an_ended_job_says_when_and_keeps_saying_it() -> None:
    done = make_plan(job(worker=1), seen(pod("worker-0", DONE)), EPOCH).status
    assert (done.phase, done.completion_time) == (Phase.COMPLETED, "2026-01-01T00:00:00Z")
    later = make_plan(job(worker=1, status=done), seen(), EPOCH + timedelta(hours=1)).status
    assert (later.phase, later.completion_time) == (Phase.COMPLETED, "2026-01-01T00:00:00Z")


@pytest.mark.defect("peer-12")
def test_conditions_never_contradict_each_other() -> None:
    starting = make_plan(job(worker=1), seen(config_map=False), EPOCH).status
    assert conditions(starting) == {"Created": "False", "Running": "False"}
    running = make_plan(job(worker=1, status=starting), seen(pod("worker-0")), EPOCH).status
    assert conditions(running) == {"Created": "True", "Running": "True"}
    lost = make_plan(job(worker=1, status=running), seen(failed("worker-0")), EPOCH).status
    assert conditions(lost) == {"Created": "True", "Running": "False", "Failed": "True"}


def test_a_condition_keeps_the_time_of_its_last_change() -> None:
    first = say.merge_conditions([], [(Kind.RUNNING, True, Reason.ALL_RUNNING, "a")], 1, EPOCH)
    later = EPOCH + timedelta(minutes=1)
    same = say.merge_conditions(first, [(Kind.RUNNING, True, Reason.ALL_RUNNING, "b")], 2, later)
    other = say.merge_conditions(same, [(Kind.RUNNING, False, Reason.FINISHED, "c")], 2, later)
    assert (same[0].message, same[0].observed_generation) == ("b", 2)
    assert same[0].last_transition_time == first[0].last_transition_time
    assert other[0].last_transition_time == "2026-01-01T00:01:00Z"


def test_a_server_we_stopped_after_success_counts_as_succeeded() -> None:
    completed = PaddleJobStatus(phase=Phase.COMPLETED)
    stopped = failed("ps-0", 137, stopped=True)
    got = say.after_the_end(job(ps=1, worker=1, status=completed), seen(stopped, pod("worker-0", DONE)))
    assert got.ps is not None
    assert (got.ps.succeeded, got.ps.failed) == (1, 0)


def test_a_server_that_still_runs_after_success_counts_as_running() -> None:
    completed = PaddleJobStatus(phase=Phase.COMPLETED)
    got = say.after_the_end(job(ps=1, worker=1, status=completed), seen(pod("ps-0"), pod("worker-0", DONE)))
    assert got.ps is not None
    assert got.ps.running == 1


def test_after_success_pods_that_are_cleaned_away_still_count() -> None:
    completed = PaddleJobStatus(phase=Phase.COMPLETED)
    got = say.after_the_end(job(ps=1, worker=2, status=completed), seen())
    assert got.ps == RoleStatus(succeeded=1)
    assert got.worker == RoleStatus(succeeded=2)


def test_after_failure_pods_that_are_cleaned_away_keep_how_they_ended() -> None:
    before = PaddleJobStatus(phase=Phase.FAILED, worker=RoleStatus(succeeded=1, failed=1, running=1))
    got = say.after_the_end(job(worker=3, status=before), seen())
    assert got.worker == RoleStatus(succeeded=1, failed=2)


def test_what_the_api_refused_is_said_and_taken_back() -> None:
    status = say.with_problem(PaddleJobStatus(), message="no", generation=1, now=EPOCH)
    (condition,) = status.conditions
    assert (condition.type, condition.status, condition.reason) == ("Created", "False", "Refused")
    again = make_plan(job(worker=1, status=status), seen(pod("worker-0")), EPOCH).status
    assert conditions(again)["Created"] == "True"


def test_an_invalid_job_fails_with_the_field_path() -> None:
    got = say.invalid(PaddleJobStatus(), message="spec.worker: wrong", generation=4, now=EPOCH)
    assert (got.phase, got.observed_generation) == (Phase.FAILED, 4)
    want = Condition(
        type="Failed",
        status="True",
        reason="Invalid",
        message="spec.worker: wrong",
        last_transition_time="2026-01-01T00:00:00Z",
        observed_generation=4,
    )
    assert got.conditions == [want]

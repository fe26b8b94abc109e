"""How a job ends."""

import pytest

from paddle_operator.api.words import Phase
from paddle_operator.plan.model import Ending, PodPhase
from paddle_operator.plan.outcome import judge
from paddle_operator.plan.reasons import Reason
from support.build import failed, job, pod, seen

DONE = PodPhase.SUCCEEDED


@pytest.mark.defect("upstream-8")
def test_a_ps_job_is_complete_when_its_workers_are_although_its_servers_run() -> None:
    verdict = judge(job(ps=1), seen(pod("ps-0"), pod("worker-0", DONE), pod("worker-1", DONE)))
    assert verdict is not None
    assert (verdict.phase, verdict.reason) == (Phase.COMPLETED, Reason.SUCCEEDED)


def test_a_server_that_dies_after_the_workers_are_done_does_not_matter() -> None:
    verdict = judge(job(ps=1, worker=1), seen(failed("ps-0", 139), pod("worker-0", DONE)))
    assert verdict is not None
    assert verdict.phase is Phase.COMPLETED


def test_one_worker_left_means_it_goes_on() -> None:
    assert judge(job(), seen(pod("worker-0", DONE), pod("worker-1"))) is None


def test_a_job_of_servers_alone_is_complete_when_they_are() -> None:
    servers = job(ps=2, worker=None)
    assert judge(servers, seen(pod("ps-0", DONE), pod("ps-1"))) is None
    verdict = judge(servers, seen(pod("ps-0", DONE), pod("ps-1", DONE)))
    assert verdict is not None
    assert verdict.phase is Phase.COMPLETED


@pytest.mark.defect("upstream-30")
def test_a_failed_member_fails_the_job_and_is_named_with_container_code_and_log() -> None:
    verdict = judge(job(), seen(pod("worker-0"), failed("worker-1", 3)))
    assert verdict is not None
    assert (verdict.phase, verdict.reason) == (Phase.FAILED, Reason.MEMBER_FAILED)
    assert verdict.message == "worker-1 failed: container paddle exited with code 3; its log ends:\nboom"


def test_the_cause_is_the_first_failure_in_time() -> None:
    late, early = failed("worker-0", 1, at="2026-01-01T00:00:09Z"), failed("worker-1", 3)
    verdict = judge(job(), seen(late, early))
    assert verdict is not None
    assert verdict.message.startswith("worker-1 ")


def test_within_one_second_the_one_that_aborted_is_taken_for_the_victim() -> None:
    verdict = judge(job(), seen(failed("worker-0", 134), failed("worker-1", 3)))
    assert verdict is not None
    assert verdict.message.startswith("worker-1 ")


def test_a_pod_that_never_ran_says_why() -> None:
    evicted = pod("worker-0", PodPhase.FAILED, ending=Ending(why="Evicted: low on memory"))
    verdict = judge(job(), seen(evicted, pod("worker-1")))
    assert verdict is not None
    assert verdict.message == "worker-0 failed (Evicted: low on memory)"


def test_a_pod_that_we_stopped_did_not_fail() -> None:
    assert judge(job(), seen(pod("worker-0"), failed("worker-1", 137, stopped=True))) is None


def test_a_member_gone_after_the_release_is_lost_and_named() -> None:
    verdict = judge(job(), seen(pod("worker-0")))
    assert verdict is not None
    assert (verdict.phase, verdict.reason) == (Phase.FAILED, Reason.MEMBER_LOST)
    assert "worker-1" in verdict.message


def test_a_member_missing_before_the_release_is_just_not_there_yet() -> None:
    assert judge(job(), seen(pod("worker-0"), config_map=False)) is None


def test_a_member_that_was_just_created_is_not_lost() -> None:
    assert judge(job(), seen(pod("worker-0"), creating=frozenset({"demo-worker-1"}))) is None

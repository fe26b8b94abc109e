"""The plan of a job: the table of contents of this package.

The end is written into status before anything is cleaned up. So an operator that dies in between finds a
finished job with pods to clean, and never a job whose finished workers are missing.
"""

from datetime import datetime

from paddle_operator.plan.cleanup import pods_to_delete, pods_to_stop
from paddle_operator.plan.model import Job, Notice, Observed, Plan
from paddle_operator.plan.names import pod_name
from paddle_operator.plan.outcome import judge
from paddle_operator.plan.pods import build_pod
from paddle_operator.plan.reasons import Reason
from paddle_operator.plan.release import config_map_due, nudges_due
from paddle_operator.plan.status import after_the_end, ended, going_on, leaving


def make_plan(job: Job, seen: Observed, now: datetime) -> Plan:
    if job.deleting:
        return Plan(status=leaving(job, seen, now))
    if job.last.phase and job.last.phase.finished:
        return _clean_up(job, seen)
    if verdict := judge(job, seen):
        return Plan(status=ended(job, seen, now, verdict))
    return _go_on(job, seen, now)


def _go_on(job: Job, seen: Observed, now: datetime) -> Plan:
    nudges, look_again = nudges_due(seen, now)
    return Plan(
        status=going_on(job, seen, now),
        create_pods=tuple(
            build_pod(job, role, member, released=seen.config_map)
            for role in job.roles
            for member in role.members()
            if member not in seen.pods and pod_name(job.name, member) not in seen.creating
        ),
        create_config_map=config_map_due(job, seen),
        patch_pods=tuple(nudges),
        notices=_notices(job),
        look_again=look_again,
    )


def _notices(job: Job) -> tuple[Notice, ...]:
    """Once for each generation: status remembers which one it was written for."""
    if job.last.observed_generation == job.generation:
        return ()
    return tuple(Notice("Warning", Reason.NOT_SUPPORTED, message) for message in job.unused)


def _clean_up(job: Job, seen: Observed) -> Plan:
    assert job.last.phase is not None
    return Plan(
        status=after_the_end(job, seen),
        delete_pods=tuple(pods_to_delete(job, job.last.phase, seen)),
        patch_pods=tuple(pods_to_stop(job, job.last.phase, seen)),
    )

"""Has the job ended, and how? The one place where `Completed` and `Failed` are decided.

Success is asked first: once every worker succeeded, whatever happens to a server is no longer of interest.
A failure is the first in time, because the survivors of a lost peer die of it within a second and their exit
codes say nothing.
"""

from dataclasses import dataclass

from paddle_operator.api.words import Phase, RoleName
from paddle_operator.plan import reasons
from paddle_operator.plan.model import Job, Observed, PodPhase, PodView
from paddle_operator.plan.names import pod_name
from paddle_operator.plan.reasons import Reason

_ABORTED = 134  # how a process ends that lost its peer


@dataclass(frozen=True, slots=True)
class Verdict:
    phase: Phase
    reason: Reason
    message: str


def judge(job: Job, seen: Observed) -> Verdict | None:
    """The end of the job, or None while it goes on."""
    return _success(job, seen) or _failure(seen) or _loss(job, seen)


def _success(job: Job, seen: Observed) -> Verdict | None:
    deciders = job.deciders()
    pods = [seen.pods.get(member) for member in deciders]
    if all(pod and pod.phase is PodPhase.SUCCEEDED for pod in pods):
        workers = any(member.role is RoleName.WORKER for member in deciders)
        noun = "worker" if workers else "member"
        return Verdict(Phase.COMPLETED, Reason.SUCCEEDED, reasons.succeeded(f"{len(deciders)} {noun}(s)"))
    return None


def _failure(seen: Observed) -> Verdict | None:
    failed = [pod for pod in seen.pods.values() if pod.phase is PodPhase.FAILED and not pod.stopped]
    if not failed:
        return None
    first = min(failed, key=_when)
    ending = first.ending
    message = reasons.member_failed(
        member=str(first.member),
        container=ending.container,
        code=ending.code,
        why=ending.why,
        log_end=ending.log_end,
    )
    return Verdict(Phase.FAILED, Reason.MEMBER_FAILED, message)


def _when(pod: PodView) -> tuple[str, bool, str]:
    """Kubernetes tells seconds only: within one, a process that aborted is taken for the later one."""
    return pod.ending.at or "9", pod.ending.code == _ABORTED, pod.name


def _loss(job: Job, seen: Observed) -> Verdict | None:
    """After the release nobody can take a lost member's place: the others hold its old address."""
    if not seen.config_map:
        return None
    for member in job.members():
        name = pod_name(job.name, member)
        if member not in seen.pods and name not in seen.creating:
            return Verdict(Phase.FAILED, Reason.MEMBER_LOST, reasons.member_lost(str(member)))
    return None

"""What `status` says: phase, counters, references, times, conditions. Always of now."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from paddle_operator.api.paddlejob import Condition, PaddleJobStatus, PodReference, RoleStatus
from paddle_operator.api.words import Phase, RoleName
from paddle_operator.plan import reasons
from paddle_operator.plan.model import Job, Member, Observed, PodPhase, PodView, Role
from paddle_operator.plan.outcome import Verdict
from paddle_operator.plan.reasons import Kind, Reason

Fact = tuple[Kind, bool, Reason, str]


def timestamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def duration(start: str | None, end: datetime) -> str:
    """`1h2m3s`, as kubectl writes times; empty for a job that never ran."""
    if start is None:
        return ""
    seconds = max(0, int((end - datetime.fromisoformat(start)).total_seconds()))
    hours, minutes = divmod(seconds // 60, 60)
    parts = [f"{hours}h" if hours else "", f"{minutes}m" if hours or minutes else "", f"{seconds % 60}s"]
    return "".join(parts)


def going_on(job: Job, seen: Observed, now: datetime) -> PaddleJobStatus:
    phase = phase_of(job, seen)
    started = job.last.start_time or (timestamp(now) if phase is Phase.RUNNING else None)
    return _write(job, seen, now, phase=phase, facts=_facts(job, seen), start_time=started)


def ended(job: Job, seen: Observed, now: datetime, verdict: Verdict) -> PaddleJobStatus:
    kind = Kind.COMPLETED if verdict.phase is Phase.COMPLETED else Kind.FAILED
    facts: list[Fact] = [
        (Kind.RUNNING, False, Reason.FINISHED, "the job has ended"),
        (kind, True, verdict.reason, verdict.message),
    ]
    return _write(
        job,
        seen,
        now,
        phase=verdict.phase,
        facts=facts,
        start_time=job.last.start_time,
        completion_time=timestamp(now),
    )


def after_the_end(job: Job, seen: Observed) -> PaddleJobStatus:
    """Only the counters still move, while the servers are stopped and the pods are cleaned away."""
    return msgspec.structs.replace(job.last, **_progress(job, seen, job.last.phase))


def leaving(job: Job, seen: Observed, now: datetime) -> PaddleJobStatus:
    return _write(job, seen, now, phase=Phase.TERMINATING, facts=[], start_time=job.last.start_time)


def with_problem(status: PaddleJobStatus, *, message: str, generation: int, now: datetime) -> PaddleJobStatus:
    """Something the API refused stands in the way; it is retried, and this says why nothing moves."""
    fact = (Kind.CREATED, False, Reason.REFUSED, message)
    return msgspec.structs.replace(
        status, conditions=merge_conditions(status.conditions, [fact], generation, now)
    )


def invalid(last: PaddleJobStatus, *, message: str, generation: int, now: datetime) -> PaddleJobStatus:
    """The object got past the API server and still makes no sense: it says so, and stops nobody else."""
    fact = (Kind.FAILED, True, Reason.INVALID, message)
    return msgspec.structs.replace(
        last,
        phase=Phase.FAILED,
        completion_time=last.completion_time or timestamp(now),
        observed_generation=generation,
        conditions=merge_conditions(last.conditions, [fact], generation, now),
    )


def phase_of(job: Job, seen: Observed) -> Phase:
    counts = [count_as(pod) for pod in seen.pods.values()]
    if len(counts) == len(job.members()) and set(counts) <= {"running", "succeeded"}:
        return Phase.RUNNING
    return Phase.STARTING if "starting" in counts or "running" in counts else Phase.PENDING


def count_as(pod: PodView) -> str:
    """The counter a pod belongs to, in upstream's words."""
    match pod.phase:
        case PodPhase.RUNNING:
            return "running" if pod.ready else "starting"
        case PodPhase.SUCCEEDED | PodPhase.FAILED:
            return pod.phase.lower()
        case _:
            return "pending"


def merge_conditions(
    old: Iterable[Condition], facts: Iterable[Fact], generation: int, now: datetime
) -> list[Condition]:
    """Conditions keep the time of their last change; what is not mentioned stays as it was."""
    by_kind = {condition.type: condition for condition in old}
    for kind, so, reason, message in facts:
        status, before = "True" if so else "False", by_kind.get(kind)
        since = before.last_transition_time if before and before.status == status else timestamp(now)
        by_kind[kind] = Condition(
            type=kind,
            status=status,
            reason=reason,
            message=message,
            last_transition_time=since,
            observed_generation=generation,
        )
    return [by_kind[kind] for kind in Kind if kind in by_kind]


def _write(
    job: Job,
    seen: Observed,
    now: datetime,
    *,
    phase: Phase,
    facts: list[Fact],
    start_time: str | None,
    completion_time: str | None = None,
) -> PaddleJobStatus:
    return PaddleJobStatus(
        phase=phase,
        mode=job.mode,
        start_time=start_time,
        completion_time=completion_time,
        duration=duration(start_time, now) if completion_time else "",
        observed_generation=job.generation,
        conditions=merge_conditions(job.last.conditions, facts, job.generation, now),
        **_progress(job, seen, phase),
    )


def _facts(job: Job, seen: Observed) -> list[Fact]:
    count = len(job.members())
    missing = count - len(seen.pods)
    running = sum(count_as(pod) in ("running", "succeeded") for pod in seen.pods.values())
    created: Fact = (
        (Kind.CREATED, False, Reason.CREATING_PODS, reasons.creating(missing, count))
        if missing
        else (Kind.CREATED, True, Reason.PODS_CREATED, reasons.pods_created(count))
    )
    runs: Fact = (
        (Kind.RUNNING, True, Reason.ALL_RUNNING, reasons.all_running(count))
        if running == count
        else (Kind.RUNNING, False, Reason.NOT_ALL_RUNNING, reasons.not_all_running(running, count))
    )
    return [created, runs]


def _progress(job: Job, seen: Observed, phase: Phase | None) -> dict[str, Any]:
    """Counters of each role, and the one number people look at: how many members do, or did, their work."""
    counters = {str(name): _role_status(job, job.role(name), seen, phase) for name in RoleName}
    ready = sum(one.running + one.succeeded for one in counters.values() if one)
    return {**counters, "ready": f"{ready}/{len(job.members())}"}


def _role_status(job: Job, role: Role | None, seen: Observed, phase: Phase | None) -> RoleStatus | None:
    if role is None:
        return None
    pods = {member: seen.pods[member] for member in role.members() if member in seen.pods}
    counts = dict.fromkeys(("pending", "starting", "running", "failed", "succeeded"), 0)
    for member in role.members():
        word = _count_member(job, member, pods.get(member), phase)
        if word:
            counts[word] += 1
    if phase is Phase.FAILED:
        _count_the_gone(job, role, counts)
    if not any(counts.values()):
        return None
    return RoleStatus(**counts, refs=[_reference(job, pod) for pod in pods.values()])


def _count_member(job: Job, member: Member, pod: PodView | None, phase: Phase | None) -> str | None:
    if phase is Phase.COMPLETED:
        return _count_in_success(job, member, pod)
    return count_as(pod) if pod else None


def _count_in_success(job: Job, member: Member, pod: PodView | None) -> str:
    """In a job that succeeded, whoever is gone or was stopped by us has done its work."""
    if pod is None or pod.stopped or pod.deleting or member in job.deciders():
        return "succeeded"
    return count_as(pod)


def _count_the_gone(job: Job, role: Role, counts: dict[str, int]) -> None:
    """Pods cleaned away after a failure: those that had succeeded stay so, the others never did."""
    before: RoleStatus | None = getattr(job.last, role.name)
    gone = role.replicas - sum(counts.values())
    succeeded = min(gone, max(0, (before.succeeded if before else 0) - counts["succeeded"]))
    counts["succeeded"] += succeeded
    counts["failed"] += gone - succeeded


def _reference(job: Job, pod: PodView) -> PodReference:
    return PodReference(api_version="v1", kind="Pod", name=pod.name, namespace=job.namespace, uid=pod.uid)

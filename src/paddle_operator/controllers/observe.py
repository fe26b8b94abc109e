"""What the caches keep of jobs and pods: wire types in, small comparable values out."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from paddle_operator.api.paddlejob import PaddleJob, PaddleJobStatus
from paddle_operator.api.problems import Problem
from paddle_operator.api.validation import InvalidJobError, stored_job, stored_status
from paddle_operator.api.words import GROUP, PLURAL, VERSION, RoleName
from paddle_operator.kube.objects import ObjectMeta, Partial, Wire
from paddle_operator.kube.resources import Resource
from paddle_operator.plan.model import Ending, Member, PodPhase, PodView
from paddle_operator.plan.names import INDEX, RELEASE, RES_TYPE, STOPPED

PADDLE_JOBS = Resource(GROUP, VERSION, PLURAL, "PaddleJob")

JobKey = tuple[str, str]


class JobWire(Wire, frozen=True, gc=True):
    """Undecoded on purpose: whatever a user wrote, the cache takes it, and `job_view` says what is wrong."""

    metadata: ObjectMeta
    api_version: str = ""
    kind: str = ""
    spec: Any = None
    status: Any = None


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as stored. Either `job` can be planned, or `problems` says why not."""

    namespace: str
    name: str
    uid: str
    generation: int
    version: str = field(compare=False)
    job: PaddleJob | None
    status: PaddleJobStatus
    problems: tuple[Problem, ...] = ()

    @property
    def key(self) -> JobKey:
        return self.namespace, self.name


class State(Wire, frozen=True):
    """One of these is set, or none."""

    waiting: "Waiting | None" = None
    terminated: "Terminated | None" = None


class Waiting(Wire, frozen=True):
    reason: str = ""


class Terminated(Wire, frozen=True):
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    finished_at: str | None = None


class ContainerStatus(Wire, frozen=True):
    name: str = ""
    ready: bool = False
    state: State = State()


class PodStatus(Wire, frozen=True):
    phase: str = PodPhase.PENDING
    pod_ip: str = msgspec.field(default="", name="podIP")
    reason: str = ""
    message: str = ""
    container_statuses: list[ContainerStatus] = []


class PodSpec(Wire, frozen=True):
    node_name: str = ""


class PodWire(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


@dataclass(frozen=True, slots=True)
class Child:
    """A pod with its owner; `view` is None where its labels do not say which member it is."""

    namespace: str
    owner: str
    name: str
    uid: str
    view: PodView | None


@dataclass(frozen=True, slots=True)
class ConfigMapView:
    namespace: str
    name: str
    owner: str


def job_view(wire: JobWire) -> JobView:
    raw, meta = msgspec.to_builtins(wire), wire.metadata
    job, problems = _read(raw)
    return JobView(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        generation=meta.generation,
        version=meta.resource_version,
        job=job,
        status=job.status if job else stored_status(raw),
        problems=problems,
    )


def child(pod: PodWire) -> Child:
    meta = pod.metadata
    return Child(meta.namespace, meta.owner_uid, meta.name, meta.uid, _pod_view(pod))


def config_map_view(partial: Partial) -> ConfigMapView:
    meta = partial.metadata
    return ConfigMapView(meta.namespace, meta.name, meta.owner_uid)


def owner_of(value: Child) -> Hashable:
    return value.owner


def _read(raw: dict[str, Any]) -> tuple[PaddleJob | None, tuple[Problem, ...]]:
    try:
        return stored_job(raw), ()
    except InvalidJobError as error:
        return None, tuple(error.problems)


def _pod_view(pod: PodWire) -> PodView | None:
    meta, status = pod.metadata, pod.status
    member = _member(meta.labels)
    if member is None:
        return None
    containers = status.container_statuses
    return PodView(
        name=meta.name,
        uid=meta.uid,
        member=member,
        phase=PodPhase(status.phase),
        ip=status.pod_ip,
        node=pod.spec.node_name,
        ready=bool(containers) and all(one.ready for one in containers),
        waiting=next((one.state.waiting.reason for one in containers if one.state.waiting), ""),
        deleting=meta.deletion_timestamp is not None,
        released=meta.annotations.get(RELEASE, ""),
        stopped=STOPPED in meta.annotations,
        ending=_ending(status) if status.phase == PodPhase.FAILED else Ending(),
    )


def _member(labels: dict[str, str]) -> Member | None:
    try:
        return Member(RoleName(labels.get(RES_TYPE, "")), int(labels.get(INDEX, "")))
    except ValueError:
        return None


def _ending(status: PodStatus) -> Ending:
    ended = [(one.name, one.state.terminated) for one in status.container_statuses if one.state.terminated]
    guilty = [(name, end) for name, end in ended if end.exit_code] or ended
    if not guilty:
        return Ending(why=_why(status.reason, status.message))
    name, end = min(guilty, key=lambda pair: pair[1].finished_at or "9")
    why = _why(status.reason, status.message) or ("" if end.reason in ("Error", "") else end.reason)
    return Ending(name, end.exit_code, why, end.message, end.finished_at or "")


def _why(reason: str, message: str) -> str:
    return ": ".join(part for part in (reason, message) if part)

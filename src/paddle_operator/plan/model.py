"""The one internal job model, what was observed of it, and what a plan is.

Kinds of jobs are translated into `Job` (translate.py); nothing else in this package knows what a user wrote.
A `Member` is a place (role and index); a `PodView` is who fills it at the moment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from paddle_operator.api.paddlejob import PaddleJobStatus
from paddle_operator.api.words import CleanPodPolicy, Mode, RoleName
from paddle_operator.plan.reasons import Reason


@dataclass(frozen=True, slots=True, order=True)
class Member:
    role: RoleName
    index: int

    def __str__(self) -> str:
        return f"{self.role}-{self.index}"


@dataclass(frozen=True, slots=True)
class Role:
    name: RoleName
    replicas: int
    template: Mapping[str, Any]

    def members(self) -> Iterator[Member]:
        return (Member(self.name, index) for index in range(self.replicas))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    generation: int
    deleting: bool
    mode: Mode
    roles: tuple[Role, ...]
    with_gloo: int
    clean_pod_policy: CleanPodPolicy
    port: int
    last: PaddleJobStatus  # what status says now: the only memory there is
    unused: tuple[str, ...] = ()  # what the user wrote that has no effect, each as a sentence

    def members(self) -> list[Member]:
        return [member for role in self.roles for member in role.members()]

    def role(self, name: RoleName) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)

    def deciders(self) -> list[Member]:
        """The members whose success is the job's: the workers, or everybody where there are none."""
        workers = [member for member in self.members() if member.role is RoleName.WORKER]
        return workers or self.members()


class PodPhase(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Ending:
    """How the container that decides ended, or what the kubelet says of a pod that never ran."""

    container: str = ""
    code: int = 0
    why: str = ""
    log_end: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodView:
    """The few things of a pod that a plan depends on; anything else may change without a look."""

    name: str
    uid: str
    member: Member
    phase: PodPhase = PodPhase.PENDING
    ip: str = ""
    node: str = ""
    ready: bool = False
    waiting: str = ""  # why its first waiting container waits
    deleting: bool = False
    released: str = ""  # the RELEASE annotation
    stopped: bool = False  # carries the STOPPED annotation
    ending: Ending = Ending()

    @property
    def over(self) -> bool:
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The job's children as the caches show them, plus our own writes that the caches do not show yet."""

    pods: Mapping[Member, PodView]
    config_map: bool = False
    creating: frozenset[str] = frozenset()  # names of pods we created
    removing: frozenset[str] = frozenset()  # uids of pods we deleted


class PodPatch(NamedTuple):
    pod: PodView
    body: dict[str, Any]


class Notice(NamedTuple):
    """An event: said once the status that goes with it is written."""

    type: Literal["Normal", "Warning"]
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do now. Everything in it may be done again without harm."""

    status: PaddleJobStatus
    create_pods: tuple[dict[str, Any], ...] = ()
    create_config_map: dict[str, Any] | None = None
    patch_pods: tuple[PodPatch, ...] = ()
    delete_pods: tuple[PodView, ...] = ()
    notices: tuple[Notice, ...] = ()
    look_again: float | None = None  # seconds

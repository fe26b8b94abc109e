"""The PaddleJob object as types: what users write in `spec`, what we write in `status`.

Names and JSON types are upstream's, because its clients read and write them. Which fields have no effect yet
is said in `unused.py`. The pod template stays a plain mapping, because fields newer than this file must
survive.
"""

from typing import Annotated, Any

import msgspec

from paddle_operator.api.base import Count, Quantity, Struct, Text
from paddle_operator.api.template import Template
from paddle_operator.api.words import API_VERSION, KIND, CleanPodPolicy, Intranet, Mode, Phase, RoleName


class Metadata(Struct, frozen=True):
    """The part of an object's metadata that we read."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: list[str] = []
    owner_references: list[dict[str, Any]] = []
    managed_fields: list[dict[str, Any]] = []
    self_link: str = ""


class RoleSpec(Struct, frozen=True):
    """One role: how many members, and the pod each of them is."""

    replicas: Count
    requests: int | None = None
    limits: int | None = None
    template: Template = {}


class SchedulingPolicy(Struct, frozen=True):
    """What a gang scheduler is told of the job."""

    min_available: Count | None = None
    queue: str = ""
    priority_class: str = ""
    min_resources: dict[str, Quantity] = {}


class SampleSetRef(Struct, frozen=True):
    """A data set, and where members find it."""

    mount_path: Text
    name: str = ""
    namespace: str = ""


class PaddleJobSpec(Struct, frozen=True):
    ps: RoleSpec | None = None
    worker: RoleSpec | None = None
    heter: RoleSpec | None = None
    intranet: Intranet = Intranet.POD_IP
    clean_pod_policy: CleanPodPolicy = CleanPodPolicy.UNSET
    clean_policy: CleanPodPolicy = CleanPodPolicy.UNSET  # how an example of upstream's guide spells it
    with_gloo: Annotated[int, msgspec.Meta(ge=0, le=2)] | None = None
    elastic: int | None = None
    scheduling_policy: SchedulingPolicy | None = None
    sample_set_ref: SampleSetRef | None = None


class PodReference(Struct, frozen=True):
    """Upstream's ObjectReference to a pod, without the resourceVersion that made it change all the time."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class RoleStatus(Struct, frozen=True):
    """Counters of one role; zeros are not written, as upstream did."""

    pending: int = 0
    starting: int = 0
    running: int = 0
    failed: int = 0
    succeeded: int = 0
    unknown: int = 0
    refs: list[PodReference] = []


class Condition(Struct, frozen=True, omit_defaults=False):
    """A Kubernetes condition: one thing that is or is not so, since when and why."""

    type: str
    status: str
    reason: str
    message: str
    last_transition_time: str
    observed_generation: int = 0


class PaddleJobStatus(Struct, frozen=True):
    phase: Phase | None = None
    mode: Mode | None = None
    ps: RoleStatus | None = None
    worker: RoleStatus | None = None
    heter: RoleStatus | None = None
    elastic: Annotated[Any, msgspec.Meta(extra={"skeleton": str})] = ""  # upstream's, written by nobody
    ready: str = ""  # of all members, as `3/4`
    start_time: str | None = None
    completion_time: str | None = None
    duration: str = ""  # from start to completion, once there are both
    observed_generation: int = 0
    conditions: list[Condition] = []


class PaddleJob(Struct, frozen=True):
    metadata: Metadata
    spec: PaddleJobSpec
    api_version: str = API_VERSION
    kind: str = KIND
    status: PaddleJobStatus = PaddleJobStatus()


def roles_of(job: PaddleJob) -> dict[RoleName, RoleSpec]:
    """The roles a plan is made of, in the order of `RoleName`."""
    written = {RoleName.PS: job.spec.ps, RoleName.WORKER: job.spec.worker}
    return {name: role for name, role in written.items() if role is not None}

"""Which kinds of objects the server knows, and how each behaves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Object = dict[str, Any]


class Cause(NamedTuple):
    """Why an object is refused: a field, and what is wrong with it."""

    field: str
    message: str
    final: bool = True  # nothing further is asked of such an object; else other rules have their say too


Admission = Callable[[Object], list[Cause]]


def accept(_: Object) -> list[Cause]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    group: str
    version: str
    plural: str
    kind: str
    has_status: bool = False  # `status` is a subresource: each side writes only its own part
    graceful: bool = False  # a delete waits until whoever runs it lets go
    custom: bool = False  # defined by a CustomResourceDefinition, which makes some rules different
    schema: Object | None = None  # unknown fields are dropped, defaults set, the rest is checked
    admit: Admission = accept  # may change the new object; returns why it is refused

    @property
    def root(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """As messages name it: `Pod`, `PaddleJob.batch.paddlepaddle.org`."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


def from_crd(crd: Object, admit: Admission = accept) -> Kind:
    """The kind that a CustomResourceDefinition defines, by its stored version."""
    spec = crd["spec"]
    version = next(one for one in spec["versions"] if one["storage"])
    return Kind(
        group=spec["group"],
        version=version["name"],
        plural=spec["names"]["plural"],
        kind=spec["names"]["kind"],
        has_status="status" in version.get("subresources", {}),
        custom=True,
        schema=version["schema"]["openAPIV3Schema"],
        admit=admit,
    )


def pods(admit: Admission = accept) -> Kind:
    return Kind(
        group="", version="v1", plural="pods", kind="Pod", has_status=True, graceful=True, admit=admit
    )


CONFIG_MAPS = Kind(group="", version="v1", plural="configmaps", kind="ConfigMap")
EVENTS = Kind(group="", version="v1", plural="events", kind="Event")

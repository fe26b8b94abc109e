"""Which kinds of objects the server knows, and how each behaves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


def accept(_: Object) -> list[str]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    group: str
    version: str
    plural: str
    kind: str
    has_status: bool = False  # `status` is a subresource: each side writes only its own part
    graceful: bool = False  # a delete waits until whoever runs it lets go
    admit: Callable[[Object], list[str]] = accept  # may change the new object; returns why it is refused

    @property
    def root(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def pods(admit: Callable[[Object], list[str]] = accept) -> Kind:
    return Kind(
        group="", version="v1", plural="pods", kind="Pod", has_status=True, graceful=True, admit=admit
    )


CONFIG_MAPS = Kind(group="", version="v1", plural="configmaps", kind="ConfigMap")

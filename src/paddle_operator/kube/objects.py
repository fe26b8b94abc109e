"""The parts of Kubernetes' own types that more than one reader needs, decoded partially.

A field that is not named here never enters memory.
"""

import msgspec


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The base of partial types: immutable, camelCase, unknown to the garbage collector."""


class OwnerReference(Wire, frozen=True):
    uid: str
    kind: str = ""
    name: str = ""
    controller: bool = False


class ObjectMeta(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None

    @property
    def owner_uid(self) -> str:
        """The uid of the controlling owner: children belong to it, never to a name."""
        return next((owner.uid for owner in self.owner_references if owner.controller), "")


class Partial(Wire, frozen=True):
    """An object of which only the metadata matters."""

    metadata: ObjectMeta = ObjectMeta()

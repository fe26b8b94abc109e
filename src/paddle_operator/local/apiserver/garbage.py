"""Owner garbage collection: what belonged to a deleted object is deleted too.

In the background: the owner goes at once, its dependents after it. In the foreground: the owner stays,
marked, until no dependent that blocks it is left. Deletes go the same way as any client's.
"""

from collections.abc import Callable, Iterable
from typing import Any

from paddle_operator.local.apiserver.kinds import Kind, Object
from paddle_operator.local.apiserver.routes import Target
from paddle_operator.local.apiserver.store import Change, Store
from paddle_operator.local.apiserver.writes import FOREGROUND, Writer

Stored = tuple[Kind, Object]


class GarbageCollector:
    def __init__(self, store: Store, writer: Writer, later: Callable[[Callable[[], None]], object]) -> None:
        """`later` calls a function once the present request has been answered."""
        self._store, self._writer, self._later = store, writer, later
        store.subscribe(self._on_change)

    def _on_change(self, change: Change) -> None:
        old, new = change.old, change.new
        if new is None and old is not None:
            self._later(lambda: self._delete_orphans(self._dependents(old["metadata"]["uid"])))
            self._later(lambda: self._release(_owners(old)))
        elif new is not None and _in_foreground(new):
            self._later(lambda: self._delete_before(new))
        elif old is None and new is not None and _owners(new):
            self._later(lambda: self._delete_orphans([(change.kind, new)]))

    def _dependents(self, owner: str) -> list[Stored]:
        return [(kind, one) for kind, one in self._store.everything() if owner in _owners(one)]

    def _delete_orphans(self, candidates: Iterable[Stored]) -> None:
        """Those without a living owner; also a child created when its owner was gone already."""
        alive = {one["metadata"]["uid"] for _, one in self._store.everything()}
        for kind, one in candidates:
            orphan = not any(owner in alive for owner in _owners(one))
            if orphan and one["metadata"]["uid"] in alive:
                self._writer.delete(_target(kind, one), {})

    def _delete_before(self, owner: Object) -> None:
        """Its dependents first; a dependent that is on its way out is only waited for."""
        for kind, one in self._dependents(owner["metadata"]["uid"]):
            if "deletionTimestamp" not in one["metadata"]:
                self._writer.delete(_target(kind, one), {})
        self._release([owner["metadata"]["uid"]])

    def _release(self, owners: Iterable[str]) -> None:
        """Owners that waited in the foreground go when the last dependent that blocks them is gone."""
        waiting = [
            (kind, one)
            for kind, one in self._store.everything()
            if one["metadata"]["uid"] in owners and _in_foreground(one)
        ]
        for kind, one in waiting:
            uid = one["metadata"]["uid"]
            if not any(_blocks(child, uid) for _, child in self._dependents(uid)):
                left = [name for name in one["metadata"]["finalizers"] if name != FOREGROUND]
                self._writer.patch(_target(kind, one), {"metadata": {"finalizers": left}})


def _target(kind: Kind, stored: Object) -> Target:
    return Target(kind, stored["metadata"]["namespace"], stored["metadata"]["name"])


def _references(stored: Object) -> list[dict[str, Any]]:
    return stored["metadata"].get("ownerReferences") or []


def _owners(stored: Object) -> list[str]:
    return [reference["uid"] for reference in _references(stored)]


def _blocks(child: Object, owner: str) -> bool:
    return any(one["uid"] == owner and one.get("blockOwnerDeletion") for one in _references(child))


def _in_foreground(stored: Object) -> bool:
    meta = stored["metadata"]
    return "deletionTimestamp" in meta and FOREGROUND in (meta.get("finalizers") or [])

"""Owner garbage collection, in the background: what belonged to a deleted object is deleted after it."""

from collections.abc import Callable

from paddle_operator.local.apiserver.kinds import Kind, Object
from paddle_operator.local.apiserver.routes import Target
from paddle_operator.local.apiserver.store import Change, Store


class GarbageCollector:
    """Looks at every change, and deletes by the same way as any client would."""

    def __init__(
        self, store: Store, later: Callable[[Callable[[], None]], object], delete: Callable[[Target], None]
    ) -> None:
        self._store, self._later, self._delete = store, later, delete
        store.subscribe(self._on_change)

    def _on_change(self, change: Change) -> None:
        if change.new is None and change.old is not None:
            uid = change.old["metadata"]["uid"]
            self._later(lambda: self._collect(uid))
        elif change.old is None and change.new is not None and _owners(change.new):
            self._later(lambda: self._sweep([(change.kind, change.new or {})]))

    def _collect(self, owner: str) -> None:
        everything = list(self._store.everything())
        self._sweep([(kind, stored) for kind, stored in everything if owner in _owners(stored)])

    def _sweep(self, candidates: list[tuple[Kind, Object]]) -> None:
        """Deletes those without a living owner; also a child created when its owner was gone already."""
        alive = {one["metadata"]["uid"] for _, one in self._store.everything()}
        for kind, stored in candidates:
            orphan = not any(owner in alive for owner in _owners(stored))
            if orphan and stored["metadata"]["uid"] in alive:
                self._delete(Target(kind, stored["metadata"]["namespace"], stored["metadata"]["name"]))


def _owners(stored: Object) -> list[str]:
    return [reference["uid"] for reference in stored["metadata"].get("ownerReferences") or []]

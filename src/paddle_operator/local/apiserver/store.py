"""What is stored, and what happened: objects, one growing version, and the history that watches read.

An object once stored is never changed; an update stores another. So a reader may keep what it was given.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paddle_operator.local.apiserver.kinds import Kind, Object
from paddle_operator.local.apiserver.refusals import expired

HISTORY = 10_000

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    version: int
    kind: Kind
    old: Object | None
    new: Object | None


class Store:
    def __init__(self, history: int = HISTORY) -> None:
        self.version = 0
        self._objects: dict[Kind, dict[Key, Object]] = {}
        self._history: deque[Change] = deque(maxlen=history)
        self._watchers: list[Callable[[Change], None]] = []

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        return self._objects.get(kind, {}).get((namespace, name))

    def all(self, kind: Kind, namespace: str = "") -> list[Object]:
        """In the order of their keys; an empty namespace means all."""
        objects = self._objects.get(kind, {})
        return [objects[key] for key in sorted(objects) if namespace in ("", key[0])]

    def everything(self) -> Iterator[tuple[Kind, Object]]:
        for kind, objects in self._objects.items():
            for stored in list(objects.values()):
                yield kind, stored

    def put(self, kind: Kind, new: Object) -> Object:
        """Stores it under a new version, and returns it as stored."""
        meta = new["metadata"]
        key = (meta["namespace"], meta["name"])
        old = self._objects.setdefault(kind, {}).get(key)
        self.version += 1
        stored = {**new, "metadata": {**meta, "resourceVersion": str(self.version)}}
        self._objects[kind][key] = stored
        self._announce(Change(self.version, kind, old, stored))
        return stored

    def remove(self, kind: Kind, stored: Object) -> Object:
        meta = stored["metadata"]
        self.version += 1
        last = {**stored, "metadata": {**meta, "resourceVersion": str(self.version)}}
        old = self._objects[kind].pop((meta["namespace"], meta["name"]))
        self._announce(Change(self.version, kind, old | {"metadata": last["metadata"]}, None))
        return last

    def since(self, version: int) -> list[Change]:
        """The changes after a version, or 410 when some of them are forgotten."""
        known = self._history[0].version if self._history else self.version + 1
        if version > self.version or version + 1 < known:
            raise expired()
        return [change for change in self._history if change.version > version]

    def subscribe(self, watcher: Callable[[Change], None]) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def _announce(self, change: Change) -> None:
        self._history.append(change)
        for watcher in list(self._watchers):
            watcher(change)

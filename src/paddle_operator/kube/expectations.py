"""Our own writes that the cache does not show yet, so that nothing is done twice on old knowledge.

Sets of names and uids, not counters: names of children are deterministic, and a set can be compared with what
the cache shows. Keyed by the owner's uid, so a job made again under its old name starts clean. Each entry
expires: after that the write is simply tried again, and the server's answer tells the truth.
"""

from collections import defaultdict
from collections.abc import Callable

EXPIRES = 60.0  # seconds

Deadlines = dict[str, float]


class Expectations:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._creating: defaultdict[str, Deadlines] = defaultdict(dict)
        self._removing: defaultdict[str, Deadlines] = defaultdict(dict)

    def expect_create(self, owner: str, name: str) -> None:
        self._creating[owner][name] = self._clock() + EXPIRES

    def expect_remove(self, owner: str, uid: str) -> None:
        self._removing[owner][uid] = self._clock() + EXPIRES

    def appeared(self, owner: str, name: str) -> None:
        """The cache shows it, or the create failed: either way it is no longer awaited."""
        self._creating.get(owner, {}).pop(name, None)

    def vanished(self, owner: str, uid: str) -> None:
        self._removing.get(owner, {}).pop(uid, None)

    def creating(self, owner: str) -> frozenset[str]:
        return self._valid(self._creating.get(owner, {}))

    def removing(self, owner: str) -> frozenset[str]:
        return self._valid(self._removing.get(owner, {}))

    def forget(self, owner: str) -> None:
        self._creating.pop(owner, None)
        self._removing.pop(owner, None)

    def _valid(self, deadlines: Deadlines) -> frozenset[str]:
        now = self._clock()
        for name in [name for name, deadline in deadlines.items() if deadline <= now]:
            del deadlines[name]
        return frozenset(deadlines)

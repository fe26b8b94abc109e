"""The work queue: keys, not events. A key is worked on by one worker at a time, and waits only once.

Adding a key that waits changes nothing but, perhaps, its priority; adding a key that is being worked on makes
it wait until `done`. So what a worker reads after `get` is never older than the last `add`.
"""

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Hashable
from enum import IntEnum
from typing import Generic, TypeVar

from paddle_operator.kube.backoff import Backoff

K = TypeVar("K", bound=Hashable)


class Priority(IntEnum):
    """Lower goes first: a restart with ten thousand old jobs does not delay the new one."""

    CHANGE = 0  # a user changed or deleted something
    ENDING = 1  # a pod ended
    PROGRESS = 2  # a pod moved on; several such moves are taken together
    RESYNC = 3  # nothing is known to have changed


COALESCE = 0.02  # seconds that PROGRESS waits for company


class Queue(Generic[K]):
    def __init__(self) -> None:
        self._heap: list[tuple[int, int, K]] = []
        self._waiting: dict[K, int] = {}  # key -> the priority of its valid heap entry
        self._active: set[K] = set()
        self._again: dict[K, int] = {}  # added while active
        self._timers: dict[K, tuple[asyncio.TimerHandle, int]] = {}
        self._backoffs: dict[K, Backoff] = {}
        self._order = itertools.count()
        self._getters: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, key: K, priority: Priority = Priority.CHANGE) -> None:
        if priority is Priority.PROGRESS and key not in self._waiting:
            self.add_after(key, COALESCE, priority)
        else:
            self._push(key, priority)

    def add_after(self, key: K, delay: float, priority: Priority = Priority.RESYNC) -> None:
        """Later; of several such calls for a key the earliest time counts, and the highest priority."""
        loop = asyncio.get_running_loop()
        when = loop.time() + delay
        if key in self._timers:
            timer, before = self._timers[key]
            timer.cancel()
            when, priority = min(when, timer.when()), Priority(min(priority, before))
        self._timers[key] = (loop.call_at(when, self._fire, key, priority), priority)

    async def get(self) -> K:
        """The next key. Its caller owes a `done`."""
        while not self._waiting:
            getter = asyncio.get_running_loop().create_future()
            self._getters.append(getter)
            await self._wait(getter)
        key = self._pop()
        self._active.add(key)
        return key

    async def _wait(self, getter: "asyncio.Future[None]") -> None:
        try:
            await getter
        except asyncio.CancelledError:
            if getter.done() and not getter.cancelled():
                self._wake_one()  # it was woken for a key that somebody else must take now
            raise

    def done(self, key: K) -> None:
        self._active.discard(key)
        if key in self._again:
            self._push(key, self._again.pop(key))

    def retry(self, key: K) -> float:
        """Again after a delay that grows with each retry; returns that delay."""
        delay = self._backoffs.setdefault(key, Backoff(first=0.005, most=60.0)).next()
        self.add_after(key, delay, Priority.RESYNC)
        return delay

    def forget(self, key: K) -> None:
        """It went well: the next retry begins with the short delay again."""
        self._backoffs.pop(key, None)

    def close(self) -> None:
        """Drops what was to come later, so that nothing fires into a queue without workers."""
        for timer, _ in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _fire(self, key: K, priority: int) -> None:
        self._timers.pop(key, None)
        self._push(key, priority)

    def _push(self, key: K, priority: int) -> None:
        if key in self._active:
            self._again[key] = min(priority, self._again.get(key, priority))
        elif priority < self._waiting.get(key, Priority.RESYNC + 1):
            self._waiting[key] = priority
            heapq.heappush(self._heap, (priority, next(self._order), key))
            self._wake_one()

    def _pop(self) -> K:
        """Entries whose key waits with another priority by now are leftovers."""
        while True:
            priority, _, key = heapq.heappop(self._heap)
            if self._waiting.get(key) == priority:
                del self._waiting[key]
                return key

    def _wake_one(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

"""Many requests at once: how many are in flight, whose turn it is, and what happens when the server is busy.

One `Limiter` is shared by the whole process. Whoever wants to send waits for a slot under a key; slots go
round robin over the keys that wait, so that a job of four thousand pods and a job of one get every second
slot each. The number of slots follows the server as TCP follows a network: halved when it answers 429, and
grown by one for each round of successes.

`all_of` does the work of one caller. Work is given as functions, because what was refused with 429 is begun
again later, and because what is skipped must not have begun.
"""

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass

from paddle_operator.kube.errors import Unavailable

IN_FLIGHT = 64  # more only makes the API server's own queues longer
BUSY = 429
TRIES = 5  # a server that is busy for longer is a matter for the caller's own back-off, who then plans anew
FIRST_WAIT = 0.5  # seconds before the second try, then twice as long each time, unless the server says when
LONGEST_WAIT = 60.0  # seconds; nobody's Retry-After may hold a worker for an hour

Work = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    failures: list[BaseException]  # in the order of the work
    skipped: int  # never done, because a failure before said that it would be in vain


class Limiter:
    def __init__(
        self, most: int = IN_FLIGHT, *, uniform: Callable[[float, float], float] = random.uniform
    ) -> None:
        self.most = most
        self.in_flight = 0
        self._bound = float(most)
        self._shrunk = 0  # how often
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}  # the next to be served first
        self._uniform = uniform

    @property
    def bound(self) -> int:
        """How many may be in flight at present."""
        return int(self._bound)

    @contextlib.asynccontextmanager
    async def slot(self, key: Hashable) -> AsyncIterator[int]:
        """Its value goes to `refused`, if the server does."""
        await self._take(key)
        try:
            yield self._shrunk
        finally:
            self.in_flight -= 1
            self._serve()

    def succeeded(self) -> None:
        self._bound = min(self._bound + 1 / self._bound, self.most)
        self._serve()

    def refused(self, since: int) -> None:
        """Once for each round: what was in flight with the first refusal says nothing about the new bound."""
        if since == self._shrunk:
            self._shrunk += 1
            self._bound = max(self._bound // 2, 1.0)

    def spread(self, seconds: float) -> float:
        """A little more, never less, so that what was refused together does not return together."""
        return min(seconds, LONGEST_WAIT) * self._uniform(1.0, 1.2)

    async def _take(self, key: Hashable) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the slot was given already; somebody else shall have it
                self.in_flight -= 1
                self._serve()
            raise

    def _serve(self) -> None:
        while self._waiting and self.in_flight < self.bound:
            turn = self._next()
            if not turn.done():  # else its waiter was cancelled
                self.in_flight += 1
                turn.set_result(None)

    def _next(self) -> "asyncio.Future[None]":
        key = next(iter(self._waiting))
        turns = self._waiting.pop(key)
        turn = turns.popleft()
        if turns:
            self._waiting[key] = turns  # at the end: everybody else comes first
        return turn


async def all_of(
    limit: Limiter,
    work: Iterable[Work],
    *,
    key: Hashable = None,
    stop_on: Callable[[BaseException], bool] = lambda _: False,
) -> Outcome:
    """Does everything, whatever fails; but after a failure that `stop_on` names nothing more is begun.

    Calls with the same key take turns with the others as one.
    """
    return await _Call(limit, work, key=key, stop_on=stop_on).run()


@dataclass(slots=True)
class _Piece:
    place: int
    do: Work
    tries: int = 0


class _Call:
    """A few workers over one list: what nobody took when all have gone is what was skipped."""

    def __init__(
        self, limit: Limiter, work: Iterable[Work], *, key: Hashable, stop_on: Callable[[BaseException], bool]
    ) -> None:
        self._limit, self._key, self._stop_on = limit, key, stop_on
        self._left = deque(_Piece(place, do) for place, do in enumerate(work))
        self._failures: dict[int, BaseException] = {}
        self._stopped = asyncio.Event()

    async def run(self) -> Outcome:
        async with asyncio.TaskGroup() as group:
            # One more than there are slots: so while there is work one always waits, and no turn is missed.
            for _ in range(min(len(self._left), self._limit.most + 1)):
                group.create_task(self._worker())
        return Outcome([self._failures[place] for place in sorted(self._failures)], len(self._left))

    async def _worker(self) -> None:
        while self._left and not self._stopped.is_set():
            await self._one()

    async def _one(self) -> None:
        async with self._limit.slot(self._key) as since:
            if not self._left or self._stopped.is_set():
                return
            piece = self._left.popleft()
            wait = await self._try(piece, since)
        if wait is not None:  # without a slot: others may go on
            await self._pause(wait)
            self._left.appendleft(piece)

    async def _try(self, piece: _Piece, since: int) -> float | None:
        """The seconds until it shall be tried again, if it shall."""
        piece.tries += 1
        try:
            await piece.do()
        except asyncio.CancelledError as error:
            if _we_are_cancelled():
                raise
            return self._failed(piece, error, since)  # something that it awaited was, and that is its failure
        except Exception as error:  # noqa: BLE001 - the caller is given whatever it was
            return self._failed(piece, error, since)
        self._limit.succeeded()
        return None

    def _failed(self, piece: _Piece, error: BaseException, since: int) -> float | None:
        if isinstance(error, Unavailable) and error.status == BUSY:
            self._limit.refused(since)
            if piece.tries < TRIES:
                own = FIRST_WAIT * 2 ** (piece.tries - 1)
                return self._limit.spread(own if error.retry_after is None else error.retry_after)
        self._failures[piece.place] = error
        if self._stop_on(error):
            self._stopped.set()
        return None

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()


def _we_are_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

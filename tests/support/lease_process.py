"""A process that can be paused, and a network that does its worst.

A process is a set of tasks begun from one another. While it is paused none of them takes a step; what they
wait for happens all the same, and they learn of it when they wake, with the clock that much later. Requests
travel in tasks of the network: a request that its sender gave up may still arrive, late.
"""

import asyncio
import contextlib
import random
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.transport import Request, Response, Transport

_PROCESS: ContextVar["Pause | None"] = ContextVar("process", default=None)


class Pause:
    """Whether a process may take its next step."""

    def __init__(self) -> None:
        self._may_go = asyncio.Event()
        self._may_go.set()

    def pause(self) -> None:
        self._may_go.clear()

    def resume(self) -> None:
        self._may_go.set()

    @types.coroutine
    def steps_of(self, inner: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Runs `inner`, but hands on what it waited for only while the process runs."""
        woken: BaseException | None = None
        while True:
            try:
                waits_for = inner.send(None) if woken is None else inner.throw(woken)
            except StopIteration as end:
                return end.value
            woken = yield from _outcome(waits_for)
            while not self._may_go.is_set():
                woken = (yield from self._wait()) or woken

    def _wait(self) -> Generator[Any, Any, BaseException | None]:
        try:
            yield from self._may_go.wait().__await__()
        except asyncio.CancelledError as error:
            return error
        return None


def _outcome(waits_for: Any) -> Generator[Any, Any, BaseException | None]:
    try:
        yield waits_for
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - of the future: its waiter's to handle
        return error
    return None


def processes(loop: asyncio.AbstractEventLoop, inner: Any, **options: Any) -> "asyncio.Task[Any]":
    """A task factory: tasks begun within a process belong to it."""
    context = options.get("context")
    process = context.get(_PROCESS) if context else _PROCESS.get()
    return asyncio.Task(process.steps_of(inner) if process else inner, loop=loop, **options)


@contextlib.contextmanager
def within(process: Pause | None) -> Iterator[None]:
    """Tasks begun here belong to the process, or to none."""
    token = _PROCESS.set(process)
    try:
        yield
    finally:
        _PROCESS.reset(token)


@dataclass
class Wire:
    """The network between one process and the server; `rng` decides on what happens within these bounds."""

    server: Transport
    rng: random.Random
    delay: float = 0.0  # most, each way
    lost: float = 0.0  # share of requests, and of answers
    cut: bool = False
    granted: float = -1.0  # when the last renewal that was answered had been sent
    sent: list[tuple[str, float]] = field(default_factory=list)
    _under_way: set["asyncio.Task[Response]"] = field(default_factory=set)

    async def request(self, request: Request) -> Response:
        start = asyncio.get_running_loop().time()
        self.sent.append((request.method, start))
        response = await asyncio.shield(self._dispatch(request))
        if response.status < 300 and request.method != "GET":
            self.granted = start
        return response

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        raise NotImplementedError

    def _dispatch(self, request: Request) -> "asyncio.Task[Response]":
        with within(None):
            task = asyncio.create_task(self._travel(request))
        self._under_way.add(task)
        task.add_done_callback(self._arrived)
        return task

    def _arrived(self, task: "asyncio.Task[Response]") -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # its sender may have given up

    async def _travel(self, request: Request) -> Response:
        await self._way("request")
        response = await self.server.request(request)
        await self._way("answer")
        return response

    async def _way(self, what: str) -> None:
        await asyncio.sleep(self.rng.uniform(0, self.delay))
        if self.cut or self.rng.random() < self.lost:
            await asyncio.sleep(self.delay)
            raise TransportError(f"the {what} was lost")

    def close(self) -> None:
        for task in self._under_way:
            task.cancel()

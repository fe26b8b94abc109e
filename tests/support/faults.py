"""A transport that fails as a network and a busy server do.

Between two who know nothing of it: it stands on the seam. Faults are told to it one at a time; `trouble` says
how it treats what passes until further notice.
"""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.transport import Request, Response, Transport


class Fault(StrEnum):
    END = "the stream ends as if its time were over"
    HALF_A_LINE = "the stream ends in the middle of a line"
    GONE = "410"
    BROKEN = "500"
    CUT = "no answer at all"


class Trouble(StrEnum):
    NONE = "as it comes"
    SLOW = "answers and events take their time"
    REPEATED = "each event is told twice"
    STALE = "a list may be one that was given before"


LATE = 3.0  # seconds


class Faulty:
    """Passes everything on, in small pieces, until told to fail: the next request, or what streams now."""

    def __init__(self, inner: Transport, piece: int = 1000, *, old: bool = False) -> None:
        """`old`: a server that cannot begin a watch with everything there is."""
        self._inner, self._piece, self._old = inner, piece, old
        self._next: Fault | None = None
        self._open: set[asyncio.Future[Fault]] = set()
        self._given: dict[str, Response] = {}
        self.trouble = Trouble.NONE

    def fail_next(self, fault: Fault) -> None:
        self._next = fault

    def fail_streams(self, fault: Fault) -> None:
        for stream in self._open:
            if not stream.done():
                stream.set_result(fault)

    def heal(self) -> None:
        self._next, self.trouble = None, Trouble.NONE

    async def request(self, request: Request) -> Response:
        fault, self._next = self._next, None
        if fault in (None, Fault.END, Fault.HALF_A_LINE):
            return await self._pass(request)
        return _refuse(fault)

    async def _pass(self, request: Request) -> Response:
        if self.trouble is Trouble.SLOW:
            await asyncio.sleep(LATE)
        if self.trouble is Trouble.STALE and request.path in self._given:
            return self._given[request.path]
        answer = await self._inner.request(request)
        if request.method == "GET":
            self._given[request.path] = answer
        return answer

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        fault, self._next = self._next, None
        if fault:
            return _refuse(fault)
        if self._old and "resourceVersion" not in request.query:
            return Response(status=400)
        inner = asyncio.ensure_future(self._stream(request, self._in_pieces(feed)))
        outer: asyncio.Future[Fault] = asyncio.get_running_loop().create_future()
        self._open.add(outer)
        try:
            either: list[asyncio.Future[Any]] = [inner, outer]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return inner.result() if inner.done() else _break(outer.result(), feed)
        finally:
            self._open.discard(outer)
            inner.cancel()
            await asyncio.gather(inner, return_exceptions=True)

    async def _stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        """Events wait in a line of their own, each until its time has come; none overtakes another."""
        line: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue()
        clock = asyncio.get_running_loop().time

        def enter(chunk: bytes) -> None:
            late = LATE if self.trouble is Trouble.SLOW else 0.0
            for _ in range(2 if self.trouble is Trouble.REPEATED else 1):
                line.put_nowait((clock() + late, chunk))

        inner = asyncio.ensure_future(self._inner.stream(request, enter))
        inner.add_done_callback(lambda _: line.put_nowait(None))
        try:
            while waiting := await line.get():
                due, chunk = waiting
                await asyncio.sleep(max(0.0, due - clock()))
                feed(chunk)
            return await inner
        finally:
            inner.cancel()
            await asyncio.gather(inner, return_exceptions=True)

    def _in_pieces(self, feed: Callable[[bytes], None]) -> Callable[[bytes], None]:
        def pieces(chunk: bytes) -> None:
            for start in range(0, len(chunk), self._piece):
                feed(chunk[start : start + self._piece])

        return pieces


def _refuse(fault: Fault | None) -> Response:
    """A request, or a watch that is not open yet."""
    if fault is Fault.CUT:
        raise TransportError("connection refused")
    if fault in (Fault.GONE, Fault.BROKEN):
        return Response(status=int(fault), body=b"")
    return Response(status=200)


def _break(fault: Fault, feed: Callable[[bytes], None]) -> Response:
    """A watch that is open."""
    if fault is Fault.CUT:
        raise TransportError("connection reset")
    if fault is Fault.HALF_A_LINE:
        feed(b'{"type":"MODIFIED","obj')
    elif fault is not Fault.END:
        feed(b'{"type":"ERROR","object":{"kind":"Status","metadata":{},"code":%s}}\n' % fault.encode())
    return Response(status=200)

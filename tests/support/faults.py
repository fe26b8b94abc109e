"""A transport that fails as a network and a busy server do."""

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


class Faulty:
    """Passes everything on, in small pieces, until told to fail: the next request, or what streams now."""

    def __init__(self, inner: Transport, piece: int = 1000) -> None:
        self._inner, self._piece = inner, piece
        self._next: Fault | None = None
        self._open: set[asyncio.Future[Fault]] = set()

    def fail_next(self, fault: Fault) -> None:
        self._next = fault

    def fail_streams(self, fault: Fault) -> None:
        for stream in self._open:
            if not stream.done():
                stream.set_result(fault)

    def heal(self) -> None:
        self._next = None

    async def request(self, request: Request) -> Response:
        fault, self._next = self._next, None
        if fault in (None, Fault.END, Fault.HALF_A_LINE):
            return await self._inner.request(request)
        return _refuse(fault)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        fault, self._next = self._next, None
        if fault:
            return _refuse(fault)
        inner = asyncio.ensure_future(self._inner.stream(request, self._in_pieces(feed)))
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

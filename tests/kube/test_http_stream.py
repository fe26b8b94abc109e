"""Streams over HTTPS: piece by piece, alive as long as something comes, and cut off is not ended."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from paddle_operator.kube.client import WATCH_SECONDS
from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.http import SILENCE, HttpTransport
from paddle_operator.kube.transport import Request, Response
from support.http_server import Handler, access, serving

WATCH = Request(method="GET", path="/api/v1/pods", query={"watch": "true"})


def streaming(write: Callable[[web.StreamResponse, web.BaseRequest], Awaitable[None]]) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        await write(stream, request)
        return stream

    return handle


async def stream(
    handler: Handler, feed: Callable[[bytes], None], request: Request = WATCH, *, silence: float = 30.0
) -> Response:
    async with serving(handler) as server, HttpTransport(access(server.url), silence=silence) as transport:
        return await transport.stream(request, feed)


@pytest.mark.asyncio
async def test_what_the_server_sends_is_fed_in_order_and_its_end_is_the_end() -> None:
    async def three(out: web.StreamResponse, _: web.BaseRequest) -> None:
        for piece in (b"one\n", b"two\n", b"three\n"):
            await out.write(piece)

    pieces: list[bytes] = []
    answer = await stream(streaming(three), pieces.append)
    assert (answer.status, answer.body) == (200, b"")
    assert b"".join(pieces) == b"one\ntwo\nthree\n"


@pytest.mark.asyncio
async def test_a_piece_is_fed_while_the_stream_is_open() -> None:
    fed = asyncio.Event()

    async def after_it_arrived(out: web.StreamResponse, _: web.BaseRequest) -> None:
        await out.write(b"first\n")
        await fed.wait()  # never, if pieces were held back until the end
        await out.write(b"second\n")

    pieces: list[bytes] = []

    def feed(piece: bytes) -> None:
        pieces.append(piece)
        fed.set()

    await stream(streaming(after_it_arrived), feed)
    assert pieces == [b"first\n", b"second\n"]


@pytest.mark.asyncio
async def test_a_stream_that_is_refused_returns_the_answer_and_feeds_nothing() -> None:
    async def gone(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=410, body=b'{"reason":"Expired"}')

    pieces: list[bytes] = []
    answer = await stream(gone, pieces.append)
    assert (answer.status, answer.body, pieces) == (410, b'{"reason":"Expired"}', [])


@pytest.mark.asyncio
async def test_a_stream_that_does_not_begin_in_time_fails() -> None:
    async def never(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(TransportError, match=r"no complete answer within 0\.05 s"):
        await stream(never, lambda _: None, Request(method="GET", path="/", timeout=0.05))


@pytest.mark.asyncio
async def test_a_stream_that_began_may_last_longer_than_the_time_out() -> None:
    beyond = asyncio.Event()

    async def long(out: web.StreamResponse, _: web.BaseRequest) -> None:
        await out.write(b"first\n")
        await beyond.wait()
        await out.write(b"last\n")

    pieces: list[bytes] = []

    def feed(piece: bytes) -> None:
        pieces.append(piece)
        asyncio.get_running_loop().call_later(0.4, beyond.set)

    await stream(streaming(long), feed, Request(method="GET", path="/", timeout=0.2))
    assert pieces == [b"first\n", b"last\n"]


@pytest.mark.asyncio
async def test_a_stream_that_falls_silent_fails() -> None:
    async def mute(out: web.StreamResponse, _: web.BaseRequest) -> None:
        await out.write(b"first\n")
        await asyncio.Event().wait()

    pieces: list[bytes] = []
    with pytest.raises(TransportError, match="silent for too long"):
        await stream(streaming(mute), pieces.append, silence=0.1)
    assert pieces == [b"first\n"]


def test_a_quiet_watch_ends_by_itself_before_it_counts_as_dead() -> None:
    assert SILENCE > WATCH_SECONDS


@pytest.mark.asyncio
async def test_a_stream_cut_off_is_a_failure_not_an_end() -> None:
    async def cut(out: web.StreamResponse, request: web.BaseRequest) -> None:
        await out.write(b"first\n")
        assert request.transport is not None
        request.transport.abort()

    with pytest.raises(TransportError, match=r"GET /api/v1/pods: "):
        await stream(streaming(cut), lambda _: None)


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [ValueError("unreadable"), TimeoutError("theirs"), OSError("theirs")])
async def test_what_the_reader_raises_passes_through_as_it_is(error: Exception) -> None:
    async def one(out: web.StreamResponse, _: web.BaseRequest) -> None:
        await out.write(b"first\n")
        await asyncio.Event().wait()

    def feed(_: bytes) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await stream(streaming(one), feed)
    assert caught.value is error


@pytest.mark.asyncio
async def test_a_stream_that_is_cancelled_ends_its_connection() -> None:
    fed, left = asyncio.Event(), asyncio.Event()

    async def until_it_leaves(out: web.StreamResponse, _: web.BaseRequest) -> None:
        await out.write(b"first\n")
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    async with (
        serving(streaming(until_it_leaves)) as server,
        HttpTransport(access(server.url)) as transport,
    ):
        watch = asyncio.create_task(transport.stream(WATCH, lambda _: fed.set()))
        await fed.wait()
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        async with asyncio.timeout(10):
            await left.wait()

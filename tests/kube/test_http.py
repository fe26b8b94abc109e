"""Requests over HTTPS: what is sent, what comes back, and what is said when nothing does."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

import paddle_operator
from paddle_operator.kube.auth.content import Inline
from paddle_operator.kube.auth.credentials import Given, Identity
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.client import prepare
from paddle_operator.kube.errors import TransportError, Unavailable, error_of
from paddle_operator.kube.http import HttpTransport
from paddle_operator.kube.transport import MERGE_PATCH, Request
from support.http_server import Handler, Server, access, serving

GET = Request(method="GET", path="/api/v1/pods")


async def ok(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(body=b"{}")


async def hang(_: web.BaseRequest) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


def hang_after(begun: asyncio.Event) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        begun.set()
        return await hang(request)

    return handle


@contextlib.asynccontextmanager
async def pair(
    handler: Handler = ok, *, connections: int = 64
) -> AsyncIterator[tuple[HttpTransport, Server]]:
    async with (
        serving(handler) as server,
        HttpTransport(access(server.url), connections=connections) as transport,
    ):
        yield transport, server


async def failing(handler: Handler, request: Request = GET) -> str:
    """What is said of a request that gets no answer."""
    async with pair(handler) as (transport, server):
        with pytest.raises(TransportError) as caught:
            await transport.request(request)
    assert server.url in str(caught.value)
    return str(caught.value).removeprefix(server.url)


class Renewable:
    """Credentials that count, and are new when refused."""

    def __init__(self, *tokens: str) -> None:
        self._identities = [Identity((("Authorization", f"Bearer {one}"),)) for one in tokens]
        self.refreshed = 0

    async def identity(self) -> Identity:
        return self._identities[0]

    async def refresh(self, refused: Identity) -> bool:
        self.refreshed += 1
        if refused is self._identities[0] and len(self._identities) > 1:
            del self._identities[0]
        return True


async def only_new(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(status=200 if request.headers["Authorization"] == "Bearer new" else 401)


@pytest.mark.asyncio
async def test_path_query_body_and_type_arrive_as_they_were_prepared() -> None:
    body: list[bytes] = []

    async def note(request: web.BaseRequest) -> web.StreamResponse:
        body.append(await request.read())
        return web.Response()

    selector = "app=x,role in (ps, worker),!old+new&more"
    async with pair(note) as (transport, server):
        await transport.request(
            Request(
                method="PATCH",
                path="/apis/g/v1/widgets/a:b",
                query={"labelSelector": selector},
                body=b'{"a":1}',
                content_type=MERGE_PATCH,
            )
        )
        (seen,) = server.seen
    assert (seen.method, seen.path, dict(seen.query)) == (
        "PATCH",
        "/apis/g/v1/widgets/a:b",
        {"labelSelector": selector},
    )
    assert (body, seen.content_type) == ([b'{"a":1}'], MERGE_PATCH)


@pytest.mark.asyncio
async def test_we_say_who_we_are_and_ask_for_no_compression() -> None:
    async with pair() as (transport, server):
        await transport.request(GET)
        headers = server.seen[0].headers
    assert headers["User-Agent"] == f"paddle-operator/{paddle_operator.__version__}"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Accept-Encoding"] == "identity"


@pytest.mark.asyncio
async def test_a_path_in_the_address_stands_before_every_other() -> None:
    async with serving(ok) as server, HttpTransport(access(f"{server.url}/k8s/clusters/c-1")) as transport:
        await transport.request(GET)
    assert server.seen[0].path == "/k8s/clusters/c-1/api/v1/pods"


@pytest.mark.asyncio
async def test_an_answer_of_any_status_is_returned_with_its_body() -> None:
    async def no(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=422, body=b'{"reason":"Invalid"}')

    async with pair(no) as (transport, _):
        answer = await transport.request(GET)
    assert (answer.status, answer.body) == (422, b'{"reason":"Invalid"}')


@pytest.mark.asyncio
async def test_retry_after_is_found_however_the_server_writes_it() -> None:
    async def busy(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=429, headers={"retry-AFTER": "7"})

    async with pair(busy) as (transport, _):
        answer = await transport.request(GET)
    assert answer.headers.get("rEtRy-aFtEr") == "7"
    error = error_of(answer)
    assert isinstance(error, Unavailable)
    assert error.retry_after == 7


@pytest.mark.asyncio
async def test_a_redirect_is_not_followed_because_the_token_is_for_this_host() -> None:
    async def away(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with pair(away) as (transport, server):
        assert (await transport.request(GET)).status == 307
        assert len(server.seen) == 1


@pytest.mark.asyncio
async def test_requests_one_after_another_share_a_connection() -> None:
    async with pair() as (transport, server):
        for _ in range(5):
            await transport.request(GET)
        assert len(server.connections) == 1


@pytest.mark.asyncio
async def test_no_more_requests_are_under_way_than_there_are_connections() -> None:
    now, most = 0, 0

    async def count(_: web.BaseRequest) -> web.StreamResponse:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.001)
        now -= 1
        return web.Response()

    async with pair(count, connections=3) as (transport, _):
        await asyncio.gather(*(transport.request(GET) for _ in range(20)))
    assert most == 3


@pytest.mark.asyncio
async def test_watches_take_no_connection_from_requests() -> None:
    async def begin(request: web.BaseRequest) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.Response()
        stream = web.StreamResponse()
        await stream.prepare(request)
        await stream.write(b"x")
        return await hang(request)

    begun = asyncio.Event()
    async with pair(begin, connections=1) as (transport, _):
        watch = asyncio.create_task(
            transport.stream(prepare("GET", "/w", query={"watch": "true"}), lambda _: begun.set())
        )
        await begun.wait()
        assert (await transport.request(GET)).status == 200
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


@pytest.mark.asyncio
async def test_a_lease_does_not_wait_behind_a_saturated_pool() -> None:
    arrived = asyncio.Event()

    async def lease_only(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/lease":
            return web.Response()
        arrived.set()
        return await hang(request)

    async with (
        pair(lease_only, connections=1) as (transport, server),
        HttpTransport(access(server.url), connections=1) as leases,
    ):
        stuck = [asyncio.create_task(transport.request(GET)) for _ in range(3)]
        await arrived.wait()
        assert (await leases.request(Request(method="PUT", path="/lease", body=b"{}"))).status == 200
        for one in stuck:
            one.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)


@pytest.mark.asyncio
async def test_no_answer_in_time_is_a_failure_that_says_how_long_it_waited() -> None:
    said = await failing(hang, Request(method="GET", path="/slow", timeout=0.05))
    assert said == ": GET /slow: no complete answer within 0.05 s"


@pytest.mark.asyncio
async def test_half_an_answer_in_time_is_no_answer() -> None:
    async def half(request: web.BaseRequest) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Length": "10"})
        await stream.prepare(request)
        await stream.write(b"12345")
        return await hang(request)

    said = await failing(half, Request(method="GET", path="/half", timeout=0.1))
    assert "no complete answer" in said


@pytest.mark.asyncio
async def test_waiting_for_a_turn_counts_as_waiting() -> None:
    arrived = asyncio.Event()
    async with pair(hang_after(arrived), connections=1) as (transport, server):
        first = asyncio.create_task(transport.request(GET))
        await arrived.wait()
        with pytest.raises(TransportError, match="no complete answer"):
            await transport.request(Request(method="GET", path="/", timeout=0.01))
        assert len(server.seen) == 1
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


@pytest.mark.asyncio
async def test_an_answer_cut_in_the_middle_is_no_answer() -> None:
    async def cut(request: web.BaseRequest) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Length": "1000"})
        await stream.prepare(request)
        await stream.write(b"12345")
        assert request.transport is not None
        request.transport.abort()
        return stream

    said = await failing(cut)
    assert said.startswith(": GET /api/v1/pods: the answer was cut off")


@pytest.mark.asyncio
async def test_a_connection_closed_without_a_word_is_no_answer() -> None:
    async def close(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    said = await failing(close, Request(method="POST", path="/p", body=b"{}"))
    assert said == ": POST /p: the connection was closed without an answer"


@pytest.mark.asyncio
async def test_a_port_where_nobody_listens_is_named() -> None:
    with socket.socket() as free:  # bound, so that nobody else takes it, and not listening
        free.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{free.getsockname()[1]}"
        async with HttpTransport(access(url)) as transport:
            with pytest.raises(TransportError, match=rf"^{url}: cannot connect: Connection refused$"):
                await transport.request(GET)


@pytest.mark.asyncio
async def test_a_name_nobody_knows_is_said_to_be_unknown() -> None:
    async with HttpTransport(access("https://no-such-host.invalid")) as transport:
        with pytest.raises(TransportError, match=r"^https://no-such-host.invalid: cannot connect: \w+"):
            await transport.request(GET)


@pytest.mark.asyncio
async def test_after_a_failure_the_next_request_finds_the_server_again() -> None:
    broken = True

    async def once(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        if broken:
            request.transport.abort()
        return web.Response()

    async with pair(once) as (transport, _):
        with pytest.raises(TransportError):
            await transport.request(GET)
        broken = False
        assert (await transport.request(GET)).status == 200


@pytest.mark.asyncio
async def test_a_refused_token_is_renewed_and_the_request_sent_again() -> None:
    renewable = Renewable("old", "new")
    async with (
        serving(only_new) as server,
        HttpTransport(access(server.url, credentials=renewable)) as transport,
    ):
        assert (await transport.request(GET)).status == 200
    assert (len(server.seen), renewable.refreshed) == (2, 1)


@pytest.mark.asyncio
async def test_a_token_refused_again_is_an_answer_not_a_loop() -> None:
    renewable = Renewable("old")
    async with (
        serving(only_new) as server,
        HttpTransport(access(server.url, credentials=renewable)) as transport,
    ):
        assert (await transport.request(GET)).status == 401
    assert (len(server.seen), renewable.refreshed) == (2, 1)


@pytest.mark.asyncio
async def test_a_token_that_cannot_be_renewed_is_sent_only_once() -> None:
    given = Given(token=Inline(b"old"))
    async with serving(only_new) as server, HttpTransport(access(server.url, credentials=given)) as transport:
        assert (await transport.request(GET)).status == 401
    assert len(server.seen) == 1


@pytest.mark.asyncio
async def test_credentials_that_cannot_be_had_are_a_failure_like_any_other() -> None:
    class Broken:
        async def identity(self) -> Identity:
            raise AccessError("the command 'login' failed")

        async def refresh(self, _: Identity) -> bool:
            return False

    async with HttpTransport(access("https://127.0.0.1:1", credentials=Broken())) as transport:
        with pytest.raises(TransportError, match=r"127\.0\.0\.1:1: the command 'login' failed"):
            await transport.request(GET)


@pytest.mark.asyncio
async def test_closing_ends_what_is_under_way() -> None:
    begun = asyncio.Event()
    async with serving(hang_after(begun)) as server:
        transport = HttpTransport(access(server.url))
        task = asyncio.create_task(transport.stream(GET, lambda _: None))
        await begun.wait()
        await transport.aclose()
        with pytest.raises(TransportError):
            await task

"""A server on 127.0.0.1 that does what a test says, a proxy before it, and the way to reach them."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.content import File, Inline
from paddle_operator.kube.auth.credentials import Credentials, Given
from paddle_operator.kube.auth.tls import Tls
from support.http_certificates import Pair, papers

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    url: str
    seen: list[web.BaseRequest] = field(default_factory=list)
    connections: set[object] = field(default_factory=set)  # each one a request came on


@contextlib.asynccontextmanager
async def serving(
    handler: Handler, *, pair: Pair | None = None, ask_for_certificate: bool = False, plain: bool = False
) -> AsyncIterator[Server]:
    """Every request goes to `handler`. A handler is cancelled when its client goes away."""
    server = Server("")

    async def noted(request: web.BaseRequest) -> web.StreamResponse:
        server.seen.append(request)
        server.connections.add(request.protocol)
        return await handler(request)

    runner = web.ServerRunner(web.Server(noted, handler_cancellation=True), shutdown_timeout=0)
    await runner.setup()
    context = None if plain else _context(pair or papers().server, ask=ask_for_certificate)
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    server.url = f"{'http' if plain else 'https'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def _context(pair: Pair, *, ask: bool) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    if ask:
        context.load_verify_locations(papers().authority.certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


def access(
    url: str, *, credentials: Credentials | None = None, tls: Tls | None = None, proxy: str = ""
) -> Access:
    return Access(
        server=url,
        tls=tls or Tls(ca=File(papers().authority.certificate, "test")),
        credentials=credentials or Given(token=Inline(b"secret")),
        origin="the test",
        proxy=proxy,
    )


@dataclass
class Proxy:
    url: str
    asked: list[str] = field(default_factory=list)
    answer: bytes = b"HTTP/1.1 200 OK\r\n\r\n"


@contextlib.asynccontextmanager
async def proxying() -> AsyncIterator[Proxy]:
    """Understands CONNECT and nothing else."""
    proxy, tunnels = Proxy(""), set[asyncio.Task[None]]()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        proxy.asked.append(head.split(b"\r\n")[0].decode())
        writer.write(proxy.answer)
        host, _, port = head.split()[1].decode().rpartition(":")
        if b" 200 " in proxy.answer:
            await _tunnel(reader, writer, host=host, port=int(port))
        writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tunnels.add(asyncio.create_task(accept(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await asyncio.gather(*tunnels)


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, host: str, port: int
) -> None:
    inner_reader, inner_writer = await asyncio.open_connection(host, port)
    await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()

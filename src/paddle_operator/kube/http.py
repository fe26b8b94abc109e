"""The HTTPS end of the transport seam.

One session keeps its connections open between requests. Requests share a bounded number of them and wait for
their turn; each watch has one of its own beside them, for as long as it lasts. A lease must never wait behind
either: it gets an `HttpTransport` of its own, over the same `Access`.

An answer of any status is returned; no answer is a `TransportError`, whose message names the host, what
failed and, where a person can do something, what. What `feed` raises passes through as it is.
"""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from paddle_operator import __version__
from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.credentials import Identity
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.transport import Request, Response

CONNECTIONS = 64  # for requests; watches come on top
SILENCE = 330.0  # seconds without a byte after which a stream is dead: above the 300 s a watch may be silent
KEEP = 60.0  # seconds an unused connection stays open; the server closes it after 90
HEADERS = {
    "User-Agent": f"paddle-operator/{__version__}",
    "Accept": "application/json",
    # Compressing a list costs the server more than sending it costs the network of a cluster.
    "Accept-Encoding": "identity",
}
FAILURES = (aiohttp.ClientError, OSError, TimeoutError, AccessError)


class HttpTransport:
    """A Transport. Made while its event loop runs; closed by `aclose`, or by `async with`."""

    def __init__(self, access: Access, *, connections: int = CONNECTIONS, silence: float = SILENCE) -> None:
        self._access, self._silence = access, silence
        self._base = URL(access.server)
        self._turn = asyncio.Semaphore(connections)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP),  # bounded by _turn
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),  # each request has its own
            headers=HEADERS,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._session.close()

    async def request(self, request: Request) -> Response:
        return await self._as_somebody(request, lambda identity: self._request(request, identity))

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        return await self._as_somebody(request, lambda identity: self._stream(request, identity, feed))

    async def _as_somebody(
        self, request: Request, send: Callable[[Identity], Awaitable[Response]]
    ) -> Response:
        """An identity that is refused is renewed, once: tokens expire and are revoked."""
        identity = await self._identity(request)
        response = await send(identity)
        if response.status == 401 and await self._renewed(request, identity):
            response = await send(await self._identity(request))
        return response

    async def _identity(self, request: Request) -> Identity:
        try:
            return await self._access.credentials.identity()
        except FAILURES as error:
            raise self._failure(request, error) from error

    async def _renewed(self, request: Request, refused: Identity) -> bool:
        try:
            return await self._access.credentials.refresh(refused)
        except FAILURES as error:
            raise self._failure(request, error) from error

    async def _request(self, request: Request, identity: Identity) -> Response:
        try:
            async with asyncio.timeout(request.timeout), self._turn:
                return await self._whole(await self._send(request, identity))
        except FAILURES as error:
            raise self._failure(request, error) from error

    async def _stream(self, request: Request, identity: Identity, feed: Callable[[bytes], None]) -> Response:
        try:
            async with asyncio.timeout(request.timeout):
                answer = await self._send(request, identity, silence=self._silence)
                if answer.status != 200:
                    return await self._whole(answer)
        except FAILURES as error:
            raise self._failure(request, error) from error
        async with answer:
            while chunk := await self._next(request, answer):
                feed(chunk)
        return Response(status=200, headers=answer.headers)

    async def _next(self, request: Request, answer: aiohttp.ClientResponse) -> bytes:
        try:
            return await answer.content.readany()
        except FAILURES as error:
            raise self._failure(request, error) from error

    async def _whole(self, answer: aiohttp.ClientResponse) -> Response:
        async with answer:
            return Response(status=answer.status, body=await answer.read(), headers=answer.headers)

    async def _send(
        self, request: Request, identity: Identity, *, silence: float | None = None
    ) -> aiohttp.ClientResponse:
        access = self._access
        secure = self._base.scheme == "https"
        return await self._session.request(
            request.method,
            self._base.with_path(self._base.path.rstrip("/") + request.path).with_query(request.query),
            data=request.body,
            headers=self._headers(request, identity),
            allow_redirects=False,  # a token is for this host
            ssl=access.tls.context(identity.certificate) if secure else True,
            server_hostname=access.tls.server_name or None,
            proxy=access.proxy or None,
            timeout=aiohttp.ClientTimeout(total=None, sock_read=silence),
        )

    def _headers(self, request: Request, identity: Identity) -> list[tuple[str, str]]:
        body = [] if request.body is None else [("Content-Type", request.content_type)]
        return [*identity.headers, *body]

    def _failure(self, request: Request, error: BaseException) -> TransportError:
        return TransportError(explain(self._access, request, error))


def explain(access: Access, request: Request, error: BaseException) -> str:
    """What happened, and to whom. Order matters: the errors of aiohttp derive from each other."""
    what = f"{request.method} {request.path}"
    match error:
        case AccessError():
            said = str(error)
        case aiohttp.SocketTimeoutError():
            said = f"{what}: the stream was silent for too long"
        case TimeoutError():
            said = f"{what}: no complete answer within {request.timeout:g} s"
        case aiohttp.ClientProxyConnectionError():
            said = f"cannot connect to the proxy {_bare(access.proxy)}: {_reason(error)}; check proxy-url"
        case aiohttp.ClientHttpProxyError():
            said = f"the proxy {_bare(access.proxy)} refused to connect: {error.status} {error.message}"
        case aiohttp.ClientConnectorCertificateError():
            said = f"its certificate is not trusted: {_mistrust(error)}; check {access.origin}"
        case aiohttp.ClientConnectorError():
            said = f"cannot connect: {_reason(error)}"
        case aiohttp.ServerDisconnectedError():
            said = f"{what}: the connection was closed without an answer"
        case aiohttp.ClientPayloadError():
            said = f"{what}: the answer was cut off: {error}"
        case _:
            said = f"{what}: {error or type(error).__name__}"
    return f"{access.server}: {said}"


def _reason(error: aiohttp.ClientConnectorError) -> str:
    cause = error.os_error
    if (
        isinstance(error, aiohttp.ClientConnectorDNSError)
        or isinstance(cause, ssl.SSLError)
        or not cause.errno
    ):
        return cause.strerror or str(cause)
    return os.strerror(cause.errno)


def _mistrust(error: aiohttp.ClientConnectorCertificateError) -> str:
    cause = error.certificate_error
    return cause.verify_message if isinstance(cause, ssl.SSLCertVerificationError) else str(cause)


def _bare(proxy: str) -> str:
    """Without the password that may stand in it."""
    return str(URL(proxy).with_user(None))

"""The API server in memory, served over real HTTP."""

import asyncio

from aiohttp import web

from paddle_operator.kube.transport import Request, Response, Transport
from support.http_server import Handler

STEPS = 5  # of the event loop


def over_http(inner: Transport) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        asked = Request(
            method=request.method,
            path=request.path,
            query=dict(request.query),
            body=await request.read() or None,
            content_type=request.content_type,
        )
        if request.query.get("watch"):
            return await _stream(inner, asked, request)
        return _answer(await inner.request(asked))

    return handle


def _answer(response: Response) -> web.Response:
    return web.Response(
        status=response.status,
        body=response.body,
        content_type="application/json",
        headers=dict(response.headers),
    )


async def _stream(inner: Transport, asked: Request, request: web.BaseRequest) -> web.StreamResponse:
    """The head goes out at once, as the real server does it; what is fed is written in its order."""
    outer, pieces = web.StreamResponse(), asyncio.Queue[bytes]()
    source = asyncio.create_task(inner.stream(asked, pieces.put_nowait))
    source.add_done_callback(lambda _: pieces.put_nowait(b""))
    try:
        if refusal := await _refusal(source):
            return refusal
        await outer.prepare(request)
        while piece := await pieces.get():
            await outer.write(piece)
    finally:
        source.cancel()
        await asyncio.gather(source, return_exceptions=True)
    return outer


async def _refusal(source: "asyncio.Task[Response]") -> web.Response | None:
    """The server in memory refuses in its first steps, before it feeds anything."""
    for _ in range(STEPS):
        await asyncio.sleep(0)
    refused = source.done() and source.result().status != 200
    return _answer(source.result()) if refused else None

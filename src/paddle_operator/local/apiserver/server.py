"""The server: requests in, responses out. The other end of the seam that HTTPS is one end of."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import msgspec

from paddle_operator.kube.transport import MERGE_PATCH, Request, Response
from paddle_operator.local.apiserver.garbage import GarbageCollector
from paddle_operator.local.apiserver.kinds import Kind, Object
from paddle_operator.local.apiserver.refusals import Refusal, bad_request, not_found
from paddle_operator.local.apiserver.routes import Target, find
from paddle_operator.local.apiserver.selectors import parse_selector
from paddle_operator.local.apiserver.store import Store
from paddle_operator.local.apiserver.watch import Watch
from paddle_operator.local.apiserver.writes import Writer

OK = 200
CREATED = 201


class ApiServer:
    """A Transport. Lives in one event loop; a request is one step of it."""

    def __init__(
        self, kinds: Iterable[Kind], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._kinds = tuple(kinds)
        self._store = Store()
        self._writer = Writer(self._store, now)
        GarbageCollector(self._store, asyncio.get_running_loop().call_soon, self._collect)
        self._verbs = {"GET": self._read, "POST": self._create, "PATCH": self._patch, "DELETE": self._delete}

    async def request(self, request: Request) -> Response:
        await asyncio.sleep(0)  # an answer never comes in the same breath, here as there
        verb = self._verbs.get(request.method)
        if verb is None:
            return Refusal(405, "MethodNotAllowed", f"{request.method} is not allowed here").response()
        try:
            return verb(find(self._kinds, request.path), request)
        except Refusal as refusal:
            return refusal.response()

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        await asyncio.sleep(0)
        try:
            target = find(self._kinds, request.path)
            selector = parse_selector(request.query.get("labelSelector", ""))
            seconds = _seconds(request.query.get("timeoutSeconds", "300"))
        except Refusal as refusal:
            return refusal.response()
        await Watch(self._store, target, selector).run(
            request.query.get("resourceVersion", ""), seconds, feed
        )
        return Response(status=OK)

    def _read(self, target: Target, request: Request) -> Response:
        if not target.name:
            return self._list(target, request)
        stored = self._store.get(target.kind, target.namespace, target.name)
        if stored is None:
            raise not_found(target.kind.plural, target.name)
        return _answer(OK, stored)

    def _list(self, target: Target, request: Request) -> Response:
        selector = parse_selector(request.query.get("labelSelector", ""))
        items = [
            stored
            for stored in self._store.all(target.kind, target.namespace)
            if selector(stored["metadata"].get("labels") or {})
        ]
        kind = target.kind
        listed = {
            "apiVersion": kind.api_version,
            "kind": f"{kind.kind}List",
            "metadata": {"resourceVersion": str(self._store.version)},
            "items": items,
        }
        return _answer(OK, listed)

    def _create(self, target: Target, request: Request) -> Response:
        return _answer(CREATED, self._writer.create(target, _body(request)))

    def _patch(self, target: Target, request: Request) -> Response:
        if request.content_type != MERGE_PATCH:
            raise Refusal(415, "UnsupportedMediaType", f"patches are taken as {MERGE_PATCH}")
        return _answer(OK, self._writer.patch(target, _body(request)))

    def _delete(self, target: Target, request: Request) -> Response:
        if target.subresource:
            raise Refusal(405, "MethodNotAllowed", "a subresource cannot be deleted")
        return _answer(OK, self._writer.delete(target, _body(request) if request.body else {}))

    def _collect(self, target: Target) -> None:
        self._writer.delete(target, {})


def _seconds(text: str) -> float:
    if not text.isdecimal():
        raise bad_request(f"timeoutSeconds is a whole number, not {text!r}")
    return float(text)


def _answer(status: int, stored: Object) -> Response:
    return Response(status=status, body=msgspec.json.encode(stored))


def _body(request: Request) -> Object:
    try:
        return msgspec.json.decode(request.body or b"", type=dict)
    except msgspec.MsgspecError as error:
        raise bad_request(f"the body is not a JSON object: {error}") from error

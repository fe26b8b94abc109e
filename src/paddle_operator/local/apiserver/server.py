"""The server: requests in, responses out. The other end of the seam that HTTPS is one end of."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from paddle_operator.kube.transport import MERGE_PATCH, Request, Response
from paddle_operator.local.apiserver.garbage import GarbageCollector
from paddle_operator.local.apiserver.kinds import Kind, Object
from paddle_operator.local.apiserver.refusals import Refusal, bad_request, not_found
from paddle_operator.local.apiserver.routes import Target, find
from paddle_operator.local.apiserver.schema import unknown_fields
from paddle_operator.local.apiserver.selectors import parse_selector
from paddle_operator.local.apiserver.store import HISTORY, Store
from paddle_operator.local.apiserver.watch import Watch, WatchOptions
from paddle_operator.local.apiserver.writes import Writer

OK = 200
CREATED = 201


class ApiServer:
    """A Transport. Lives in one event loop; a request is one step of it."""

    def __init__(
        self,
        kinds: Iterable[Kind],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        history: int = HISTORY,
    ) -> None:
        """`history`: how many changes a watch may lag behind before it must list again."""
        self._kinds = tuple(kinds)
        self._store = Store(history)
        self._writer = Writer(self._store, now)
        GarbageCollector(self._store, self._writer, asyncio.get_running_loop().call_soon)
        self._verbs = {
            "GET": self._read,
            "POST": self._create,
            "PUT": self._replace,
            "PATCH": self._patch,
            "DELETE": self._delete,
        }

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
            options = _watch_options(request.query)
        except Refusal as refusal:
            return refusal.response()
        await Watch(self._store, target, selector).run(options, feed)
        return Response(status=OK)

    def _read(self, target: Target, request: Request) -> Response:
        if not target.name:
            return self._list(target, request)
        stored = self._store.get(target.kind, target.namespace, target.name)
        if stored is None:
            raise not_found(target.kind.plural, target.name)
        return _answer(OK, stored)

    def _list(self, target: Target, request: Request) -> Response:
        return self._listed(target, self._selected(target, request))

    def _selected(self, target: Target, request: Request) -> list[Object]:
        selector = parse_selector(request.query.get("labelSelector", ""))
        everything = self._store.all(target.kind, target.namespace)
        return [stored for stored in everything if selector(stored["metadata"].get("labels") or {})]

    def _listed(self, target: Target, items: list[Object]) -> Response:
        listed = {
            "apiVersion": target.kind.api_version,
            "kind": f"{target.kind.kind}List",
            "metadata": {"resourceVersion": str(self._store.version)},
            "items": items,
        }
        return _answer(OK, listed)

    def _create(self, target: Target, request: Request) -> Response:
        body = _body(request)
        if request.query.get("fieldValidation") == "Strict":
            _check_strictly(target.kind, body)
        return _answer(CREATED, self._writer.create(target, body))

    def _replace(self, target: Target, request: Request) -> Response:
        return _answer(OK, self._writer.replace(target, _body(request)))

    def _patch(self, target: Target, request: Request) -> Response:
        if request.content_type != MERGE_PATCH:
            raise Refusal(415, "UnsupportedMediaType", f"patches are taken as {MERGE_PATCH}")
        return _answer(OK, self._writer.patch(target, _body(request)))

    def _delete(self, target: Target, request: Request) -> Response:
        if target.subresource:
            raise Refusal(405, "MethodNotAllowed", "a subresource cannot be deleted")
        options = _body(request) if request.body else {}
        if target.name:
            return _answer(OK, self._writer.delete(target, options))
        each = [
            Target(target.kind, one["metadata"]["namespace"], one["metadata"]["name"])
            for one in self._selected(target, request)
        ]
        return self._listed(target, [self._writer.delete(one, options) for one in each])


def _watch_options(query: Mapping[str, str]) -> WatchOptions:
    seconds = query.get("timeoutSeconds", "300")
    if not seconds.isdecimal():
        raise bad_request(f"timeoutSeconds is a whole number, not {seconds!r}")
    return WatchOptions(
        version=query.get("resourceVersion", ""),
        seconds=float(seconds),
        bookmarks=query.get("allowWatchBookmarks") == "true",
        initial_events=query.get("sendInitialEvents") == "true",
    )


def _check_strictly(kind: Kind, body: Object) -> None:
    fields = unknown_fields(body, kind.schema) if kind.schema else []
    if fields:
        listed = ", ".join(f'unknown field "{field}"' for field in fields)
        raise bad_request(
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
            f"strict decoding error: {listed}"
        )


def _answer(status: int, stored: Object) -> Response:
    return Response(status=status, body=msgspec.json.encode(stored))


def _body(request: Request) -> Object:
    try:
        return msgspec.json.decode(request.body or b"", type=dict)
    except msgspec.MsgspecError as error:
        raise bad_request(f"the body is not a JSON object: {error}") from error

"""The verbs of the API, each one request. How a request looks is decided in `prepare`, which is pure."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from paddle_operator.kube.errors import error_of
from paddle_operator.kube.resources import Resource
from paddle_operator.kube.transport import JSON, MERGE_PATCH, Request, Response, Transport

Object = dict[str, Any]

WATCH_SECONDS = 300  # the server ends a watch after this time; then it is opened again


def prepare(
    method: str,
    path: str,
    *,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    content_type: str = JSON,
) -> Request:
    """A request value; query entries that are empty are left out."""
    return Request(
        method=method,
        path=path,
        query={key: value for key, value in (query or {}).items() if value},
        body=None if body is None else msgspec.json.encode(body),
        content_type=content_type,
    )


class Client:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        return await self._object(prepare("GET", resource.path(namespace, name)))

    async def create(self, resource: Resource, namespace: str, body: Object) -> Object:
        return await self._object(prepare("POST", resource.path(namespace), body=body))

    async def patch(
        self, resource: Resource, namespace: str, name: str, body: Object, *, subresource: str = ""
    ) -> Object:
        """A JSON merge patch: what is named is changed, `None` removes, lists are replaced whole."""
        path = resource.path(namespace, name, subresource)
        return await self._object(prepare("PATCH", path, body=body, content_type=MERGE_PATCH))

    async def delete(
        self, resource: Resource, namespace: str, name: str, *, uid: str = "", grace: int | None = None
    ) -> None:
        """With `uid` only that very object is deleted, never a later one of its name."""
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        await self._answer(prepare("DELETE", resource.path(namespace, name), body=options))

    async def list(self, resource: Resource, namespace: str, selector: str) -> Response:
        """The undecoded list: only its reader knows which parts of the items it wants."""
        return await self._answer(prepare("GET", resource.path(namespace), query={"labelSelector": selector}))

    async def watch(
        self,
        resource: Resource,
        namespace: str,
        selector: str,
        version: str,
        feed: Callable[[bytes], None],
    ) -> None:
        """From a version on; without one, all there is comes first, and a bookmark says where it ends."""
        everything = {} if version else {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        query = {
            "labelSelector": selector,
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
            **everything,
        }
        request = prepare("GET", resource.path(namespace), query=query)
        response = await self._transport.stream(request, feed)
        if response.status != 200:
            raise error_of(response)

    async def _object(self, request: Request) -> Object:
        answer: Object = msgspec.json.decode((await self._answer(request)).body)
        return answer

    async def _answer(self, request: Request) -> Response:
        response = await self._transport.request(request)
        if response.status >= 300:
            raise error_of(response)
        return response

"""An API server in memory for one test, the objects it is given, and what a watch of it says."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from paddle_operator.kube.cache import Lines
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.resources import PODS, Resource
from paddle_operator.kube.transport import Request, Response
from paddle_operator.local.apiserver.kinds import CONFIG_MAPS, Admission, Kind, accept, pods
from paddle_operator.local.apiserver.server import ApiServer

WIDGETS = Resource("example.org", "v1", "widgets", "Widget")
NS = "ns"
PATIENCE = 10.0  # seconds until what never happens is a failure; nothing waits that long for luck


def widget_kind(admit: Admission = accept) -> Kind:
    return Kind(
        group=WIDGETS.group,
        version=WIDGETS.version,
        plural=WIDGETS.plural,
        kind=WIDGETS.kind,
        has_status=True,
        admit=admit,
    )


@dataclass
class Clock:
    """A date that stands still until told."""

    date: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.date

    def forward(self, seconds: float) -> None:
        self.date += timedelta(seconds=seconds)


class Api:
    """A server with widgets, pods and config maps, its clock, and a client of it."""

    def __init__(self, admit: Admission = accept, *, history: int = 10_000) -> None:
        self.clock = Clock()
        self.server = ApiServer([widget_kind(admit), pods(), CONFIG_MAPS], self.clock, history=history)
        self.client = Client(self.server)

    async def create(self, body: Object, resource: Resource = WIDGETS) -> Object:
        return await self.client.create(resource, NS, body)

    async def get(self, name: str = "a", resource: Resource = WIDGETS) -> Object:
        return await self.client.get(resource, NS, name)

    async def patch(
        self, body: Object, name: str = "a", resource: Resource = WIDGETS, sub: str = ""
    ) -> Object:
        return await self.client.patch(resource, NS, name, body, subresource=sub)

    async def delete(self, name: str = "a", resource: Resource = WIDGETS, **options: Any) -> None:
        await self.client.delete(resource, NS, name, **options)

    async def names(self, resource: Resource = WIDGETS, namespace: str = NS, selector: str = "") -> list[str]:
        return [one["metadata"]["name"] for one in (await self.list(resource, namespace, selector))["items"]]

    async def list(self, resource: Resource = WIDGETS, namespace: str = NS, selector: str = "") -> Object:
        listed: Object = msgspec.json.decode((await self.client.list(resource, namespace, selector)).body)
        return listed

    async def running_pod(self, name: str = "a", **meta: Any) -> Object:
        """A pod that somebody runs: it has a node, and its phase is Running."""
        await self.create(pod(name, **meta), PODS)
        return await self.patch({"status": {"phase": "Running"}}, name, PODS, "status")

    @contextlib.asynccontextmanager
    async def watching(
        self, version: str = "0", resource: Resource = WIDGETS, namespace: str = NS, selector: str = ""
    ) -> AsyncIterator["Events"]:
        events = Events()
        watch = self.client.watch(resource, namespace, selector, version, events.feed)
        task = asyncio.create_task(watch)
        try:
            yield events
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


class Events:
    """What a watch said so far, as (type, object), one after another."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Object] = asyncio.Queue()
        self.feed = Lines(lambda line: self._queue.put_nowait(msgspec.json.decode(line))).feed

    async def next(self) -> tuple[str, Object]:
        async with asyncio.timeout(PATIENCE):
            event = await self._queue.get()
        return event["type"], event["object"]

    async def next_names(self, count: int) -> list[tuple[str, str]]:
        return [(kind, body["metadata"]["name"]) for kind, body in [await self.next() for _ in range(count)]]


@dataclass
class Canned:
    """A transport that notes each request and gives the same answer, then feeds the lines of a stream."""

    answer: Response = field(default_factory=lambda: Response(status=200, body=b"{}"))
    lines: tuple[bytes, ...] = ()
    requests: list[Request] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        self.requests.append(request)
        return self.answer

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        self.requests.append(request)
        for line in self.lines:
            feed(line)
        return self.answer


def widget(name: str = "a", *, size: int = 1, **meta: Any) -> Object:
    return {"metadata": {"name": name, **meta}, "spec": {"size": size}}


def pod(name: str = "a", *, node: str = "n1", **meta: Any) -> Object:
    return {"metadata": {"name": name, **meta}, "spec": {"nodeName": node, "containers": []}}


def config_map(name: str = "a", **meta: Any) -> Object:
    return {"metadata": {"name": name, **meta}, "data": {}}


def owned_by(*owners: Object) -> Object:
    """The metadata of a child: `widget("b", **owned_by(parent))`."""
    references = [{"uid": owner["metadata"]["uid"], "name": owner["metadata"]["name"]} for owner in owners]
    return {"ownerReferences": references}

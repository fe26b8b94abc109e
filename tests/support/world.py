"""A whole cluster in memory and in virtual time: API server, controller, a kubelet that plays."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from paddle_operator.cli.local_cluster import paddle_jobs
from paddle_operator.controllers.observe import PADDLE_JOBS
from paddle_operator.controllers.paddlejob import PaddleJobController
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import NotFound
from paddle_operator.kube.resources import PODS
from paddle_operator.kube.transport import Request, Response, Transport
from paddle_operator.local.apiserver.kinds import CONFIG_MAPS, EVENTS, Cause, Kind, pods
from paddle_operator.local.apiserver.server import ApiServer
from support.kubelet import Behaviour, Kubelet, workers_succeed
from support.virtual_time import now


def bind(pod: Object) -> list[Cause]:
    pod["spec"] = {"nodeName": "n1", **pod["spec"]}
    return []


def any_job() -> Kind:
    """Takes every object, as an old cluster without validation does."""
    return Kind(
        group="batch.paddlepaddle.org", version="v1", plural="paddlejobs", kind="PaddleJob", has_status=True
    )


class Recorder:
    """A transport that notes every write that passes."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.writes: list[Request] = []
        self.reads = 0

    async def request(self, request: Request) -> Response:
        if request.method == "GET":
            self.reads += 1
        else:
            self.writes.append(request)
        return await self._inner.request(request)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        return await self._inner.stream(request, feed)


class World:
    def __init__(
        self, behave: Behaviour = workers_succeed, *, jobs: Kind | None = None, run_for: float = 5.0
    ) -> None:
        self.server = ApiServer([jobs or paddle_jobs(), pods(bind), CONFIG_MAPS, EVENTS], now)
        self.everything = Recorder(self.server)
        self.client = Client(self.everything)
        self._kubelet = Kubelet(Client(self.server), behave, run_for=run_for)
        self._tasks: list[asyncio.Task[None]] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["World"]:
        self._tasks.append(asyncio.create_task(self._kubelet.run()))
        try:
            yield self
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def start_controller(self, transport: Transport | None = None) -> "asyncio.Task[None]":
        controller = PaddleJobController(Client(transport or self.everything), now=now)
        task = asyncio.create_task(controller.run())
        self._tasks.append(task)
        return task

    async def submit(self, document: Object) -> Object:
        return await Client(self.server).create(PADDLE_JOBS, "ns", document)

    async def job(self, name: str = "demo") -> Object:
        return await Client(self.server).get(PADDLE_JOBS, "ns", name)

    async def pod(self, name: str) -> Object | None:
        try:
            return await Client(self.server).get(PODS, "ns", name)
        except NotFound:
            return None

    async def pods(self) -> list[Object]:
        return await self.listed("pods")

    async def listed(self, plural: str) -> list[Object]:
        answer = await self.server.request(Request(method="GET", path=f"/api/v1/{plural}"))
        items: list[Object] = msgspec.json.decode(answer.body)["items"]
        return items

    async def until(self, so: Callable[[], Any], *, most: float = 600.0) -> None:
        """Waits, in virtual time, until the coroutine function answers true."""
        async with asyncio.timeout(most):
            while not await so():  # noqa: ASYNC110 - virtual time, and nobody else is told
                await asyncio.sleep(0.05)

    async def until_settled(self, name: str = "demo") -> Object:
        """The job has ended, nobody in it runs, and its status has not moved for five seconds."""

        async def over() -> bool:
            phase = (await self.job(name)).get("status", {}).get("phase")
            return phase in ("Completed", "Failed") and not any(
                one["status"]["phase"] in ("Pending", "Running") for one in await self.pods()
            )

        await self.until(over)
        await asyncio.sleep(5.0)
        return await self.job(name)

    def created(self) -> Counter[str]:
        """How often an object of each name was created, over the whole history."""
        return Counter(
            change.new["metadata"]["name"]
            for change in self.server._store.since(0)
            if change.old is None and change.new and change.kind.plural == "pods"
        )

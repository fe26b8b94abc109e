"""Our runtime as the controller uses it: its pod cache, and bounded parallel creates."""

import asyncio
from pathlib import Path
from typing import Any

from bench.runtime.account import IN_FLIGHT, Account

from paddle_operator.controllers.caches import pod_cache
from paddle_operator.controllers.observe import Child
from paddle_operator.kube.auth import load_access
from paddle_operator.kube.bulk import Limiter, Work, all_of
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.http import HttpTransport
from paddle_operator.kube.resources import PODS, Resource

NAMESPACES = Resource("", "v1", "namespaces", "Namespace")


class Library:
    stands_on = ("aiohttp", "msgspec")

    def __init__(self, kubeconfig: Path) -> None:
        self._transport = HttpTransport(load_access(kubeconfig=kubeconfig))
        self._client = Client(self._transport)
        self._account: Account | None = None

    async def hello(self) -> None:
        await self._client.get(NAMESPACES, "", "default")

    async def fill(self, namespace: str) -> None:
        self._cache = pod_cache(self._client, namespace, self._changed)
        self._running = asyncio.create_task(self._cache.run())
        await self._cache.synced.wait()

    async def follow(self, account: Account) -> None:
        self._account = account
        await account.over.wait()
        self._running.cancel()

    def _changed(self, _old: Child | None, _new: Child | None) -> None:
        if self._account:
            self._account.event()

    def ready(self) -> int:
        return sum(child.view is not None and child.view.ready for child in self._cache.all())

    def prepare(self, namespace: str, pods: list[Object]) -> list[Work]:
        return [self._work(namespace, pod) for pod in pods]

    def _work(self, namespace: str, pod: Object) -> Work:
        async def work() -> None:
            await self._client.create(PODS, namespace, pod)

        return work

    async def create(self, namespace: str, pods: list[Any]) -> None:
        outcome = await all_of(Limiter(IN_FLIGHT), pods, key=namespace)
        if outcome.failures or outcome.skipped:
            raise ExceptionGroup("not all were created", [*map(RuntimeError, outcome.failures)])

    async def close(self) -> None:
        await self._transport.aclose()

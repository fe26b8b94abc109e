"""lightkube as its examples use it: a list, then a watch from there; its models in a dict."""

import asyncio
from pathlib import Path
from typing import Any

from bench.runtime.account import IN_FLIGHT, Account
from lightkube import AsyncClient, KubeConfig
from lightkube.operators import exists
from lightkube.resources.core_v1 import Namespace, Pod

from paddle_operator.plan.names import RES_NAME

SELECTOR = {RES_NAME: exists()}


class Library:
    stands_on = ("lightkube", "httpx2", "msgspec")

    def __init__(self, kubeconfig: Path) -> None:
        self._client = AsyncClient(KubeConfig.from_file(kubeconfig))
        self._pods: dict[tuple[str, str], Any] = {}

    async def hello(self) -> None:
        await self._client.get(Namespace, "default")

    async def fill(self, namespace: str) -> None:
        self._namespace = namespace
        listed = self._client.list(Pod, namespace=namespace, labels=SELECTOR)
        async for pod in listed:
            self._pods[pod.metadata.namespace, pod.metadata.name] = pod
        self._version = listed.resourceVersion

    async def follow(self, account: Account) -> None:
        events = self._client.watch(
            Pod, namespace=self._namespace, labels=SELECTOR, resource_version=self._version
        )
        async for _, pod in events:
            self._pods[pod.metadata.namespace, pod.metadata.name] = pod
            account.event()
            if account.over.is_set():
                return

    def ready(self) -> int:
        return sum(all(one.ready for one in pod.status.containerStatuses) for pod in self._pods.values())

    def prepare(self, namespace: str, pods: list[dict[str, Any]]) -> list[Any]:  # noqa: ARG002
        return [Pod.from_dict(pod) for pod in pods]

    async def create(self, namespace: str, pods: list[Any]) -> None:
        turn = asyncio.Semaphore(IN_FLIGHT)

        async def one(pod: Any) -> None:
            async with turn:
                await self._client.create(pod, namespace=namespace)

        await asyncio.gather(*map(one, pods))

    async def close(self) -> None:
        await self._client.close()

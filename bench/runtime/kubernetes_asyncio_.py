"""kubernetes-asyncio as its examples use it: a list, then a watch from there; typed models in a dict."""

import asyncio
from pathlib import Path
from typing import Any

from bench.runtime.account import IN_FLIGHT, Account
from kubernetes_asyncio import client, config, watch

from paddle_operator.plan.names import RES_NAME


class Library:
    stands_on = ("kubernetes_asyncio", "aiohttp")

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig
        self._pods: dict[tuple[str, str], Any] = {}

    async def hello(self) -> None:
        await config.load_kube_config(config_file=str(self._kubeconfig))
        self._api = client.ApiClient()
        self._core = client.CoreV1Api(self._api)
        await self._core.read_namespace("default")

    async def fill(self, namespace: str) -> None:
        self._namespace = namespace
        listed = await self._core.list_namespaced_pod(namespace, label_selector=RES_NAME)
        self._version = listed.metadata.resource_version
        for pod in listed.items:
            self._pods[pod.metadata.namespace, pod.metadata.name] = pod

    async def follow(self, account: Account) -> None:
        stream = watch.Watch().stream(
            self._core.list_namespaced_pod,
            self._namespace,
            label_selector=RES_NAME,
            resource_version=self._version,
        )
        async with stream:
            async for event in stream:
                pod = event["object"]
                self._pods[pod.metadata.namespace, pod.metadata.name] = pod
                account.event()
                if account.over.is_set():
                    return

    def ready(self) -> int:
        return sum(all(one.ready for one in pod.status.container_statuses) for pod in self._pods.values())

    def prepare(self, namespace: str, pods: list[dict[str, Any]]) -> list[Any]:  # noqa: ARG002
        return pods

    async def create(self, namespace: str, pods: list[Any]) -> None:
        turn = asyncio.Semaphore(IN_FLIGHT)

        async def one(pod: Any) -> None:
            async with turn:
                await self._core.create_namespaced_pod(namespace, pod)

        await asyncio.gather(*map(one, pods))

    async def close(self) -> None:
        await self._api.close()

"""No library at all: bytes that were made before, on connections that stay open; answers are not decoded.

How fast the server is, and what aiohttp costs a client that does nothing else. It also fills the server and
changes the pods.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from bench.runtime.account import IN_FLIGHT, Account

from paddle_operator.plan.names import RES_NAME

MERGE_PATCH = "application/merge-patch+json"


class Sent(NamedTuple):
    method: str
    path: str
    body: bytes
    content_type: str = "application/json"


class Library:
    stands_on = ("aiohttp",)

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self._session = aiohttp.ClientSession(
            cluster["server"],
            connector=aiohttp.TCPConnector(
                limit=0, ssl=ssl.create_default_context(cafile=cluster["certificate-authority"])
            ),
            headers={"Authorization": f"Bearer {config['users'][0]['user']['token']}"},
        )

    async def hello(self) -> None:
        async with self._session.get("/api/v1/namespaces/default") as answer:
            await answer.read()

    async def fill(self, namespace: str) -> None:
        """The bytes are received, and forgotten."""
        self._pods = f"/api/v1/namespaces/{namespace}/pods?labelSelector={RES_NAME}"
        async with self._session.get(self._pods) as answer:
            version = re.search(rb'"resourceVersion":"(\d+)"', await answer.read())
        assert version, "a list says its version before its items"
        self._version = version[1].decode()

    async def follow(self, account: Account) -> None:
        """The lines are counted."""
        path = f"{self._pods}&watch=true&resourceVersion={self._version}"
        async with self._session.get(path) as answer:
            while not account.over.is_set():
                for _ in range((await answer.content.readany()).count(b"\n")):
                    account.event()

    def ready(self) -> None:
        return None

    def prepare(self, namespace: str, pods: list[dict[str, Any]]) -> list[Sent]:
        path = f"/api/v1/namespaces/{namespace}/pods?fieldManager=paddle-operator"
        return [Sent("POST", path, compact(pod)) for pod in pods]

    async def create(self, namespace: str, pods: list[Sent]) -> None:  # noqa: ARG002 - it is in the paths
        await self.send(pods)

    async def send(self, requests: Iterable[Sent]) -> None:
        left = iter(requests)
        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(self._sender(left))

    async def _sender(self, left: Iterator[Sent]) -> None:
        for one in left:
            headers = {"Content-Type": one.content_type}
            async with self._session.request(one.method, one.path, data=one.body, headers=headers) as answer:
                body = await answer.read()
                if answer.status >= 300:
                    raise RuntimeError(f"{one.method} {one.path}: {answer.status} {body[:500]!r}")

    async def close(self) -> None:
        await self._session.close()


def compact(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()

"""The server of one run, and what stands in it before anything is measured."""

import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from bench.runtime import bare, inputs
from bench.runtime.account import IN_FLIGHT
from bench.runtime.bare import MERGE_PATCH, Sent

from cluster.api import Api
from cluster.control_plane import ControlPlane
from cluster.parts import Programs

NAMESPACE = "bench"


class Cluster:
    """etcd and an API server; nobody else touches the pods."""

    def __init__(self, plane: ControlPlane, client: bare.Library, pods: int) -> None:
        self._plane, self._client, self._pods = plane, client, pods
        self._api: Api = plane.api()
        self._names = [pod["metadata"]["name"] for pod in inputs.pods(pods, NAMESPACE, "kept")]
        self._numbers = itertools.count()
        self._ready = True  # what the next change does not say

    @property
    def kubeconfig(self) -> Path:
        return self._plane.kubeconfig("admin")

    def kubernetes(self) -> str:
        return self._plane.programs.version()

    async def fill(self) -> int:
        """All pods run; how large one is, in bytes."""
        self.namespace(NAMESPACE)
        pods = inputs.pods(self._pods, NAMESPACE, "kept")
        made = (inputs.bound(pod, place) for place, pod in enumerate(pods))
        await self._client.send(self._client.prepare(NAMESPACE, list(made)))
        await self._client.send(self._statuses(self._pods, ready=True))
        return len(self._api.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods/{self._names[-1]}"))

    async def change(self, count: int) -> int:
        """So many pods become ready, or cease to be; how many of all are ready then."""
        self._ready = not self._ready
        await self._client.send(self._statuses(count, ready=self._ready))
        return self._pods if self._ready else self._pods - count

    def _statuses(self, count: int, *, ready: bool) -> Iterator[Sent]:
        for place, name in enumerate(self._names[:count]):
            path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/status?fieldManager=kubelet"
            yield Sent("PATCH", path, inputs.status(place, ready=ready), MERGE_PATCH)

    def to_create(self, count: int) -> tuple[str, Path]:
        """A namespace of their own for pods that are to be created, and the file they are in."""
        name = f"creates-{next(self._numbers)}"
        self.namespace(name)
        file = self._plane.folder / f"{name}.json"
        file.write_text(json.dumps(inputs.pods(count + IN_FLIGHT, name, "made")))
        return name, file

    def namespace(self, name: str) -> None:
        """No controller makes the account without which there are no pods."""
        self._api.create("/api/v1/namespaces", {"metadata": {"name": name}})
        self._api.create(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})


@contextlib.asynccontextmanager
async def running(kubernetes: Path, pods: int) -> AsyncIterator[Cluster]:
    with ControlPlane(Programs(kubernetes), with_controllers=False) as plane:
        client = bare.Library(plane.kubeconfig("admin"))
        try:
            yield Cluster(plane, client, pods)
        finally:
            await client.close()

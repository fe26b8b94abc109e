"""A cluster in this process: API server, controller and runner, put together, and one job sent through it.

Nothing here is a second implementation: these are the parts an operator runs, over another transport.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from paddle_operator.api.crd import crd_v1
from paddle_operator.api.paddlejob import Condition, PaddleJobStatus
from paddle_operator.api.validation import InvalidJobError, stored_job
from paddle_operator.api.words import API_VERSION, KIND
from paddle_operator.controllers.observe import PADDLE_JOBS, Child, JobView, JobWire, PodWire, child, job_view
from paddle_operator.controllers.paddlejob import PaddleJobController
from paddle_operator.kube.cache import Informer
from paddle_operator.kube.client import Client
from paddle_operator.kube.resources import PODS
from paddle_operator.local.apiserver.kinds import CONFIG_MAPS, EVENTS, Cause, Kind, Object, from_crd, pods
from paddle_operator.local.apiserver.server import ApiServer
from paddle_operator.local.runner.addresses import find_base_port
from paddle_operator.local.runner.life import Machine
from paddle_operator.local.runner.node import Node
from paddle_operator.local.runner.pods import Pod
from paddle_operator.plan.model import PodView
from paddle_operator.plan.names import PORT
from paddle_operator.plan.reasons import Reason

NODE = "localhost"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a person wants to know of a job: its status, and its pods."""

    status: PaddleJobStatus
    pods: tuple[PodView, ...]

    @property
    def over(self) -> bool:
        """The job has ended, and so has everybody in it; or it cannot go on, as nobody here will help it."""
        finished = self.status.phase is not None and self.status.phase.finished
        return self.refusal is not None or (finished and all(pod.over for pod in self.pods))

    @property
    def refusal(self) -> Condition | None:
        """What the API server did not take. On a cluster somebody may make room for it."""
        refused = (one for one in self.status.conditions if one.reason == Reason.REFUSED)
        return next(refused, None)


def paddle_jobs() -> Kind:
    """The kind as the CRD defines it; its rules are asked in Python, where a real server evaluates CEL."""
    return from_crd(crd_v1(), _admit_paddlejob)


def _admit_paddlejob(body: Object) -> list[Cause]:
    try:
        stored_job(body)
    except InvalidJobError as error:
        return [Cause(problem.field, problem.message) for problem in error.problems]
    return []


def _bind_to_this_node(pod: Object) -> list[Cause]:
    """There is one node, so there is nothing to schedule; and what it cannot read, nobody can run."""
    pod["spec"] = {"nodeName": NODE, **pod["spec"]}
    try:
        msgspec.convert(pod, Pod)
    except msgspec.ValidationError as error:
        return [Cause("spec", str(error))]
    return []


class LocalCluster:
    def __init__(self, machine_of: Callable[[Client], Machine]) -> None:
        self.client = Client(ApiServer([paddle_jobs(), pods(_bind_to_this_node), CONFIG_MAPS, EVENTS]))
        self._controller = PaddleJobController(self.client)
        self._node = Node(NODE, machine_of(self.client))
        self._news = asyncio.Event()
        self._jobs = Informer(self.client, PADDLE_JOBS, wire=JobWire, project=job_view, on_change=self._hear)
        self._pods = Informer(self.client, PODS, wire=PodWire, project=child, on_change=self._hear)

    async def run(
        self, job: dict[str, Any], show: Callable[[Snapshot], None], stop: asyncio.Event
    ) -> Snapshot:
        """Runs the job to its end, or until `stop` is set; then everything of it is stopped."""
        control = asyncio.create_task(self._controller.run())
        parts = [control, *(asyncio.create_task(part.run()) for part in (self._node, self._jobs, self._pods))]
        follow = asyncio.create_task(self._follow(job, show))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([follow, stopped, *parts], return_when=asyncio.FIRST_COMPLETED)
            for part in parts:
                if part.done():
                    part.result()  # it never returns by itself, so this raises
            if not follow.done():
                await self._wind_up(control)
                return self._snapshot(job)
            return follow.result()
        finally:
            await _cancel([follow, stopped, *parts])

    async def stop_now(self) -> None:
        await self._node.stop_processes(most=0)

    async def _wind_up(self, control: "asyncio.Task[None]") -> None:
        await _cancel([control])  # first, so that nothing new is started
        await self._node.stop_processes(most=30.0)

    async def _follow(self, job: dict[str, Any], show: Callable[[Snapshot], None]) -> Snapshot:
        await self.client.create(PADDLE_JOBS, job["metadata"]["namespace"], job)
        while True:
            self._news.clear()
            snapshot = self._snapshot(job)
            show(snapshot)
            if snapshot.over:
                return snapshot
            await self._news.wait()

    def _snapshot(self, job: dict[str, Any]) -> Snapshot:
        view = self._jobs.get(job["metadata"]["namespace"], job["metadata"]["name"])
        seen = sorted((pod.view for pod in self._pods.all() if pod.view), key=lambda pod: pod.member)
        return Snapshot(view.status if view else PaddleJobStatus(), tuple(seen))

    def _hear(self, _: JobView | Child | None, __: JobView | Child | None) -> None:
        self._news.set()


def prepare_for_this_machine(document: dict[str, Any], rng: random.Random) -> dict[str, Any] | None:
    """The job with a namespace and a base port of its own; None when no port is free.

    What a cluster had written into its metadata stays behind: owners and finalizers of another world.
    """
    port = find_base_port(rng)
    if port is None:
        return None
    meta = document["metadata"]
    ours = {
        "name": meta["name"],
        "namespace": meta.get("namespace") or "default",
        "labels": meta.get("labels") or {},
        "annotations": {**(meta.get("annotations") or {}), PORT: str(port)},
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": ours, "spec": document["spec"]}


async def _cancel(tasks: "list[asyncio.Task[Any]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

"""The node: hears of pods bound to it, and gives each a life (life.py)."""

import asyncio
import logging

from paddle_operator.kube.cache import Informer
from paddle_operator.kube.resources import PODS
from paddle_operator.local.runner.addresses import Addresses
from paddle_operator.local.runner.life import Life, Machine
from paddle_operator.local.runner.pods import Pod

log = logging.getLogger(__name__)


class Node:
    def __init__(self, name: str, machine: Machine) -> None:
        self._name, self._machine = name, machine
        self._addresses = Addresses()
        self._lives: dict[str, tuple[Life, asyncio.Task[None]]] = {}
        self._pods = Informer(
            machine.client, PODS, wire=Pod, project=lambda pod: pod, on_change=self._on_change
        )

    async def run(self) -> None:
        """Runs until cancelled; no process outlives it."""
        try:
            await self._pods.run()
        finally:
            await self._end_all()

    async def stop_processes(self, *, most: float) -> None:
        """SIGTERM to everything, SIGKILL after the grace period; what has not begun does not begin."""
        beginning = [task for life, task in self._lives.values() if life.process is None]
        processes = [life.process for life, _ in self._lives.values() if life.process]
        for task in beginning:
            task.cancel()
        await asyncio.gather(*(process.stop(most) for process in processes))
        if beginning:
            await asyncio.wait(beginning)  # how each of them ended is told by `_over`

    def _on_change(self, old: Pod | None, new: Pod | None) -> None:
        if old and (new is None or new.metadata.uid != old.metadata.uid):
            self._removed(old)
        if new and new.spec.node_name == self._name:
            self._present(new)

    def _present(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        if uid in self._lives:
            self._lives[uid][0].see(pod)
        elif pod.status.phase == "Pending":
            self._begin(pod)

    def _removed(self, pod: Pod) -> None:
        """Gone without waiting for us: what ran for it has no right to run any longer."""
        if pod.metadata.uid in self._lives:
            self._lives[pod.metadata.uid][1].cancel()

    def _begin(self, pod: Pod) -> None:
        ip = self._addresses.take()
        life = Life(pod, ip, self._machine)
        task = asyncio.create_task(life.run())
        self._lives[pod.metadata.uid] = (life, task)
        task.add_done_callback(lambda done: self._over(done, pod, ip))

    def _over(self, task: asyncio.Task[None], pod: Pod, ip: str) -> None:
        self._lives.pop(pod.metadata.uid, None)
        self._addresses.give_back(ip)
        if not task.cancelled() and (error := task.exception()):
            log.error("pod %s: the runner failed", pod.metadata.name, exc_info=error)

    async def _end_all(self) -> None:
        tasks = [task for _, task in self._lives.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

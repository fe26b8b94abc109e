"""A kubelet that plays: gives pods addresses, waits for their ConfigMap as a real one does, lets them end.

Written against the API alone, so that it can stand before any server. What a member does once it runs is told
by `behave` from its name: its exit code, or None to run for ever.
"""

import asyncio
from collections.abc import Callable

from paddle_operator.kube.cache import Informer
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import Conflict, NotFound
from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from paddle_operator.local.runner import report
from paddle_operator.local.runner.pods import Pod
from support.virtual_time import now

Behaviour = Callable[[str], int | None]
LOOK_AGAIN = 10.0
TICK = 1e-6  # below what a sum of floats can tell


def workers_succeed(pod: str) -> int | None:
    return 0 if "-worker-" in pod else None


class Kubelet:
    def __init__(self, client: Client, behave: Behaviour = workers_succeed, *, run_for: float = 5.0) -> None:
        self._client, self._behave, self._run_for = client, behave, run_for
        self._lives: dict[str, asyncio.Task[None]] = {}
        self._seen: dict[str, Pod] = {}
        self._changes: dict[str, asyncio.Event] = {}
        self._pods = Informer(client, PODS, wire=Pod, project=lambda pod: pod, on_change=self._on_change)
        self._next = 1

    async def run(self) -> None:
        try:
            await self._pods.run()
        finally:
            for life in self._lives.values():
                life.cancel()

    def _on_change(self, old: Pod | None, new: Pod | None) -> None:
        if old and (new is None or new.metadata.uid != old.metadata.uid):
            self._lives[old.metadata.uid].cancel()
        if new:
            uid = new.metadata.uid
            self._seen[uid] = new
            self._changes.setdefault(uid, asyncio.Event()).set()
            if uid not in self._lives:
                self._lives[uid] = asyncio.create_task(self._live(uid))

    async def _live(self, uid: str) -> None:
        ip, self._next = f"10.1.0.{self._next}", self._next + 1
        try:
            ending = await self._run_container(uid, ip)
            await self._tell(uid, ending)
            await self._until(uid, lambda pod: pod.metadata.deletion_timestamp is not None)
            await self._remove(uid)
        except (NotFound, Conflict):
            return

    async def _run_container(self, uid: str, ip: str) -> report.Status:
        started = report.timestamp(now())
        while not await self._config_is_there(uid):
            if self._leaving(self._seen[uid]):
                return self._end(uid, ip, started, None)
            waits = "CreateContainerConfigError"
            await self._tell(uid, report.waiting("paddle", ip=ip, started=started, reason=waits))
            await self._pause(uid, LOOK_AGAIN)
        await self._tell(uid, report.running("paddle", ip=ip, started=started, now=now()))
        code = self._behave(self._seen[uid].metadata.name)
        if code is None:
            await self._until(uid, self._leaving)
        else:
            await self._until(uid, self._leaving, most=self._run_for)
        return self._end(uid, ip, started, code)

    def _end(self, uid: str, ip: str, started: str, code: int | None) -> report.Status:
        ended = report.ended(
            "paddle",
            ip=ip,
            started=started,
            now=now(),
            code=137 if code is None else code,
            message="the end\n",
        )
        if self._seen[uid].spec.active_deadline_seconds is not None:
            return report.failed(ended, reason="DeadlineExceeded", message="too long")
        return ended

    @staticmethod
    def _leaving(pod: Pod) -> bool:
        return pod.metadata.deletion_timestamp is not None or pod.spec.active_deadline_seconds is not None

    async def _config_is_there(self, uid: str) -> bool:
        meta = self._seen[uid].metadata
        source = self._seen[uid].main.env_from[-1].config_map_ref
        assert source is not None
        self._changes[uid].clear()
        try:
            await self._client.get(CONFIG_MAPS, meta.namespace, source.name)
        except NotFound:
            return False
        return True

    async def _until(self, uid: str, so: Callable[[Pod], bool], most: float | None = None) -> None:
        loop = asyncio.get_running_loop()
        end = None if most is None else loop.time() + most
        while not so(self._seen[uid]) and (end is None or end - loop.time() > TICK):
            self._changes[uid].clear()
            await self._pause(uid, None if end is None else end - loop.time())

    async def _pause(self, uid: str, seconds: float | None) -> None:
        try:
            await asyncio.wait_for(self._changes[uid].wait(), seconds)
        except TimeoutError:
            return

    async def _tell(self, uid: str, status: report.Status) -> None:
        meta = self._seen[uid].metadata
        body = {"metadata": {"uid": uid}, "status": status}
        await self._client.patch(PODS, meta.namespace, meta.name, body, subresource="status")

    async def _remove(self, uid: str) -> None:
        meta = self._seen[uid].metadata
        await self._client.delete(PODS, meta.namespace, meta.name, uid=uid, grace=0)

"""The life of one pod: an address, its configuration, its process, its end, its removal.

Each stage ends early when the pod is deleted or its deadline passes. What a stage learned is reported before
the next begins, so anybody who watches the pod sees what a kubelet would show.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from paddle_operator.kube.backoff import Backoff
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import Conflict, KubeError, NotFound, TransportError, Unavailable
from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from paddle_operator.local.runner import report
from paddle_operator.local.runner.command import CannotStartError, Command, build_command
from paddle_operator.local.runner.environment import NotReadyError, names_of_config_maps, resolve_env
from paddle_operator.local.runner.image import Image
from paddle_operator.local.runner.pods import ConfigMap, Pod, decode_config_map, unsupported
from paddle_operator.local.runner.process import Process

log = logging.getLogger(__name__)

LOOK_AGAIN = 10.0  # seconds until missing configuration is looked for again, unless the pod changes before
START_ERROR = 128  # the exit code of a container that could not be started


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What all pods of this node share."""

    client: Client
    images: Mapping[str, Image]
    base_env: Mapping[str, str]
    cwd: Path
    log_of: Callable[[Pod], Path]
    now: Callable[[], datetime]
    start: Callable[[Command, Path], Awaitable[Process]] = Process.start


class Life:
    def __init__(self, pod: Pod, ip: str, machine: Machine) -> None:
        self._pod, self._ip, self._machine = pod, ip, machine
        self._started = machine.now()
        self._changed = asyncio.Event()
        self.process: Process | None = None

    def see(self, pod: Pod) -> None:
        """The pod changed; whatever waits looks at it again."""
        self._pod = pod
        self._changed.set()

    async def run(self) -> None:
        try:
            await self._live()
            await self._until(lambda: self._deleted)
            meta = self._pod.metadata
            await self._machine.client.delete(PODS, meta.namespace, meta.name, uid=meta.uid, grace=0)
        except (NotFound, Conflict):
            log.debug("pod %s is gone already", self._pod.metadata.name)
        finally:
            if self.process:
                await self.process.kill()

    async def _live(self) -> None:
        if problem := unsupported(self._pod):
            await self._report(self._not_started(problem))
            return
        await self._report(self._waiting("ContainerCreating"))
        try:
            command = await self._command()
        except CannotStartError as error:
            await self._report(self._not_started(str(error)))
        else:
            await (self._run(command) if command else self._report_end(self._waiting("ContainerCreating")))

    async def _command(self) -> Command | None:
        """Waits for the configuration as a kubelet does; None when the pod must end before it is there."""
        while not self._must_end:
            self._changed.clear()
            try:
                env = await self._env()
            except (NotReadyError, KubeError) as error:
                await self._report(self._waiting("CreateContainerConfigError", str(error)))
                await self._pause(LOOK_AGAIN, self._seconds_left)
                continue
            machine, container = self._machine, self._pod.main
            image = machine.images.get(container.image)
            return build_command(container, image, env, base_env=machine.base_env, cwd=machine.cwd)
        return None

    async def _env(self) -> dict[str, str]:
        found: dict[str, ConfigMap] = {}
        for name in names_of_config_maps(self._pod.main):
            try:
                raw = await self._machine.client.get(CONFIG_MAPS, self._pod.metadata.namespace, name)
            except NotFound:
                continue
            found[name] = decode_config_map(raw)
        env = resolve_env(self._pod, self._pod.main, ip=self._ip, config_maps=found)
        return {"HOSTNAME": self._pod.metadata.name, **env}

    async def _run(self, command: Command) -> None:
        try:
            self.process = process = await self._machine.start(command, self._machine.log_of(self._pod))
        except (OSError, ValueError) as error:  # what the system does not take: too many words, a NUL
            await self._report(self._not_started(f"cannot start {command.argv[0]}: {error}"))
            return
        await self._report(
            report.running(self._name, ip=self._ip, started=self._since, now=self._machine.now())
        )
        code = await self._until_over(process)
        wants_log = self._pod.main.termination_message_policy == "FallbackToLogsOnError"
        await self._report_end(self._ended(code, process.log_end() if code and wants_log else ""))

    async def _until_over(self, process: Process) -> int:
        ending = asyncio.ensure_future(process.wait())
        try:
            while not (ending.done() or self._must_end):
                self._changed.clear()
                await self._pause(self._seconds_left, other=ending)
            return ending.result() if ending.done() else await self._stop(process, ending)
        finally:
            ending.cancel()

    async def _stop(self, process: Process, ending: "asyncio.Future[int]") -> int:
        """SIGTERM, and SIGKILL after the grace period, which a second deletion may make shorter."""
        clock = asyncio.get_running_loop().time
        process.terminate()
        end = clock() + self._grace
        while not ending.done() and clock() < end:
            self._changed.clear()
            await self._pause(end - clock(), other=ending)
            end = min(end, clock() + self._grace)
        return ending.result() if ending.done() else await process.kill()

    async def _until(self, so: Callable[[], bool]) -> None:
        while not so():
            self._changed.clear()
            await self._changed.wait()

    async def _pause(self, *seconds: float | None, other: "asyncio.Future[int] | None" = None) -> None:
        """Until the pod changes, the shortest of the times is over, or the other thing is done."""
        change = asyncio.ensure_future(self._changed.wait())
        try:
            waits: set[asyncio.Future[Any]] = {change, other} if other else {change}
            limit = min((limit for limit in seconds if limit is not None), default=None)
            await asyncio.wait(waits, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()

    @property
    def _name(self) -> str:
        return self._pod.main.name

    @property
    def _since(self) -> str:
        return report.timestamp(self._started)

    @property
    def _deleted(self) -> bool:
        return self._pod.metadata.deletion_timestamp is not None

    @property
    def _seconds_left(self) -> float | None:
        deadline = self._pod.spec.active_deadline_seconds
        if deadline is None:
            return None
        return max(0.0, (self._started + timedelta(seconds=deadline) - self._machine.now()).total_seconds())

    @property
    def _overdue(self) -> bool:
        return self._seconds_left == 0

    @property
    def _must_end(self) -> bool:
        return self._deleted or self._overdue

    @property
    def _grace(self) -> float:
        asked = self._pod.metadata.deletion_grace_period_seconds
        return self._pod.spec.termination_grace_period_seconds if asked is None else asked

    def _waiting(self, reason: str, message: str = "") -> report.Status:
        return report.waiting(self._name, ip=self._ip, started=self._since, reason=reason, message=message)

    def _ended(self, code: int, message: str, reason: str = "") -> report.Status:
        return report.ended(
            self._name,
            ip=self._ip,
            started=self._since,
            now=self._machine.now(),
            code=code,
            message=message,
            reason=reason,
        )

    def _not_started(self, why: str) -> report.Status:
        return self._ended(START_ERROR, why, reason="StartError")

    async def _report_end(self, status: report.Status) -> None:
        if self._overdue and not self._deleted:
            why = "Pod was active on the node longer than the specified deadline"
            status = report.failed(status, reason="DeadlineExceeded", message=why)
        await self._report(status)

    async def _report(self, status: report.Status) -> None:
        """Until the server takes it, as a kubelet does: an end that nobody hears of would hang its job."""
        meta, backoff = self._pod.metadata, Backoff(first=0.1, most=5.0)
        body = {"metadata": {"uid": meta.uid}, "status": status}
        while True:
            try:
                await self._machine.client.patch(PODS, meta.namespace, meta.name, body, subresource="status")
            except (Unavailable, TransportError) as error:
                log.warning("pod %s: status not written: %s", meta.name, error)
                await asyncio.sleep(backoff.next())
            else:
                return

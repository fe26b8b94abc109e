"""The PaddleJob controller: three caches, one queue, some workers, and a reconcile that fits one screen.

A reconcile learns nothing but a key. It reads the caches, lets `plan` decide, acts, and writes status once.
What it does may be interrupted at any await and begun again by another operator with the same result.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import msgspec

from paddle_operator.api.paddlejob import PaddleJobStatus
from paddle_operator.controllers.act import Actor, Owner, RefusedError
from paddle_operator.controllers.caches import config_map_cache, job_cache, pod_cache
from paddle_operator.controllers.observe import PADDLE_JOBS, Child, ConfigMapView, JobKey, JobView
from paddle_operator.controllers.status_writer import StatusWriter
from paddle_operator.kube.bulk import Limiter
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import KubeError, NotFound
from paddle_operator.kube.events import EventRecorder, Subject
from paddle_operator.kube.expectations import Expectations
from paddle_operator.kube.queue import Priority, Queue
from paddle_operator.plan import status as say
from paddle_operator.plan.model import Job, Notice, Observed, Plan, PodView
from paddle_operator.plan.names import config_map_name
from paddle_operator.plan.planner import make_plan
from paddle_operator.plan.translate import from_paddlejob

log = logging.getLogger(__name__)

WORKERS = 32
COMPONENT = "paddlejob-controller"


class PaddleJobController:
    def __init__(
        self,
        client: Client,
        *,
        namespace: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        clock = asyncio.get_running_loop().time
        self._now = now
        self._queue: Queue[JobKey] = Queue()
        self._expect = Expectations(clock)
        self._writer = StatusWriter(client, clock)
        self._actor = Actor(client, self._expect, Limiter())
        self._events = EventRecorder(client, component=COMPONENT, now=now, clock=clock)
        self._keys: dict[str, JobKey] = {}  # uid -> key, to find the job of a pod
        self._jobs = job_cache(client, namespace, self._job_changed)
        self._pods = pod_cache(client, namespace, self._pod_changed)
        self._configs = config_map_cache(client, namespace, self._config_changed)

    async def run(self) -> None:
        """Runs until cancelled."""
        informers = (self._jobs, self._pods, self._configs)
        try:
            async with self._events, asyncio.TaskGroup() as group:
                for informer in informers:
                    group.create_task(informer.run())
                for informer in informers:
                    await informer.synced.wait()
                for _ in range(WORKERS):
                    group.create_task(self._work())
        finally:
            self._queue.close()

    async def reconcile(self, key: JobKey) -> None:
        """Observe, plan, act, write status once."""
        view = self._jobs.get(*key)
        if view is None:
            return
        plan = self._plan(view)
        failures = await self._actor.act(plan, Owner(view.namespace, view.uid))
        wait = await self._write(view, self._with_refusals(plan, view, failures))
        if wait is None:
            self._tell(view, plan.notices)
        self._look_again(key, plan.look_again, wait)
        _raise_first(failures)

    def _tell(self, view: JobView, notices: Iterable[Notice]) -> None:
        subject = Subject(
            api_version=PADDLE_JOBS.api_version,
            kind=PADDLE_JOBS.kind,
            namespace=view.namespace,
            name=view.name,
            uid=view.uid,
        )
        for notice in notices:
            self._events.record(subject, kind=notice.type, reason=notice.reason, message=notice.message)

    def _plan(self, view: JobView) -> Plan:
        current = self._writer.current(view)
        pods = self._pods_of(view)
        if view.job is None:
            return self._plan_for_invalid(view, pods)
        job = from_paddlejob(msgspec.structs.replace(view.job, status=current))
        return make_plan(job, self._observe(job, pods), self._now())

    def _plan_for_invalid(self, view: JobView, pods: Iterable[PodView]) -> Plan:
        message = "; ".join(str(problem) for problem in view.problems)
        status = say.invalid(
            self._writer.current(view), message=message, generation=view.generation, now=self._now()
        )
        live = tuple(pod for pod in pods if not pod.over and not pod.deleting)
        return Plan(status=status, delete_pods=live)

    def _observe(self, job: Job, pods: Iterable[PodView]) -> Observed:
        members, name = set(job.members()), config_map_name(job.name)
        config, creating = self._configs.get(job.namespace, name), self._expect.creating(job.uid)
        return Observed(
            pods={pod.member: pod for pod in pods if pod.member in members},
            config_map=name in creating or (config is not None and config.owner == job.uid),
            creating=creating,
            removing=self._expect.removing(job.uid),
        )

    def _pods_of(self, view: JobView) -> list[PodView]:
        return [pod.view for pod in self._pods.by("owner", view.uid) if pod.view]

    def _with_refusals(self, plan: Plan, view: JobView, failures: list[BaseException]) -> PaddleJobStatus:
        refused = [str(failure) for failure in failures if isinstance(failure, RefusedError)]
        if not refused:
            return plan.status
        return say.with_problem(plan.status, message=refused[0], generation=view.generation, now=self._now())

    async def _write(self, view: JobView, status: PaddleJobStatus) -> float | None:
        try:
            return await self._writer.write(view, status)
        except NotFound:  # the job is gone; its deletion is on its way to the cache
            return None

    def _look_again(self, key: JobKey, *delays: float | None) -> None:
        for delay in delays:
            if delay is not None:
                self._queue.add_after(key, delay)

    async def _work(self) -> None:
        while True:
            key = await self._queue.get()
            try:
                await self._reconcile_safely(key)
            finally:
                self._queue.done(key)

    async def _reconcile_safely(self, key: JobKey) -> None:
        """A failure here, of whatever kind, is this job's alone."""
        try:
            await self.reconcile(key)
        except (KubeError, RefusedError) as error:
            log.warning("%s/%s: %s; again in %.2f s", *key, error, self._queue.retry(key))
        except Exception:
            log.exception("%s/%s: an error of ours; again in %.2f s", *key, self._queue.retry(key))
        else:
            self._queue.forget(key)

    def _job_changed(self, old: JobView | None, new: JobView | None) -> None:
        if old and (new is None or new.uid != old.uid):
            self._keys.pop(old.uid, None)
            self._expect.forget(old.uid)
            self._writer.forget(old.uid)
        if new:
            self._keys[new.uid] = new.key
            self._queue.add(new.key, Priority.CHANGE if self._jobs.synced.is_set() else Priority.RESYNC)

    def _pod_changed(self, old: Child | None, new: Child | None) -> None:
        if old and (new is None or new.uid != old.uid):
            self._expect.vanished(old.owner, old.uid)
            self._owner_changed(old.owner, Priority.ENDING)
        if new:
            self._expect.appeared(new.owner, new.name)
            over = new.view is not None and new.view.over
            self._owner_changed(new.owner, Priority.ENDING if over else Priority.PROGRESS)

    def _config_changed(self, old: ConfigMapView | None, new: ConfigMapView | None) -> None:
        if new:
            self._expect.appeared(new.owner, new.name)
        for value in (old, new):
            if value:
                self._owner_changed(value.owner, Priority.PROGRESS)

    def _owner_changed(self, owner: str, priority: Priority) -> None:
        with contextlib.suppress(KeyError):  # no job of ours, or one whose arrival will look at everything
            self._queue.add(self._keys[owner], priority)


def _raise_first(failures: list[BaseException]) -> None:
    if failures:
        raise failures[0]

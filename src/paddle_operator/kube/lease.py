"""Leader election by a Lease: of many processes one leads, and only while it leads may it write.

Nobody compares two clocks. The holder renews its record, and counts its time from the moment it *sent* the
last renewal that succeeded: `may_write` is true for `renew` seconds from then. The others count, each on its
own monotonic clock, from the moment they first *saw* the present record, which is later: after `duration`
seconds without a change one of them takes over. What lies between the two (5 s) is for requests under way and
for clocks of different speeds. A process that was stopped finds its time over when it wakes, before it can
write. (A clock that stands still while the machine sleeps cannot say so; where machines sleep, hand in one
that counts it, such as CLOCK_BOOTTIME.)

Every write carries the resourceVersion of the record it replaces, so of two who try the server takes one, and
a renewal that was long under way cannot undo a takeover. A write without an answer counts as failed; if it
was done after all, the next one is refused as a Conflict, and a look tells whose the Lease is.
"""

import asyncio
import contextlib
import logging
import math
import platform
import random
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import Conflict, KubeError, NotFound, TransportError
from paddle_operator.kube.objects import ObjectMeta, Wire
from paddle_operator.kube.resources import LEASES
from paddle_operator.kube.transport import Request, Response, Transport

log = logging.getLogger(__name__)

NEVER = -math.inf
FAILURES = (KubeError, TimeoutError, msgspec.MsgspecError)  # of one try; the next may succeed
MICRO_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
SHORTEST_WAIT = 0.01  # seconds: the sum of two floats may fall short of the moment that was meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    duration: int = 15  # seconds the others wait after a record's last change
    renew: float = 10.0  # seconds a holder may write after its last renewal
    retry: float = 2.0  # seconds between two tries

    def __post_init__(self) -> None:
        if not 0 < 2 * self.retry < self.renew < self.duration:
            raise ValueError(f"{self}: a retry or two must fit into renew, and renew into duration")


class _Record(Wire, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(Wire, frozen=True):
    metadata: ObjectMeta
    spec: _Record = _Record()


class Lease:
    def __init__(  # noqa: PLR0913 - the last four are what tests and odd clusters want otherwise
        self,
        client: Client,  # of its own, so that renewals wait for nobody
        *,
        namespace: str,
        name: str,
        identity: str = "",  # of this process alone
        times: Times | None = None,
        clock: Callable[[], float] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._client, self._namespace, self._name = client, namespace, name
        self.identity = identity or f"{platform.node()}_{uuid.uuid4()}"
        self._times = times or Times()
        self._clock = clock or asyncio.get_running_loop().time
        self._now, self._uniform = now, uniform
        self._until = NEVER  # when our right to write ends
        self._record = _Record()  # as last seen
        self._version = ""  # of the Lease as last seen; none when there is no Lease
        self._expires = NEVER  # when the record counts as left behind, if it does not change

    def may_write(self) -> bool:
        """To be asked before each write, with no await between."""
        return self._clock() < self._until

    async def run(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Campaigns until cancelled, and runs `lead` while elected; when that ends by itself, so does this.

        When the lease is lost `lead` is cancelled, and begun anew with the next election. At the end it is
        cancelled too, and may take its time: the lease is renewed meanwhile, and only then given up.
        """
        try:
            while True:
                await self._try()
                await self._try_while(leading=False)
                if await self._reign(lead):
                    return
        finally:
            await self._release()

    async def _reign(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Whether `lead` ended by itself."""
        log.info("%s: %s leads", self._name, self.identity)
        leading, keeping = asyncio.create_task(lead()), asyncio.create_task(self._try_while(leading=True))
        try:
            await asyncio.wait((leading, keeping), return_when=asyncio.FIRST_COMPLETED)
            by_itself = leading.done()
        finally:
            try:
                await _end(leading)
            finally:  # even if whoever waits is out of patience
                await _end(keeping)
        for task in (keeping, leading):
            if not task.cancelled():
                task.result()
        return by_itself

    async def _try_while(self, *, leading: bool) -> None:
        """A leader renews until the lease is lost, or can no longer be known to be its own."""
        while self.may_write() is leading:
            await asyncio.sleep(self._pause())
            await self._try()

    def _pause(self) -> float:
        """One retry period at most, and never past the moment at which the lease may be taken."""
        pause = self._times.retry * self._uniform(0.8, 1.0)
        left = self._expires - self._clock()
        return min(pause, max(left, SHORTEST_WAIT)) if left > 0 else pause

    async def _try(self) -> None:
        try:
            async with asyncio.timeout(self._times.renew / 3):  # one hang must not cost the lease
                await self._claim_or_look()
        except Conflict:
            log.info("%s: another was faster", self._name)
        except FAILURES as error:
            log.warning("%s: %s", self._name, str(error) or "no answer in time")

    async def _claim_or_look(self) -> None:
        with contextlib.suppress(Conflict, NotFound):
            if self._is_ours() and self._version:  # nobody else writes it now: no need to look
                return await self._claim()
        await self._look()
        return await self._claim() if self._is_free() else None

    async def _look(self) -> None:
        try:
            self._see(await self._client.get(LEASES, self._namespace, self._name))
        except NotFound:
            # Whoever held it may still write, and what was seen of it still counts. We stop, if it was us.
            self._version, self._until = "", NEVER

    async def _claim(self) -> None:
        """Acquires or renews; our time counts from before the request, the others' from after it."""
        began = self._clock()
        self._see(await self._write(self._next_record()))
        self._until = began + self._times.renew

    async def _write(self, spec: Object) -> Object:
        if not self._version:
            body = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": {"name": self._name}}
            return await self._client.create(LEASES, self._namespace, {**body, "spec": spec})
        patch = {"metadata": {"resourceVersion": self._version}, "spec": spec}
        return await self._client.patch(LEASES, self._namespace, self._name, patch)

    def _see(self, answer: Object) -> None:
        lease = msgspec.convert(answer, _Lease)
        self._version = lease.metadata.resource_version
        if lease.spec != self._record:
            self._record = lease.spec
            self._expires = self._clock() + (lease.spec.lease_duration_seconds or self._times.duration)
        if not self._is_ours():
            self._until = NEVER

    def _is_ours(self) -> bool:
        return self._record.holder_identity == self.identity

    def _is_free(self) -> bool:
        return not self._record.holder_identity or self._is_ours() or self._clock() >= self._expires

    def _next_record(self) -> Object:
        stamp, before = self._stamp(), self._record
        kept = self._is_ours() and self._version
        changes = before.lease_transitions or 0
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self._times.duration,
            "acquireTime": before.acquire_time if kept else stamp,
            "renewTime": stamp,
            "leaseTransitions": 0 if not self._version else changes if kept else changes + 1,
        }

    def _stamp(self) -> str:
        """Another each time, though the date may stand still: nobody sees a renewal that changes nothing."""
        date = self._now().astimezone(UTC)
        if date.strftime(MICRO_TIME) == self._record.renew_time:
            date += timedelta(microseconds=1)
        return date.strftime(MICRO_TIME)

    async def _release(self) -> None:
        """So that the next need not wait for it to expire. If this fails, it does expire."""
        self._until = NEVER
        with contextlib.suppress(*FAILURES):
            async with asyncio.timeout(self._times.retry):
                await self._give_up()

    async def _give_up(self) -> None:
        await self._look()  # a renewal that was cut off may have been done
        while self._version and self._is_ours():
            times = dict.fromkeys(("acquireTime", "renewTime"), self._stamp())
            with contextlib.suppress(Conflict):
                await self._write({"holderIdentity": "", "leaseDurationSeconds": 1, **times})
            await self._look()


class NotLeadingError(TransportError):
    """The write was not sent."""


class Gated:
    """A transport whose writes ask first, whoever sends them and however long they waited for their turn."""

    def __init__(self, inner: Transport, may_write: Callable[[], bool]) -> None:
        self._inner, self._may_write = inner, may_write

    async def request(self, request: Request) -> Response:
        if request.method != "GET" and not self._may_write():
            raise NotLeadingError(f"{request.method} {request.path} was not sent: this process does not lead")
        return await self._inner.request(request)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        return await self._inner.stream(request, feed)


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait((task,))

"""Events: what people read with `kubectl describe`. They are worth a request, but never an error or a delay.

`record` notes and returns. The same event, said again within ten minutes, is one object whose count grows;
what is said again before it was sent costs one request, not two. Each object may cause a burst of requests
and then one every five minutes, so that a job that fails in a loop cannot flood the cluster; beyond that an
event is counted, and sent when the same is said again and a request is allowed. One task sends, in order,
under names of our own choice and with absolute counts: to send twice what had no answer does no harm.
"""

import asyncio
import contextlib
import logging
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Self, TypeVar

from paddle_operator.kube.backoff import Backoff
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import AlreadyExists, KubeError, NotFound, TransportError, Unavailable
from paddle_operator.kube.resources import EVENTS

log = logging.getLogger(__name__)

SAME = 600.0  # seconds within which the same event is one object
BURST, REFILL = 25, 300.0  # requests for one object: so many at once, then one in so many seconds
LONGEST_MESSAGE = 1024  # what the API takes
LONGEST_NAME = 253
REMEMBERED = 4096  # events, and objects, of which something is known
WAITING = 1000  # events to be sent
TRIES = 5
FLUSH = 5.0  # seconds at the end
COMPLAIN = 60.0  # seconds between two log lines about it

Type = Literal["Normal", "Warning"]
Said = tuple[str, Type, str, str]  # uid, type, reason, message: what makes two events the same
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The object an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str

    @property
    def home(self) -> str:
        return self.namespace or "default"  # where its events live

    def reference(self) -> Object:
        fields = {"apiVersion": self.api_version, "kind": self.kind, "namespace": self.namespace}
        return {**fields, "name": self.name, "uid": self.uid}


@dataclass(slots=True)
class _Series:
    """One Event object, and how often the same was said."""

    said: Said
    subject: Subject
    first: datetime
    name: str
    last: datetime
    at: float  # the same as `last`, by the clock that nobody sets
    count: int = 0
    created: bool = False


class EventRecorder:
    """Sends from `async with EventRecorder(...) as events:` on, and at its end for a few seconds more."""

    def __init__(
        self,
        client: Client,
        *,
        component: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._client, self._component, self._now = client, component, now
        self._clock = clock or asyncio.get_running_loop().time
        self._known: OrderedDict[Said, _Series] = OrderedDict()  # the longest silent first
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()  # by uid, likewise
        self._waiting: dict[Said, _Series] = {}
        self._wake = asyncio.Event()
        self._complaints = _Complaints(self._clock)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        await asyncio.wait((self._task,))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FLUSH):
                await self._flush()
        if self._waiting:
            log.warning("%d events were not sent before the end", len(self._waiting))

    def record(self, subject: Subject, *, kind: Type, reason: str, message: str) -> None:
        """Notes it and returns; from within the event loop."""
        cut = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
        series = self._series((subject.uid, kind, reason, cut), subject)
        series.count, series.last, series.at = series.count + 1, self._now(), self._clock()
        self._request(series)

    def _series(self, said: Said, subject: Subject) -> _Series:
        series = self._waiting.get(said) or self._known.get(said)
        now, at = self._now(), self._clock()
        if series is None or (said not in self._waiting and at - series.at > SAME):
            stem = subject.name[: LONGEST_NAME - 17].rstrip("-.")
            series = _Series(said, subject, now, f"{stem}.{uuid.uuid4().hex[:16]}", last=now, at=at)
        _remember(self._known, said, series)
        return series

    def _request(self, series: _Series) -> None:
        """Makes it wait to be sent, if it does not yet and if its object may cause another request."""
        if series.said in self._waiting:
            return
        bucket = self._buckets.get(series.subject.uid) or _Bucket(self._clock)
        _remember(self._buckets, series.subject.uid, bucket)
        if len(self._waiting) >= WAITING:
            self._complaints.about("too many wait to be sent")
        elif bucket.take():
            self._waiting[series.said] = series
            self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._flush()

    async def _flush(self) -> None:
        """One after another. What is being sent keeps its place, for it may be interrupted."""
        while self._waiting:
            series = next(iter(self._waiting.values()))
            sent = await self._send_safely(series)
            del self._waiting[series.said]
            if series.count > sent:
                self._request(series)  # it was said again meanwhile

    async def _send_safely(self, series: _Series) -> int:
        """Whatever goes wrong is written down, and no more. Returns the count that was sent."""
        count = series.count
        try:
            count = await self._send_patiently(series)
        except KubeError as error:
            self._complaints.about(str(error))
        except Exception:
            log.exception("an event could not be sent: an error of ours")
        return count

    async def _send_patiently(self, series: _Series) -> int:
        backoff = Backoff(first=1.0, most=30.0)
        for _ in range(TRIES - 1):
            try:
                return await self._send(series)
            except Unavailable as error:
                await asyncio.sleep(error.retry_after or backoff.next())
            except TransportError:
                await asyncio.sleep(backoff.next())
        return await self._send(series)

    async def _send(self, series: _Series) -> int:
        count = series.count
        if not series.created:
            with contextlib.suppress(AlreadyExists):  # a try before this one, whose answer was lost: count it
                return await self._create(series)
            series.created = True
        patch = {"count": count, "lastTimestamp": _timestamp(series.last)}
        try:
            await self._client.patch(EVENTS, series.subject.home, series.name, patch)
        except NotFound:  # servers forget events, after an hour as a rule
            return await self._create(series)
        return count

    async def _create(self, series: _Series) -> int:
        count = series.count
        await self._client.create(EVENTS, series.subject.home, self._body(series))
        series.created = True
        return count

    def _body(self, series: _Series) -> Object:
        _, kind, reason, message = series.said
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": series.name},
            "involvedObject": series.subject.reference(),
            "type": kind,
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": _timestamp(series.first),
            "lastTimestamp": _timestamp(series.last),
            "count": series.count,
        }


class _Bucket:
    """Tokens: full at first, and refilled slowly."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._at, self._tokens = clock, clock(), float(BURST)

    def take(self) -> bool:
        now = self._clock()
        self._tokens = min(self._tokens + (now - self._at) / REFILL, BURST)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class _Complaints:
    """One line in a while, which says how many it stands for."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._next, self._silent = clock, clock(), 0

    def about(self, problem: str) -> None:
        if self._clock() < self._next:
            self._silent += 1
            return
        log.warning("an event was lost: %s (and %d before it)", problem, self._silent)
        self._next, self._silent = self._clock() + COMPLAIN, 0


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)


def _timestamp(date: datetime) -> str:
    return date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

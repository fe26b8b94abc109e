"""The watch cache: what the server has, in memory, as small flat values.

One `Informer` for each kind and label selector. Its watch begins with everything there is and goes on from
there; a server too old for that is asked for a list first. When the server says 410 it begins anew, comparing
with what it holds, so that a deletion nobody told it of is still announced.
`project` keeps the few fields somebody reads; a change that touches none of them ends here in silence.
resourceVersions are compared for equality only: their order is the server's business.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec

from paddle_operator.kube.backoff import Backoff
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import Gone, Invalid, KubeError, Status, error_from
from paddle_operator.kube.objects import ObjectMeta
from paddle_operator.kube.resources import Resource

log = logging.getLogger(__name__)

Key = tuple[str, str]

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
LASTED = 1.0  # seconds after which a watch that said nothing may end without being suspicious


class HasMeta(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


W = TypeVar("W", bound=HasMeta)  # the wire type
V = TypeVar("V")  # the value that is kept


class _Place(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    annotations: Any = {}


class _Placed(msgspec.Struct):
    """Where an object belongs, read apart from the rest: it is known even of one that cannot be read."""

    metadata: _Place


class _List(msgspec.Struct):
    metadata: _Place
    items: list[msgspec.Raw] = []


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Change(msgspec.Struct, Generic[W], gc=False):
    """An event whose object is one."""

    type: str
    object: W


_CHANGES = frozenset(("ADDED", "MODIFIED", "DELETED"))
_LISTS = msgspec.json.Decoder(_List)
_EVENTS = msgspec.json.Decoder(_Event)
_STATUS = msgspec.json.Decoder(Status)
_PLACED = msgspec.json.Decoder(_Placed)


class Informer(Generic[W, V]):
    """`wire` is decoded, `project` makes the value that is kept and compared, `on_change` hears of it."""

    def __init__(  # noqa: PLR0913 - each says another thing about the same cache
        self,
        client: Client,
        resource: Resource,
        *,
        wire: type[W],
        project: Callable[[W], V],
        on_change: Callable[[V | None, V | None], None],
        namespace: str = "",
        selector: str = "",
        indexes: Mapping[str, Callable[[V], Hashable]] | None = None,
    ) -> None:
        self._client, self._resource = client, resource
        self._namespace, self._selector = namespace, selector
        self._decoder = msgspec.json.Decoder(wire)
        kind: Any = _Change[wire]  # type: ignore[valid-type] # a type made at run time
        self._events: msgspec.json.Decoder[_Change[W]] = msgspec.json.Decoder(kind)
        self._project, self._on_change = project, on_change
        self._values: dict[Key, V] = {}
        self._by = {
            name: (function, cast("dict[Hashable, set[Key]]", {}))
            for name, function in (indexes or {}).items()
        }
        self._version = ""
        self._heard = False  # anything on the present watch
        self._streams_lists = True  # as far as we know
        self._initial: set[Key] | None = None  # what the present watch began with, until all is told
        self._backoff = Backoff(first=0.2, most=30.0)
        self.synced = asyncio.Event()

    def get(self, namespace: str, name: str) -> V | None:
        return self._values.get((namespace, name))

    def all(self) -> Collection[V]:
        return self._values.values()

    def by(self, index: str, value: Hashable) -> list[V]:
        return [self._values[key] for key in self._by[index][1].get(value, ())]

    async def run(self) -> None:
        while True:
            await self._step()

    async def _step(self) -> None:
        """One list where needed, then one watch to its end, however it ends."""
        began, self._heard = asyncio.get_running_loop().time(), False
        problem = await self._list_and_watch()
        lasted = asyncio.get_running_loop().time() - began >= LASTED
        if self._heard or (lasted and not problem):
            self._backoff.reset()
        elif not problem:
            problem = "the watch ended at once"
        if problem:
            delay = self._backoff.next()
            log.warning("%s: %s; again in %.1f s", self._resource.plural, problem, delay)
            await asyncio.sleep(delay)

    async def _list_and_watch(self) -> str:
        """What went wrong, or nothing."""
        try:
            if not self._version and not self._streams_lists:
                await self._relist()
            await self._watch()
        except Invalid as error:
            if self._version or not self._streams_lists:
                return str(error)
            self._streams_lists = False  # an older server; this is no failure, but the first answer
            self._heard = True
        except (Gone, msgspec.MsgspecError) as error:
            self._version = ""  # what was missed, or could not be read, only a list can tell
            return str(error)
        except KubeError as error:
            return str(error)
        return ""

    async def _relist(self) -> None:
        response = await self._client.list(self._resource, self._namespace, self._selector)
        listed = _LISTS.decode(response.body)
        self._initial = set()
        for raw in listed.items:
            self._take(raw)
        self._settle(self._initial, listed.metadata.resource_version)

    def _settle(self, present: set[Key], version: str) -> None:
        """Everything there is has been told; what was not, is gone."""
        for key in self._values.keys() - present:
            self._remove(key)
        self._initial, self._version = None, version
        self.synced.set()

    async def _watch(self) -> None:
        self._initial = None if self._version else set()
        lines = Lines(self._on_line)
        await self._client.watch(self._resource, self._namespace, self._selector, self._version, lines.feed)

    def _on_line(self, line: bytes) -> None:
        """Decoded once, straight into the wire type; what that does not fit is looked at piece by piece."""
        self._heard = True
        try:
            event = self._events.decode(line)
        except msgspec.ValidationError:
            self._on_odd(line)
            return
        if event.type not in _CHANGES:
            self._on_odd(line)
            return
        meta = event.object.metadata
        if event.type == "DELETED":
            self._forget((meta.namespace, meta.name))
        else:
            self._keep((meta.namespace, meta.name), event.object)
        self._passed(meta.resource_version)

    def _on_odd(self, line: bytes) -> None:
        event = _EVENTS.decode(line)
        if event.type == "ERROR":
            self._heard = False
            status = _STATUS.decode(event.object)
            raise error_from(status, status.code)
        meta = _PLACED.decode(event.object).metadata
        if event.type == "DELETED":
            self._forget((meta.namespace, meta.name))
        elif event.type != "BOOKMARK":
            self._take(event.object)
        elif self._initial is not None and INITIAL_EVENTS_END in (meta.annotations or {}):
            self._settle(self._initial, meta.resource_version)
        self._passed(meta.resource_version)

    def _passed(self, version: str) -> None:
        """Versions on the way through the beginning do not count: a watch that breaks there begins again."""
        if self._initial is None:
            self._version = version

    def _take(self, raw: msgspec.Raw) -> None:
        try:
            wire = self._decoder.decode(raw)
        except msgspec.ValidationError:
            # One unreadable object must not stop the others; what was known of it stays.
            meta = _PLACED.decode(raw).metadata
            log.exception("%s %s/%s cannot be read", self._resource.kind, meta.namespace, meta.name)
            self._present((meta.namespace, meta.name))
        else:
            self._keep((wire.metadata.namespace, wire.metadata.name), wire)

    def _present(self, key: Key) -> None:
        if self._initial is not None:
            self._initial.add(key)

    def _keep(self, key: Key, wire: W) -> None:
        self._present(key)
        try:
            value = self._project(wire)
        except Exception:  # whatever a reader stumbles over, it is this object's alone
            log.exception("%s %s/%s cannot be understood", self._resource.kind, *key)
            return
        old = self._values.get(key)
        self._values[key] = value
        self._reindex(key, old, value)
        if old != value:
            self._on_change(old, value)

    def _forget(self, key: Key) -> None:
        if self._initial is not None:
            self._initial.discard(key)
        self._remove(key)

    def _remove(self, key: Key) -> None:
        old = self._values.pop(key, None)
        if old is not None:
            self._reindex(key, old, None)
            self._on_change(old, None)

    def _reindex(self, key: Key, old: V | None, new: V | None) -> None:
        for function, index in self._by.values():
            if old is not None:
                _discard(index, function(old), key)
            if new is not None:
                index.setdefault(function(new), set()).add(key)


def _discard(index: dict[Hashable, set[Key]], value: Hashable, key: Key) -> None:
    keys = index.get(value, set())
    keys.discard(key)
    if not keys:
        index.pop(value, None)


class Lines:
    """Cuts a stream of bytes into its lines; a line may come in pieces."""

    def __init__(self, on_line: Callable[[bytes], Any]) -> None:
        self._on_line, self._rest = on_line, b""

    def feed(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                self._on_line(line)

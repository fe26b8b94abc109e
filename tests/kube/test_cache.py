"""The watch cache shows what the server has, says every change once, and survives whatever cuts it off."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
import pytest

from paddle_operator.kube.cache import Informer, Lines
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.objects import ObjectMeta, OwnerReference
from paddle_operator.kube.transport import Request, Response, Transport
from support import virtual_time
from support.api import NS, PATIENCE, WIDGETS, Api, widget
from support.faults import Fault, Faulty
from support.widgets import View, WidgetWire, view


class Cache:
    """An informer of widgets, and what it said."""

    def __init__(self, transport: Transport, *, namespace: str = "", selector: str = "") -> None:
        self.said: list[tuple[View | None, View | None]] = []
        self._news = asyncio.Event()
        self.informer = Informer(
            Client(transport),
            WIDGETS,
            wire=WidgetWire,
            project=view,
            on_change=self._hear,
            namespace=namespace,
            selector=selector,
            indexes={"size": lambda one: one.size, "even": lambda one: one.size % 2 == 0},
        )

    def _hear(self, old: View | None, new: View | None) -> None:
        self.said.append((old, new))
        self._news.set()

    @property
    def sizes(self) -> dict[str, int]:
        return {one.name: one.size for one in self.informer.all()}

    @property
    def steps(self) -> list[tuple[int | None, int | None]]:
        """What was said, as sizes before and after."""
        return [(old.size if old else None, new.size if new else None) for old, new in self.said]

    async def until(self, so: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not so():
                self._news.clear()
                await self._news.wait()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Cache"]:
        task = asyncio.create_task(self.informer.run())
        synced = asyncio.create_task(self.informer.synced.wait())
        try:
            await asyncio.wait([task, synced], return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
            if task.done():
                task.result()
            assert self.informer.synced.is_set()
            yield self
            if task.done():
                task.result()
        finally:
            synced.cancel()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.asyncio
async def test_what_is_there_before_is_listed_and_said() -> None:
    api = Api()
    await api.create(widget("a", size=1))
    await api.create(widget("b", size=2))
    async with Cache(api.server).running() as cache:
        assert cache.sizes == {"a": 1, "b": 2}
        assert cache.steps == [(None, 1), (None, 2)]


@pytest.mark.asyncio
async def test_what_happens_after_is_watched_and_said() -> None:
    api = Api()
    async with Cache(api.server).running() as cache:
        await api.create(widget(size=1))
        await api.patch({"spec": {"size": 2}})
        await api.delete()
        await cache.until(lambda: len(cache.said) == 3)
        assert cache.steps == [(None, 1), (1, 2), (2, None)]
        assert cache.informer.get(NS, "a") is None


@pytest.mark.asyncio
async def test_a_reader_who_is_told_of_a_change_finds_it_in_the_cache() -> None:
    api, found = Api(), list[int]()
    cache = Cache(api.server)
    informer: Informer[WidgetWire, View] = Informer(
        api.client,
        WIDGETS,
        wire=WidgetWire,
        project=view,
        on_change=lambda _, new: found.append(len(informer.by("size", new.size)) if new else -1),
        indexes={"size": lambda one: one.size},
    )
    cache.informer = informer
    await api.create(widget(size=5))
    async with cache.running():
        assert found == [1]


@pytest.mark.asyncio
async def test_a_change_of_nothing_that_is_kept_ends_in_silence() -> None:
    api = Api()
    await api.create(widget(size=1))
    async with Cache(api.server).running() as cache:
        await api.patch({"metadata": {"annotations": {"who": "cares"}}})
        await api.patch({"status": {"x": "y"}}, sub="status")
        await api.patch({"spec": {"size": 2}})
        await cache.until(lambda: len(cache.said) > 1)
        assert cache.steps == [(None, 1), (1, 2)]


@pytest.mark.asyncio
async def test_a_cache_of_one_namespace_and_selector_knows_nothing_of_others() -> None:
    api = Api()
    await api.create(widget("a", labels={"app": "x"}))
    await api.create(widget("b", labels={"app": "y"}))
    await api.client.create(WIDGETS, "elsewhere", widget("c", labels={"app": "x"}))
    async with Cache(api.server, namespace=NS, selector="app=x").running() as cache:
        assert list(cache.sizes) == ["a"]


@pytest.mark.asyncio
async def test_an_object_that_no_longer_matches_the_selector_is_gone_and_may_come_back() -> None:
    api = Api()
    await api.create(widget(labels={"app": "x"}))
    async with Cache(api.server, selector="app=x").running() as cache:
        await api.patch({"metadata": {"labels": {"app": "y"}}})
        await api.patch({"metadata": {"labels": {"app": "x"}}})
        await cache.until(lambda: len(cache.said) == 3)
        assert cache.steps == [(None, 1), (1, None), (None, 1)]


@pytest.mark.asyncio
async def test_an_index_finds_values_by_what_they_are_now() -> None:
    api = Api()
    for name, size in (("a", 1), ("b", 2), ("c", 1)):
        await api.create(widget(name, size=size))
    async with Cache(api.server).running() as cache:

        def names(size: int) -> list[str]:
            return sorted(one.name for one in cache.informer.by("size", size))

        assert (names(1), names(2), names(3)) == (["a", "c"], ["b"], [])
        await api.patch({"spec": {"size": 2}}, "a")
        await api.delete("c")
        await cache.until(lambda: len(cache.said) == 5)
        assert (names(1), names(2)) == ([], ["a", "b"])


@pytest.mark.asyncio
async def test_an_index_forgets_values_that_nothing_has_any_more() -> None:
    """Or the owners of a year of pods would stay in memory."""
    api = Api()
    await api.create(widget(size=1))
    async with Cache(api.server).running() as cache:
        await api.delete()
        await cache.until(lambda: not cache.sizes)
        assert all(not index for _, index in cache.informer._by.values())


@pytest.mark.asyncio
async def test_one_object_that_cannot_be_read_does_not_hide_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Api()
    await api.create(widget("bad") | {"spec": {"size": "many"}})
    await api.create(widget("good"))
    async with Cache(api.server).running() as cache:
        assert cache.sizes == {"good": 1}
        assert "bad cannot be read" in caplog.text
        await api.patch({"spec": {"size": 2}}, "bad")
        await cache.until(lambda: "bad" in cache.sizes)


@pytest.mark.asyncio
async def test_what_was_known_of_an_object_stays_when_it_can_no_longer_be_read() -> None:
    api = Api()
    await api.create(widget("a", size=1))
    async with Cache(api.server).running() as cache:
        await api.patch({"spec": {"size": "many"}})
        await api.create(widget("b", size=2))
        await cache.until(lambda: "b" in cache.sizes)
        assert cache.sizes == {"a": 1, "b": 2}
        await cache.informer._relist()
        assert cache.sizes == {"a": 1, "b": 2}


@pytest.mark.asyncio
async def test_one_object_with_empty_labels_does_not_stop_the_cache() -> None:
    """`labels:` with nothing after it is what YAML makes null."""
    api = Api()
    await api.create(widget("a") | {"metadata": {"name": "a", "labels": None}})
    await api.create(widget("b"))
    async with Cache(api.server).running() as cache:
        assert "b" in cache.sizes


@dataclass
class Scripted:
    """An older server, of which each list and each watch is written down beforehand."""

    lists: list[Response]
    watches: list[list[Object]]
    versions: list[str] = field(default_factory=list)
    last: asyncio.Event = field(default_factory=asyncio.Event)  # the last watch is open

    async def request(self, _: Request) -> Response:
        return self.lists.pop(0)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        if "resourceVersion" not in request.query:
            return Response(status=400)
        self.versions.append(request.query["resourceVersion"])
        for event in self.watches.pop(0):
            feed(msgspec.json.encode(event) + b"\n")
        if not self.watches:
            self.last.set()
            await asyncio.Event().wait()
        return Response(status=200)


def listed(version: str, *items: Object) -> Response:
    body = {"metadata": {"resourceVersion": version}, "items": items}
    return Response(status=200, body=msgspec.json.encode(body))


def event(kind: str, version: str, **more: object) -> Object:
    return {"type": kind, "object": {"metadata": {"name": "a", "resourceVersion": version}, **more}}


@pytest.mark.asyncio
async def test_a_watch_goes_on_where_the_last_one_ended_bookmarks_included() -> None:
    """Versions are words: "apple" may well come after "10"."""
    watches: list[list[Object]] = [
        [event("ADDED", "10", spec={"size": 1})],
        [event("BOOKMARK", "apple")],
        [],
        [event("DELETED", "3")],
        [],
    ]
    script = Scripted([listed("5")], watches)
    async with Cache(script).running() as cache:
        await asyncio.wait_for(script.last.wait(), PATIENCE)
    assert script.versions == ["5", "10", "apple", "apple", "3"]
    assert cache.steps == [(None, 1), (1, None)]


@pytest.mark.asyncio
async def test_after_410_it_lists_again_and_says_what_went_missing_meanwhile() -> None:
    """Nobody told of the deletion of `a`, nor of the replacement of `b` by another of its name."""
    first = listed("1", *(widget(name, uid="1", size=1) for name in "abc"))
    second = listed("9", widget("b", uid="2", size=1), widget("c", uid="1", size=1), widget("d", size=4))
    gone = {"type": "ERROR", "object": {"code": 410, "reason": "Expired"}}
    script = Scripted([first, second], [[gone], []])
    async with Cache(script).running() as cache:
        await cache.until(lambda: len(cache.said) == 6)
    said = {(old and f"{old.name}{old.uid}", new and f"{new.name}{new.uid}") for old, new in cache.said[3:]}
    assert said == {("a1", None), ("b1", "b2"), (None, "d")}
    assert sorted(cache.sizes) == ["b", "c", "d"]


@pytest.mark.asyncio
async def test_a_watch_that_breaks_in_the_middle_of_the_beginning_begins_again_with_everything() -> None:
    """And says nothing twice, nor that something is gone before all has been told."""
    api = Api()
    for name in "abc":
        await api.create(widget(name))
    transport = Halting(api.server, events=2)
    async with Cache(transport).running() as cache:
        assert sorted(cache.sizes) == ["a", "b", "c"]
    assert transport.opened == [None, None]
    assert cache.steps == [(None, 1)] * 3


@dataclass
class Halting:
    """Its first watch breaks after so many events."""

    inner: Transport
    events: int
    opened: list[str | None] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        return await self.inner.request(request)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        self.opened.append(request.query.get("resourceVersion"))
        if len(self.opened) > 1:
            return await self.inner.stream(request, feed)
        left = iter(range(self.events))

        def some(line: bytes) -> None:
            if next(left, None) is None:
                raise TransportError("connection reset")
            feed(line)

        return await self.inner.stream(request, some)


@pytest.mark.parametrize("fault", list(Fault))
def test_whatever_ends_a_watch_the_cache_catches_up(fault: Fault) -> None:
    async def main() -> None:
        api = Api()
        transport = Faulty(api.server)
        async with Cache(transport).running() as cache:
            await api.create(widget("before"))
            await cache.until(lambda: "before" in cache.sizes)
            transport.fail_streams(fault)
            await api.create(widget("after"))
            await api.delete("before")
            await cache.until(lambda: list(cache.sizes) == ["after"])
            assert cache.steps == [(None, 1), (None, 1), (1, None)]

    virtual_time.run(main())


def test_a_server_that_forgot_the_changes_since_makes_it_list_again() -> None:
    async def main() -> None:
        api = Api()
        transport = Faulty(api.server)
        await api.create(widget("a"))
        async with Cache(transport).running() as cache:
            transport.fail_streams(Fault.CUT)
            await api.delete("a")
            await api.create(widget("b"))
            api.server._store._history.clear()
            await cache.until(lambda: list(cache.sizes) == ["b"])

    virtual_time.run(main())


@pytest.mark.parametrize("fault", [Fault.BROKEN, Fault.CUT, Fault.GONE])
def test_it_is_not_synced_before_the_first_list_and_keeps_trying(fault: Fault) -> None:
    async def main() -> None:
        api = Api()
        await api.create(widget())
        transport = Faulty(api.server)
        transport.fail_next(fault)
        cache = Cache(transport)
        assert not cache.informer.synced.is_set()
        async with cache.running():
            assert cache.sizes == {"a": 1}

    virtual_time.run(main())


@dataclass
class Refusing:
    """An older server that notes when it was asked. Lists well; what a watch gets is told."""

    watch: Callable[[], Response]
    times: list[float]

    def _note(self) -> None:
        self.times.append(asyncio.get_running_loop().time())
        if len(self.times) > 500:
            raise AssertionError("hundreds of requests without a pause")

    async def request(self, _: Request) -> Response:
        self._note()
        return listed("1")

    async def stream(self, request: Request, _: Callable[[bytes], None]) -> Response:
        self._note()
        if "resourceVersion" not in request.query:
            return Response(status=400)
        return self.watch()


async def asked_within(transport: Refusing, seconds: float) -> list[float]:
    async with Cache(transport).running():
        await asyncio.sleep(seconds)
    return transport.times


def test_while_the_server_fails_it_is_asked_less_and_less_often() -> None:
    times = virtual_time.run(asked_within(Refusing(lambda: Response(status=500), []), 60.0))
    pauses = [after - before for before, after in pairwise(times[2:])]
    assert 4 < len(times) < 13
    assert pauses[-1] > 10 * pauses[0]


def test_a_server_that_answers_every_watch_with_410_is_not_hammered() -> None:
    virtual_time.run(asked_within(Refusing(lambda: Response(status=410), []), 60.0))


def test_a_server_that_ends_every_watch_at_once_is_not_hammered() -> None:
    virtual_time.run(asked_within(Refusing(lambda: Response(status=200), []), 60.0))


def test_a_connection_cut_after_a_good_hour_is_opened_again_soon_however_often_that_happens() -> None:
    async def main() -> None:
        api = Api()
        transport = Faulty(api.server)
        async with Cache(transport).running() as cache:
            for number in range(12):
                transport.fail_streams(Fault.CUT)
                await api.create(widget(f"w{number}"))
                began = asyncio.get_running_loop().time()
                async with asyncio.timeout(60):
                    await cache.until(lambda: len(cache.sizes) == number + 1)  # noqa: B023 - awaited here
                assert asyncio.get_running_loop().time() - began < 2.0
                await asyncio.sleep(250.0)

    virtual_time.run(main(), most=36_000.0)


@pytest.mark.asyncio
async def test_a_value_is_found_by_its_name_and_another_is_not() -> None:
    api = Api()
    await api.create(widget("a", size=3))
    async with Cache(api.server).running() as cache:
        found = cache.informer.get(NS, "a")
        assert found is not None
        assert found.size == 3
        assert cache.informer.get(NS, "b") is None
        assert cache.informer.get("elsewhere", "a") is None


def test_a_quiet_watch_that_ends_is_opened_again_at_once() -> None:
    """Nothing happened on it, and it lasted: that is no failure, however often."""
    answers: list[float] = []

    async def quiet() -> Response:
        await asyncio.sleep(5.0)
        answers.append(asyncio.get_running_loop().time())
        return Response(status=200)

    async def main() -> None:
        async with Cache(Quiet(quiet)).running():
            await asyncio.sleep(60.5)

    virtual_time.run(main())
    assert len(answers) == 12


@dataclass
class Quiet:
    """Lists nothing; what a watch does is told."""

    watch: Callable[[], Awaitable[Response]]

    async def request(self, _: Request) -> Response:
        return listed("1")

    async def stream(self, request: Request, _: Callable[[bytes], None]) -> Response:
        if "resourceVersion" not in request.query:
            return Response(status=400)
        return await self.watch()


def test_an_older_server_is_asked_once_whether_it_can_stream_a_list() -> None:
    asked: list[bool] = []

    async def gone() -> Response:
        return Response(status=410)

    class Old(Quiet):
        async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
            asked.append("sendInitialEvents" in request.query)
            return await super().stream(request, feed)

    async def main() -> None:
        async with Cache(Old(gone)).running():
            await asyncio.sleep(10.0)

    virtual_time.run(main())
    assert asked[0]
    assert len(asked) > 3
    assert not any(asked[1:])


def test_a_watch_that_is_refused_is_tried_again_later_and_said_why(caplog: pytest.LogCaptureFixture) -> None:
    times: list[float] = []

    async def refused() -> Response:
        times.append(asyncio.get_running_loop().time())
        body = b'{"kind":"Status","reason":"BadRequest","message":"what is this"}'
        return Response(status=400, body=body)

    async def main() -> None:
        async with Cache(Quiet(refused)).running():
            await asyncio.sleep(60.0)

    virtual_time.run(main())
    assert 3 < len(times) < 13
    assert "what is this; again in" in caplog.text


@pytest.mark.asyncio
async def test_what_is_deleted_while_all_is_told_is_not_there_in_the_end() -> None:
    events = [
        event("ADDED", "1", spec={"size": 1}),
        event("DELETED", "2"),
        {
            "type": "BOOKMARK",
            "object": {
                "metadata": {"resourceVersion": "3", "annotations": {"k8s.io/initial-events-end": "true"}}
            },
        },
    ]
    told = Told(events)
    async with Cache(told).running() as cache:
        assert cache.sizes == {}
        assert cache.steps == [(None, 1), (1, None)]


@dataclass
class Told:
    """A server whose first watch says what is written down, and then nothing more."""

    events: list[Object]

    async def request(self, _: Request) -> Response:
        raise AssertionError("nobody lists here")

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        assert "resourceVersion" not in request.query
        for one in self.events:
            feed(msgspec.json.encode(one) + b"\n")
        await asyncio.Event().wait()
        return Response(status=200)


def test_an_object_that_the_projection_stumbles_over_is_left_out_alone() -> None:
    def stumble(wire: WidgetWire) -> View:
        if wire.metadata.name == "b":
            raise RecursionError
        return view(wire)

    async def main() -> None:
        api = Api()
        for name in "abc":
            await api.create(widget(name))
        informer = Informer(
            Client(api.server), WIDGETS, wire=WidgetWire, project=stumble, on_change=lambda *_: None
        )
        task = asyncio.create_task(informer.run())
        await informer.synced.wait()
        assert sorted(one.name for one in informer.all()) == ["a", "c"]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    virtual_time.run(main())


def test_lines_are_whole_whatever_pieces_they_come_in() -> None:
    whole = b'{"a":1}\n\n{"b":2}\n \n{"c"'
    for piece in range(1, len(whole) + 1):
        seen: list[bytes] = []
        lines = Lines(seen.append)
        for start in range(0, len(whole), piece):
            lines.feed(whole[start : start + piece])
        assert seen == [b'{"a":1}', b'{"b":2}']


def test_a_child_belongs_to_its_controller_and_to_no_other_owner() -> None:
    references = [OwnerReference(uid="1"), OwnerReference(uid="2", controller=True)]
    assert ObjectMeta(owner_references=references).owner_uid == "2"
    assert ObjectMeta(owner_references=references[:1]).owner_uid == ""

"""A watch says every change after a version, once and in order, as its selector sees it."""

import asyncio

import pytest

from paddle_operator.kube.resources import PODS
from paddle_operator.kube.transport import Request
from support import virtual_time
from support.api import NS, WIDGETS, Api, Events, pod, widget


async def version(api: Api) -> str:
    answer: str = (await api.list())["metadata"]["resourceVersion"]
    return answer


@pytest.mark.asyncio
async def test_changes_come_in_order_those_before_the_watch_began_included() -> None:
    api = Api()
    await api.create(widget("old"))
    since = await version(api)
    await api.create(widget("a"))
    await api.patch({"spec": {"size": 2}}, "a")
    async with api.watching(since) as events:
        assert await events.next_names(2) == [("ADDED", "a"), ("MODIFIED", "a")]
        await api.delete("a")
        await api.delete("old")
        assert await events.next_names(2) == [("DELETED", "a"), ("DELETED", "old")]


@pytest.mark.asyncio
async def test_a_list_and_the_watch_after_it_miss_nothing_and_repeat_nothing() -> None:
    api = Api()

    async def write() -> None:
        for number in range(20):
            await api.create(widget(f"w{number:02}"))

    writing = asyncio.create_task(write())
    listed: list[str] = []
    while len(listed) < 5:
        answer = await api.list()
        listed = [item["metadata"]["name"] for item in answer["items"]]
    async with api.watching(answer["metadata"]["resourceVersion"]) as events:
        rest = await events.next_names(20 - len(listed))
        await writing
        await api.create(widget("last"))
        assert await events.next_names(1) == [("ADDED", "last")]
    assert listed + [name for _, name in rest] == [f"w{number:02}" for number in range(20)]


@pytest.mark.parametrize("begin", ["", "0"])
@pytest.mark.asyncio
async def test_a_watch_from_nowhere_begins_with_all_there_is(begin: str) -> None:
    api = Api()
    await api.create(widget("b"))
    await api.create(widget("a"))
    await api.patch({"spec": {"size": 2}}, "a")
    async with api.watching(begin) as events:
        await api.create(widget("c"))
        assert await events.next_names(3) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]


@pytest.mark.asyncio
async def test_an_event_carries_the_object_with_the_version_to_go_on_from() -> None:
    api = Api()
    async with api.watching() as events:
        made = await api.create(widget())
        assert await events.next() == ("ADDED", made)
        changed = await api.patch({"spec": {"size": 2}})
        assert await events.next() == ("MODIFIED", changed)
        await api.delete()
        kind, last = await events.next()
    assert (kind, last["spec"]) == ("DELETED", {"size": 2})
    assert last["metadata"]["resourceVersion"] == await version(api)


@pytest.mark.asyncio
async def test_a_watch_sees_its_kind_and_its_namespace_only() -> None:
    api = Api()
    async with api.watching() as here, api.watching(namespace="") as everywhere:
        await api.create(pod("p"), PODS)
        await api.client.create(WIDGETS, "elsewhere", widget("there"))
        await api.create(widget("here"))
        assert await here.next_names(1) == [("ADDED", "here")]
        assert await everywhere.next_names(2) == [("ADDED", "there"), ("ADDED", "here")]


@pytest.mark.asyncio
async def test_an_object_enters_and_leaves_a_watch_by_its_labels() -> None:
    api = Api()
    await api.create(widget(labels={"app": "y"}))
    async with api.watching(await version(api), selector="app=x") as events:
        await api.patch({"metadata": {"labels": {"app": "x"}}})
        assert await events.next_names(1) == [("ADDED", "a")]
        inside = await api.patch({"spec": {"size": 2}})
        assert await events.next_names(1) == [("MODIFIED", "a")]
        left = await api.patch({"metadata": {"labels": {"app": "y"}}})
        kind, last = await events.next()
        assert (kind, last["metadata"]["labels"]) == ("DELETED", {"app": "x"})
        assert last["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]
        assert last["metadata"]["resourceVersion"] != inside["metadata"]["resourceVersion"]


@pytest.mark.asyncio
async def test_what_never_matched_is_never_spoken_of() -> None:
    api = Api()
    async with api.watching(selector="app=x") as events:
        await api.create(widget("other", labels={"app": "y"}))
        await api.patch({"spec": {"size": 2}}, "other")
        await api.delete("other")
        await api.create(widget("mine", labels={"app": "x"}))
        await api.delete("mine")
        assert await events.next_names(2) == [("ADDED", "mine"), ("DELETED", "mine")]


@pytest.mark.asyncio
async def test_transitions_are_told_to_a_watch_that_comes_later_too() -> None:
    api = Api()
    await api.create(widget(labels={"app": "x"}))
    since = await version(api)
    await api.patch({"metadata": {"labels": {"app": "y"}}})
    await api.patch({"metadata": {"labels": None}})
    await api.patch({"metadata": {"labels": {"app": "x"}}})
    async with api.watching(since, selector="app=x") as events:
        assert await events.next_names(2) == [("DELETED", "a"), ("ADDED", "a")]


async def refusal(api: Api, since: str) -> int:
    """The code of the ERROR event such a watch begins with; then it ends by itself."""
    events = Events()
    await api.client.watch(WIDGETS, NS, "", since, events.feed)
    kind, status = await events.next()
    assert (kind, status["kind"]) == ("ERROR", "Status")
    code: int = status["code"]
    return code


@pytest.mark.asyncio
async def test_a_version_whose_next_change_is_forgotten_is_told_410() -> None:
    api = Api(history=3)
    versions = [(await api.create(widget(f"w{n}")))["metadata"]["resourceVersion"] for n in range(6)]
    assert await refusal(api, versions[1]) == 410
    async with api.watching(versions[2]) as events:
        assert await events.next_names(3) == [("ADDED", "w3"), ("ADDED", "w4"), ("ADDED", "w5")]


@pytest.mark.asyncio
async def test_a_version_of_the_future_is_told_410() -> None:
    """As after a server that lost its data."""
    api = Api()
    await api.create(widget())
    assert await refusal(api, "1000") == 410


@pytest.mark.asyncio
async def test_a_version_that_is_none_is_told_so() -> None:
    assert await refusal(Api(), "yesterday") == 400


@pytest.mark.asyncio
async def test_the_newest_version_of_an_empty_server_can_be_watched() -> None:
    api = Api()
    async with api.watching(await version(api)) as events:
        await api.create(widget())
        assert await events.next_names(1) == [("ADDED", "a")]


def test_a_watch_ends_when_its_time_is_over_and_leaves_nothing_behind() -> None:
    async def main() -> None:
        api, loop = Api(), asyncio.get_running_loop()
        watchers = len(api.server._store._watchers)
        query = {"watch": "true", "timeoutSeconds": "7"}
        request = Request(method="GET", path=WIDGETS.path(), query=query)
        answer = await api.server.stream(request, lambda _: None)
        assert answer.status == 200
        assert loop.time() == pytest.approx(7)
        assert len(api.server._store._watchers) == watchers

    virtual_time.run(main())


@pytest.mark.asyncio
async def test_a_watch_that_is_cancelled_or_whose_reader_fails_leaves_nothing_behind() -> None:
    api = Api()
    watchers = len(api.server._store._watchers)
    async with api.watching() as events:
        await api.create(widget())
        await events.next()

    def fail(_: bytes) -> None:
        raise ValueError("unreadable")

    with pytest.raises(ValueError, match="unreadable"):
        await api.client.watch(WIDGETS, NS, "", "", fail)
    assert len(api.server._store._watchers) == watchers


@pytest.mark.asyncio
async def test_watching_what_is_no_kind_is_answered_at_once() -> None:
    request = Request(method="GET", path="/api/v1/secrets", query={"watch": "true"})
    assert (await Api().server.stream(request, lambda _: None)).status == 404

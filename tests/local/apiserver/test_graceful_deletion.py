"""A pod that somebody runs stays, marked as leaving, until whoever runs it lets go."""

import pytest

from paddle_operator.kube.client import Object
from paddle_operator.kube.errors import NotFound
from paddle_operator.kube.resources import PODS
from support.api import NS, Api, pod, widget


async def leaving(api: Api) -> tuple[str, int]:
    meta = (await api.get("a", PODS))["metadata"]
    return meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"]


async def is_gone(api: Api) -> bool:
    return await api.names(PODS) == []


@pytest.mark.asyncio
async def test_a_deleted_running_pod_stays_and_says_until_when() -> None:
    api = Api()
    await api.running_pod()
    await api.delete("a", PODS)
    assert await leaving(api) == ("2026-01-01T00:00:30Z", 30)


@pytest.mark.asyncio
async def test_a_pod_that_was_given_a_node_and_has_not_started_stays_too() -> None:
    api = Api()
    await api.create(pod(), PODS)
    await api.delete("a", PODS)
    assert await leaving(api) == ("2026-01-01T00:00:30Z", 30)


@pytest.mark.asyncio
async def test_the_pod_says_how_long_and_a_delete_may_say_otherwise() -> None:
    api = Api()
    await api.running_pod()
    await api.patch({"spec": {"terminationGracePeriodSeconds": 90}}, "a", PODS)
    await api.delete("a", PODS)
    assert await leaving(api) == ("2026-01-01T00:01:30Z", 90)
    await api.delete("a", PODS, grace=10)
    assert await leaving(api) == ("2026-01-01T00:00:10Z", 10)


@pytest.mark.parametrize("grace", [None, 20, 60])
@pytest.mark.asyncio
async def test_a_second_delete_prolongs_nothing(grace: int | None) -> None:
    api = Api()
    await api.running_pod()
    await api.delete("a", PODS, grace=20)
    before = await api.get("a", PODS)
    api.clock.forward(5)
    await api.delete("a", PODS, grace=grace)
    assert await api.get("a", PODS) == before


@pytest.mark.asyncio
async def test_who_runs_the_pod_lets_go_by_a_delete_without_grace() -> None:
    api = Api()
    await api.running_pod()
    await api.delete("a", PODS)
    await api.delete("a", PODS, grace=0)
    assert await is_gone(api)


@pytest.mark.asyncio
async def test_a_leaving_pod_may_still_report_and_stays() -> None:
    api = Api()
    await api.running_pod()
    await api.delete("a", PODS)
    await api.patch({"status": {"phase": "Failed"}}, "a", PODS, "status")
    assert (await api.get("a", PODS))["status"] == {"phase": "Failed"}
    assert await leaving(api) == ("2026-01-01T00:00:30Z", 30)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
@pytest.mark.asyncio
async def test_a_pod_that_is_over_goes_at_once(phase: str) -> None:
    api = Api()
    await api.running_pod()
    await api.patch({"status": {"phase": phase}}, "a", PODS, "status")
    await api.delete("a", PODS)
    assert await is_gone(api)


@pytest.mark.asyncio
async def test_a_pod_without_a_node_goes_at_once() -> None:
    api = Api()
    await api.create(pod(node=""), PODS)
    await api.delete("a", PODS)
    assert await is_gone(api)


@pytest.mark.asyncio
async def test_what_nobody_runs_goes_at_once_however_it_looks() -> None:
    api = Api()
    looks: Object = widget()
    looks["spec"]["nodeName"] = "n1"
    await api.create(looks)
    await api.patch({"status": {"phase": "Running"}}, sub="status")
    await api.delete()
    with pytest.raises(NotFound):
        await api.get()


@pytest.mark.asyncio
async def test_the_name_of_a_leaving_pod_is_taken_until_it_is_gone() -> None:
    api = Api()
    first = await api.running_pod()
    await api.delete("a", PODS)
    assert await api.names(PODS) == ["a"]
    await api.delete("a", PODS, grace=0)
    assert (await api.create(pod(), PODS))["metadata"]["uid"] != first["metadata"]["uid"]


@pytest.mark.asyncio
async def test_a_watch_is_told_of_the_mark_and_of_the_end() -> None:
    api = Api()
    await api.running_pod()
    version = (await api.get("a", PODS))["metadata"]["resourceVersion"]
    async with api.watching(version, PODS, NS) as events:
        await api.delete("a", PODS)
        await api.delete("a", PODS, grace=0)
        kind, marked = await events.next()
        assert (kind, marked["metadata"]["deletionGracePeriodSeconds"]) == ("MODIFIED", 30)
        assert await events.next_names(1) == [("DELETED", "a")]


@pytest.mark.asyncio
async def test_the_mark_cannot_be_patched_away() -> None:
    api = Api()
    await api.running_pod()
    await api.delete("a", PODS)
    patch = {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}}
    await api.patch(patch, "a", PODS)
    assert await leaving(api) == ("2026-01-01T00:00:30Z", 30)

"""An object with finalizers stays after its deletion until the last of them is taken off."""

import pytest

from paddle_operator.kube.errors import NotFound
from paddle_operator.kube.resources import PODS
from support.api import Api, owned_by, widget


@pytest.mark.asyncio
async def test_a_deleted_object_waits_for_each_of_its_finalizers() -> None:
    api = Api()
    await api.create(widget(finalizers=["x", "y"]))
    await api.delete()
    assert (await api.get())["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    await api.patch({"metadata": {"finalizers": ["y"]}})
    assert await api.names() == ["a"]
    await api.patch({"metadata": {"finalizers": []}})
    assert await api.names() == []


@pytest.mark.asyncio
async def test_null_takes_off_all_finalizers() -> None:
    api = Api()
    await api.create(widget(finalizers=["x"]))
    await api.delete()
    await api.patch({"metadata": {"finalizers": None}})
    with pytest.raises(NotFound):
        await api.get()


@pytest.mark.asyncio
async def test_taking_finalizers_off_deletes_nothing_that_was_not_deleted() -> None:
    api = Api()
    await api.create(widget(finalizers=["x"]))
    await api.patch({"metadata": {"finalizers": None}})
    assert await api.names() == ["a"]


@pytest.mark.asyncio
async def test_deleting_again_changes_nothing() -> None:
    api = Api()
    await api.create(widget(finalizers=["x"]))
    await api.delete()
    before = await api.get()
    api.clock.forward(60)
    await api.delete()
    assert await api.get() == before


@pytest.mark.asyncio
async def test_a_waiting_object_may_still_be_written() -> None:
    api = Api()
    await api.create(widget(finalizers=["x"]))
    await api.delete()
    await api.patch({"status": {"a": 1}}, sub="status")
    assert (await api.get())["status"] == {"a": 1}


@pytest.mark.asyncio
async def test_a_pod_waits_for_its_grace_and_then_for_its_finalizers() -> None:
    api = Api()
    await api.running_pod(finalizers=["x"])
    await api.delete("a", PODS)
    await api.delete("a", PODS, grace=0)
    assert (await api.get("a", PODS))["metadata"]["deletionGracePeriodSeconds"] == 0
    await api.patch({"metadata": {"finalizers": None}}, "a", PODS)
    assert await api.names(PODS) == []


@pytest.mark.asyncio
async def test_a_pod_without_finalizers_by_now_still_has_its_grace() -> None:
    api = Api()
    await api.running_pod(finalizers=["x"])
    await api.delete("a", PODS)
    await api.patch({"metadata": {"finalizers": None}}, "a", PODS)
    assert await api.names(PODS) == ["a"]


@pytest.mark.asyncio
async def test_children_stay_as_long_as_their_owner_waits() -> None:
    api = Api()
    owner = await api.create(widget(finalizers=["x"]))
    await api.create(widget("child", **owned_by(owner)))
    async with api.watching((await api.list())["metadata"]["resourceVersion"]) as events:
        await api.delete()
        await api.create(widget("next"))
        assert await events.next_names(2) == [("MODIFIED", "a"), ("ADDED", "next")]
        await api.patch({"metadata": {"finalizers": None}})
        assert (await events.next_names(3))[1:] == [("DELETED", "a"), ("DELETED", "child")]

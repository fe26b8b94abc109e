"""A write that says which version or uid it means is refused when the object is another by now."""

import asyncio

import pytest

from paddle_operator.kube.errors import AlreadyExists, Conflict, NotFound
from support.api import Api, widget


@pytest.mark.asyncio
async def test_a_patch_of_an_old_version_is_refused_and_changes_nothing() -> None:
    api = Api()
    old = (await api.create(widget()))["metadata"]["resourceVersion"]
    now = await api.patch({"spec": {"size": 2}})
    with pytest.raises(Conflict, match="the object has been modified"):
        await api.patch({"metadata": {"resourceVersion": old}, "spec": {"size": 3}})
    assert await api.get() == now


@pytest.mark.asyncio
async def test_a_patch_of_the_current_version_is_accepted() -> None:
    api = Api()
    version = (await api.create(widget()))["metadata"]["resourceVersion"]
    after = await api.patch({"metadata": {"resourceVersion": version}, "spec": {"size": 3}})
    assert after["spec"]["size"] == 3


@pytest.mark.asyncio
async def test_of_two_who_read_the_same_version_one_wins() -> None:
    api = Api()
    meta = {"resourceVersion": (await api.create(widget()))["metadata"]["resourceVersion"]}
    writes = (api.patch({"metadata": meta, "spec": {"size": size}}) for size in (2, 3))
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(result) for result in results] == [dict, Conflict]


@pytest.mark.asyncio
async def test_of_two_who_create_the_same_name_one_wins() -> None:
    api = Api()
    results = await asyncio.gather(*(api.create(widget()) for _ in range(2)), return_exceptions=True)
    assert [type(result) for result in results] == [dict, AlreadyExists]


@pytest.mark.asyncio
async def test_a_patch_meant_for_an_earlier_object_of_the_name_is_refused() -> None:
    api = Api()
    uid = (await api.create(widget()))["metadata"]["uid"]
    await api.delete()
    now = await api.create(widget())
    with pytest.raises(Conflict):
        await api.patch({"metadata": {"uid": uid}, "spec": {"size": 2}})
    with pytest.raises(Conflict):
        await api.patch({"metadata": {"uid": uid}, "status": {"a": 1}}, sub="status")
    assert await api.get() == now


@pytest.mark.asyncio
async def test_a_delete_meant_for_an_earlier_object_of_the_name_is_refused() -> None:
    api = Api()
    uid = (await api.create(widget()))["metadata"]["uid"]
    await api.delete()
    now = await api.create(widget())
    with pytest.raises(Conflict):
        await api.delete(uid=uid)
    assert await api.get() == now


@pytest.mark.asyncio
async def test_a_delete_of_that_very_object_is_done() -> None:
    api = Api()
    await api.delete(uid=(await api.create(widget()))["metadata"]["uid"])
    with pytest.raises(NotFound):
        await api.get()


@pytest.mark.asyncio
async def test_of_two_who_delete_one_finds_nothing() -> None:
    api = Api()
    await api.create(widget())
    results = await asyncio.gather(*(api.delete() for _ in range(2)), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), NotFound]

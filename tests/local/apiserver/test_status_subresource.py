"""Each side writes its own part: the object without its status, or the status and nothing else."""

import pytest

from paddle_operator.kube.errors import Conflict, NotFound
from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from support.api import Api, config_map, pod, widget


@pytest.mark.asyncio
async def test_a_new_object_has_an_empty_status_whatever_it_was_sent_with() -> None:
    assert (await Api().create(widget() | {"status": {"phase": "Done"}}))["status"] == {}


@pytest.mark.asyncio
async def test_a_new_pod_is_pending_whatever_it_was_sent_with() -> None:
    made = await Api().create(pod() | {"status": {"phase": "Succeeded"}}, PODS)
    assert made["status"] == {"phase": "Pending"}


@pytest.mark.asyncio
async def test_a_write_to_the_object_leaves_the_status_alone() -> None:
    api = Api()
    await api.create(widget())
    await api.patch({"status": {"phase": "Running"}}, sub="status")
    after = await api.patch({"spec": {"size": 2}, "status": {"phase": "Done"}})
    assert (after["spec"]["size"], after["status"]) == (2, {"phase": "Running"})
    assert (await api.patch({"status": None}))["status"] == {"phase": "Running"}


@pytest.mark.asyncio
async def test_a_write_to_the_status_leaves_the_object_alone() -> None:
    api = Api()
    await api.create(widget())
    body = {"spec": {"size": 2}, "metadata": {"labels": {"a": "b"}, "finalizers": ["x"]}, "status": {"a": 1}}
    after = await api.patch(body, sub="status")
    assert (after["spec"], after["status"]) == ({"size": 1}, {"a": 1})
    assert not {"labels", "finalizers"} & after["metadata"].keys()


@pytest.mark.asyncio
async def test_the_status_is_merged_and_may_be_taken_away() -> None:
    api = Api()
    await api.create(widget())
    await api.patch({"status": {"a": 1, "b": 2}}, sub="status")
    assert (await api.patch({"status": {"a": None, "c": 3}}, sub="status"))["status"] == {"b": 2, "c": 3}
    assert (await api.patch({"status": None}, sub="status"))["status"] == {}


@pytest.mark.asyncio
async def test_the_same_status_again_makes_no_version() -> None:
    api = Api()
    await api.create(widget())
    once = await api.patch({"status": {"a": 1}}, sub="status")
    assert await api.patch({"status": {"a": 1}}, sub="status") == once


@pytest.mark.asyncio
async def test_a_status_write_knows_of_conflicts_too() -> None:
    api = Api()
    before = await api.create(widget())
    await api.patch({"spec": {"size": 2}})
    with pytest.raises(Conflict):
        await api.patch({"metadata": before["metadata"], "status": {"a": 1}}, sub="status")


@pytest.mark.asyncio
async def test_a_kind_without_status_has_no_such_path() -> None:
    api = Api()
    await api.create(config_map(), CONFIG_MAPS)
    with pytest.raises(NotFound):
        await api.patch({"status": {}}, "a", CONFIG_MAPS, "status")
    assert "status" not in await api.get("a", CONFIG_MAPS)

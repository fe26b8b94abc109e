"""What belonged to a deleted object is deleted after it, by uid, and as any client would."""

import pytest

from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from support.api import WIDGETS, Api, config_map, owned_by, pod, widget


async def version(api: Api) -> str:
    answer: str = (await api.list())["metadata"]["resourceVersion"]
    return answer


@pytest.mark.asyncio
async def test_children_of_every_kind_go_after_their_owner_and_theirs_after_them() -> None:
    api = Api()
    owner = await api.create(widget())
    child = await api.create(config_map("child", **owned_by(owner)), CONFIG_MAPS)
    await api.create(widget("grandchild", **owned_by(child)))
    async with api.watching(await version(api)) as events:
        await api.delete()
        assert await events.next_names(2) == [("DELETED", "a"), ("DELETED", "grandchild")]
    assert await api.names(CONFIG_MAPS) == []


@pytest.mark.asyncio
async def test_what_belongs_to_nobody_or_to_somebody_else_stays() -> None:
    api = Api()
    owner, other = await api.create(widget()), await api.create(widget("other"))
    await api.create(widget("nobody's"))
    await api.create(widget("other's", **owned_by(other)))
    await api.create(widget("child", **owned_by(owner)))
    async with api.watching(await version(api)) as events:
        await api.delete()
        assert await events.next_names(2) == [("DELETED", "a"), ("DELETED", "child")]
    assert await api.names() == ["nobody's", "other", "other's"]


@pytest.mark.asyncio
async def test_a_child_of_two_goes_after_the_last_of_them() -> None:
    api = Api()
    owners = [await api.create(widget("a")), await api.create(widget("b"))]
    await api.create(widget("child", **owned_by(*owners)))
    async with api.watching(await version(api)) as events:
        await api.delete("a")
        await api.create(widget("next"))
        assert await events.next_names(2) == [("DELETED", "a"), ("ADDED", "next")]
        await api.delete("b")
        assert await events.next_names(2) == [("DELETED", "b"), ("DELETED", "child")]


@pytest.mark.asyncio
async def test_an_owner_made_again_under_its_name_does_not_keep_the_old_ones_children() -> None:
    api = Api()
    await api.create(widget("child", **owned_by(await api.create(widget()))))
    async with api.watching(await version(api)) as events:
        await api.delete()
        await api.create(widget())
        said = await events.next_names(3)
    assert sorted(said) == [("ADDED", "a"), ("DELETED", "a"), ("DELETED", "child")]


@pytest.mark.asyncio
async def test_a_child_that_comes_after_its_owners_end_goes_too() -> None:
    """A controller that did not know yet may create it."""
    api = Api()
    owner = await api.create(widget())
    await api.delete()
    async with api.watching(await version(api)) as events:
        await api.create(widget("late", **owned_by(owner)))
        assert await events.next_names(2) == [("ADDED", "late"), ("DELETED", "late")]


@pytest.mark.asyncio
async def test_a_late_child_of_a_living_owner_stays() -> None:
    api = Api()
    owner = await api.create(widget())
    async with api.watching(await version(api)) as events:
        await api.create(widget("child", **owned_by(owner)))
        await api.create(widget("next"))
        assert await events.next_names(2) == [("ADDED", "child"), ("ADDED", "next")]


@pytest.mark.asyncio
async def test_a_running_pod_is_given_its_grace() -> None:
    api = Api()
    await api.running_pod("child", **owned_by(await api.create(widget())))
    async with api.watching(await version(api), PODS) as events:
        await api.delete()
        kind, child = await events.next()
    assert (kind, child["metadata"]["deletionGracePeriodSeconds"]) == ("MODIFIED", 30)
    assert await api.names(PODS) == ["child"]


@pytest.mark.asyncio
async def test_a_child_with_finalizers_is_marked_and_waits() -> None:
    api = Api()
    await api.create(widget("child", finalizers=["x"], **owned_by(await api.create(widget()))))
    async with api.watching(await version(api)) as events:
        await api.delete()
        assert await events.next_names(2) == [("DELETED", "a"), ("MODIFIED", "child")]
    assert "deletionTimestamp" in (await api.get("child"))["metadata"]


@pytest.mark.asyncio
async def test_an_orphan_that_was_let_go_in_time_stays() -> None:
    api = Api()
    await api.create(widget("child", **owned_by(await api.create(widget()))))
    await api.patch({"metadata": {"ownerReferences": None}}, "child")
    async with api.watching(await version(api)) as events:
        await api.delete()
        await api.create(widget("next"))
        assert await events.next_names(2) == [("DELETED", "a"), ("ADDED", "next")]


@pytest.mark.asyncio
async def test_many_children_all_go() -> None:
    api = Api()
    owner = await api.create(widget())
    for number in range(50):
        await api.create(pod(f"p{number}", node="", **owned_by(owner)), PODS)
    async with api.watching(await version(api), PODS) as events:
        await api.client.delete(WIDGETS, "ns", "a")
        assert len(set(await events.next_names(50))) == 50
    assert await api.names(PODS) == []

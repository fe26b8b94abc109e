"""Who sets which part of an object: what the server owns, no client can write."""

from typing import Any

import pytest

from paddle_operator.kube.client import Object
from paddle_operator.kube.errors import AlreadyExists, Invalid, NotFound
from paddle_operator.kube.resources import PODS
from paddle_operator.local.apiserver.kinds import Cause
from support.api import NS, WIDGETS, Api, pod, widget


@pytest.mark.asyncio
async def test_a_new_object_gets_its_kind_namespace_uid_version_and_date_from_the_server() -> None:
    api = Api()
    made = await api.create(widget())
    meta = made["metadata"]
    assert (made["apiVersion"], made["kind"]) == ("example.org/v1", "Widget")
    assert (meta["name"], meta["namespace"], meta["generation"]) == ("a", NS, 1)
    assert meta["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert meta["uid"]
    assert meta["resourceVersion"]
    assert await api.get() == made


@pytest.mark.asyncio
async def test_what_a_client_writes_into_the_servers_fields_of_a_new_object_does_not_count() -> None:
    theirs: dict[str, Any] = {
        "uid": "mine",
        "resourceVersion": "77",
        "generation": 9,
        "creationTimestamp": "1999",
    }
    meta = (await Api().create(widget(**theirs)))["metadata"]
    assert all(meta[key] != value for key, value in theirs.items())


@pytest.mark.asyncio
async def test_nothing_is_born_dying() -> None:
    made = await Api().create(widget(deletionTimestamp="1999", deletionGracePeriodSeconds=5))
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds"} & made["metadata"].keys()


@pytest.mark.asyncio
async def test_an_object_made_again_under_its_name_is_another() -> None:
    api = Api()
    first = await api.create(widget())
    await api.delete()
    assert (await api.create(widget()))["metadata"]["uid"] != first["metadata"]["uid"]


@pytest.mark.asyncio
async def test_a_name_is_given_once_in_a_namespace_and_kind() -> None:
    api = Api()
    await api.create(widget())
    with pytest.raises(AlreadyExists):
        await api.create(widget())
    await api.client.create(WIDGETS, "elsewhere", widget())
    await api.create(pod(), PODS)


@pytest.mark.asyncio
async def test_names_are_generated_where_only_their_beginning_is_given() -> None:
    api = Api()
    names = [(await api.create({"metadata": {"generateName": "job-"}}))["metadata"]["name"] for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.startswith("job-") and name != "job-" for name in names)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="no name"),
        pytest.param({"metadata": None}, id="no metadata"),
        pytest.param({"metadata": {"name": "a", "namespace": "elsewhere"}}, id="another namespace"),
    ],
)
@pytest.mark.asyncio
async def test_an_object_without_name_or_of_another_namespace_is_refused(body: Object) -> None:
    with pytest.raises(Invalid):
        await Api().create(body)


@pytest.mark.asyncio
async def test_a_patch_changes_what_it_names_and_nothing_else() -> None:
    api = Api()
    before = await api.create(widget(labels={"a": "1", "b": "2"}))
    after = await api.patch({"metadata": {"labels": {"b": None, "c": "3"}}})
    assert after["metadata"]["labels"] == {"a": "1", "c": "3"}
    assert after["spec"] == before["spec"]
    assert await api.get() == after


@pytest.mark.asyncio
async def test_a_patch_of_what_the_server_owns_changes_nothing() -> None:
    api = Api()
    before = await api.create(widget())
    theirs = {"name": "b", "namespace": "x", "creationTimestamp": "1999", "generation": 9}
    assert await api.patch({"metadata": theirs}) == before
    assert await api.patch({"metadata": dict.fromkeys(theirs)}) == before


@pytest.mark.asyncio
async def test_a_patch_cannot_delete_by_setting_the_date_of_deletion() -> None:
    api = Api()
    await api.create(widget())
    await api.patch({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    assert "deletionTimestamp" not in (await api.get())["metadata"]


@pytest.mark.asyncio
async def test_a_patch_does_not_make_a_widget_a_pod() -> None:
    api = Api()
    await api.create(widget())
    assert (await api.patch({"kind": "Pod"}))["kind"] == "Widget"


@pytest.mark.asyncio
async def test_a_patch_without_metadata_is_answered() -> None:
    api = Api()
    before = await api.create(widget())
    assert (await api.patch({"metadata": None}))["metadata"]["uid"] == before["metadata"]["uid"]


@pytest.mark.asyncio
async def test_each_write_has_a_new_version_even_over_kinds() -> None:
    api = Api()
    made = [await api.create(widget()), await api.create(pod(), PODS), await api.patch({"spec": {"size": 2}})]
    assert len({one["metadata"]["resourceVersion"] for one in made}) == 3


@pytest.mark.parametrize("patch", [{}, {"spec": {"size": 1}}, {"spec": {"none": None}}, {"metadata": {}}])
@pytest.mark.asyncio
async def test_a_patch_that_changes_nothing_makes_no_version_and_wakes_nobody(patch: Object) -> None:
    api = Api()
    before = await api.create(widget())
    async with api.watching(before["metadata"]["resourceVersion"]) as events:
        assert await api.patch(patch) == before
        await api.create(widget("next"))
        assert await events.next_names(1) == [("ADDED", "next")]


@pytest.mark.asyncio
async def test_the_generation_counts_the_changes_of_the_spec_only() -> None:
    api = Api()
    await api.create(widget())
    assert (await api.patch({"metadata": {"labels": {"a": "1"}}}))["metadata"]["generation"] == 1
    assert (await api.patch({"status": {"a": "1"}}, sub="status"))["metadata"]["generation"] == 1
    assert (await api.patch({"spec": {"size": 2}}))["metadata"]["generation"] == 2
    assert (await api.patch({"spec": None}))["metadata"]["generation"] == 3


@pytest.mark.asyncio
async def test_what_is_not_there_can_be_neither_read_nor_patched_nor_deleted() -> None:
    api = Api()
    for attempt in (api.get(), api.patch({}), api.delete()):
        with pytest.raises(NotFound):
            await attempt


def limited(body: Object) -> list[Cause]:
    """Admission as of a kind with a schema: sets a default, refuses what is too large."""
    body["spec"] = {"colour": "red", **body["spec"]}
    size = body["spec"]["size"]
    return [Cause("spec.size", f"{size} is too large")] if size > 10 else []


@pytest.mark.asyncio
async def test_admission_may_complete_an_object() -> None:
    api = Api(limited)
    assert (await api.create(widget()))["spec"] == {"colour": "red", "size": 1}


@pytest.mark.asyncio
async def test_what_admission_refuses_is_not_stored_and_the_reason_is_told() -> None:
    api = Api(limited)
    with pytest.raises(Invalid, match=r'"a" is invalid: spec\.size: 11 is too large'):
        await api.create(widget(size=11))
    assert await api.names() == []
    before = await api.create(widget(size=10))
    with pytest.raises(Invalid):
        await api.patch({"spec": {"size": 12}})
    assert await api.get() == before


@pytest.mark.asyncio
async def test_status_is_written_without_admission() -> None:
    """Or a rule made stricter later would keep the status of old objects from being written."""
    limit = {"allowed": True}

    def admit(_: Object) -> list[Cause]:
        return [] if limit["allowed"] else [Cause("spec", "no")]

    api = Api(admit)
    await api.create(widget())
    limit["allowed"] = False
    assert (await api.patch({"status": {"x": "y"}}, sub="status"))["status"] == {"x": "y"}


@pytest.mark.asyncio
async def test_taking_away_a_default_that_comes_back_changes_nothing() -> None:
    api = Api(limited)
    before = await api.create(widget())
    assert await api.patch({"spec": {"colour": None}}) == before


@pytest.mark.asyncio
async def test_what_was_read_does_not_change_when_the_object_does() -> None:
    api = Api()
    await api.create(widget())
    (stored,) = api.server._store.all(api.server._kinds[0])
    copy: Any = {**stored, "metadata": dict(stored["metadata"]), "spec": dict(stored["spec"])}
    await api.patch({"spec": {"size": 2}, "metadata": {"labels": {"a": "b"}}})
    await api.delete()
    assert stored == copy

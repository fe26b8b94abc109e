"""The contract suite notices when the server breaks a promise: each of these is broken once."""

from collections.abc import Callable
from typing import Any

import pytest

from paddle_operator.kube.errors import KubeError
from paddle_operator.local.apiserver import garbage, writes
from paddle_operator.local.apiserver.garbage import GarbageCollector
from paddle_operator.local.apiserver.kinds import CONFIG_MAPS, from_crd, pods
from paddle_operator.local.apiserver.server import ApiServer
from paddle_operator.local.apiserver.store import Store
from paddle_operator.local.apiserver.watch import Watch
from support import contract


def nothing(*_: Any) -> None:
    return None


def since_ever(store: Store, version: int) -> list[Any]:
    return [change for change in store._history if change.version > version]


def unfiltered(_: Watch, stored: Any) -> Any:
    return stored


BREAKS: dict[str, tuple[object, str, Callable[..., Any], str]] = {
    "a stale version is taken": (writes, "_check_version", nothing, "a_stale_version_is_a_conflict"),
    "a uid is not looked at": (writes, "_check_uid", nothing, "another_uid_is_a_conflict"),
    "a deletion takes any uid": (
        writes,
        "_check_preconditions",
        nothing,
        "a_deletion_of_another_uid_is_a_conflict",
    ),
    "410 is never said": (Store, "since", since_ever, "a_watch_from_a_forgotten_version_is_told_so"),
    "bookmarks are lost": (
        Watch,
        "_bookmark",
        lambda *_: b"\n",
        "a_watch_can_begin_with_everything_and_say_where_that_ends",
    ),
    "dependents are forgotten": (
        GarbageCollector,
        "_delete_orphans",
        nothing,
        "dependents_go_after_their_owner",
    ),
    "the foreground is not waited for": (
        garbage,
        "_blocks",
        lambda *_: False,
        "in_the_foreground_the_owner_waits_for_those_that_block_it",
    ),
    "pods are not given time": (writes, "_grace", lambda *_: 0, "a_pod_on_a_node_is_given_time_to_leave"),
    "the schema is not checked": (
        writes,
        "violations",
        lambda *_: [],
        "every_violation_of_the_schema_is_refused_with_its_field",
    ),
    "unknown fields are stored": (
        writes,
        "prepared",
        lambda new, _: new,
        "unknown_fields_are_dropped_except_where_they_are_kept",
    ),
    "a selector is applied to lists only": (
        Watch,
        "_mine",
        unfiltered,
        "to_a_watch_with_a_selector_objects_come_and_go_by_their_labels",
    ),
    "status and spec are one": (
        writes,
        "_only_what_is_theirs",
        lambda _, old, new: {**new, "metadata": {**new["metadata"], "uid": old["metadata"]["uid"]}},
        "status_and_the_rest_are_written_apart",
    ),
    "lists are merged, not replaced": (
        writes,
        "merged",
        lambda old, _: old,
        "a_merge_patch_merges_removes_and_replaces_lists",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
@pytest.mark.asyncio
async def test_it_is_noticed_when(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, broken, case = BREAKS[what]
    monkeypatch.setattr(contract, "PATIENCE", 0.5)
    await run(case)
    monkeypatch.setattr(place, name, broken)
    with pytest.raises((AssertionError, pytest.fail.Exception, TimeoutError, KeyError, KubeError)):
        await run(case)


async def run(case: str) -> None:
    server = ApiServer([from_crd(contract.CRD), pods(), CONFIG_MAPS], history=50)
    await contract.CASES[case](contract.Server(server, "ns"))

"""What we rely on of an API server, one case each, written against the transport seam alone.

The same cases run against the server in memory and against a real kube-apiserver. Where the two differ, the
one in memory is wrong.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from paddle_operator.kube.cache import Lines
from paddle_operator.kube.client import Client, Object, prepare
from paddle_operator.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Invalid,
    NotFound,
    Replaced,
)
from paddle_operator.kube.resources import CONFIG_MAPS, PODS, Resource
from paddle_operator.kube.transport import Request, Response, Transport

WIDGETS = Resource("example.org", "v1", "widgets", "Widget")
PATIENCE = 60.0  # seconds until what never happens is a failure; a new kind is noticed after 30

CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {
                                    "size": {"type": "integer", "minimum": 0, "maximum": 10},
                                    "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                                    "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                                    "parts": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                                    "flag": {"type": "boolean"},
                                    "labels": {
                                        "type": "object",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "free": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                },
                            },
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}

Event = tuple[str, Object]
Case = Callable[["Server"], Awaitable[None]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


class Server:
    """One server, one namespace of it, and short words for what the cases do."""

    def __init__(self, transport: Transport, namespace: str) -> None:
        self.transport, self.ns = transport, namespace
        self.client = Client(transport)

    async def create(self, name: str = "a", resource: Resource = WIDGETS, **body: Any) -> Object:
        full = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}, **body}
        if resource is WIDGETS:
            full.setdefault("spec", {"size": 1})
        return await self.client.create(resource, self.ns, full)

    async def get(self, name: str = "a", resource: Resource = WIDGETS) -> Object:
        return await self.client.get(resource, self.ns, name)

    async def patch(
        self, body: Object, name: str = "a", resource: Resource = WIDGETS, sub: str = ""
    ) -> Object:
        return await self.client.patch(resource, self.ns, name, body, subresource=sub)

    async def delete(self, name: str = "a", resource: Resource = WIDGETS, **options: Any) -> Object:
        request = prepare("DELETE", resource.path(self.ns, name), body=_delete_options(options))
        return await self.answer(request)

    async def put(self, body: Object, name: str = "a") -> Object:
        return await self.answer(prepare("PUT", WIDGETS.path(self.ns, name), body=body))

    async def listed(self, selector: str = "", resource: Resource = WIDGETS) -> Object:
        response = await self.client.list(resource, self.ns, selector)
        listed: Object = msgspec.json.decode(response.body)
        return listed

    async def names(self, selector: str = "", resource: Resource = WIDGETS) -> list[str]:
        return [one["metadata"]["name"] for one in (await self.listed(selector, resource))["items"]]

    async def answer(self, request: Request) -> Object:
        answer: Object = msgspec.json.decode((await self.client._answer(request)).body)
        return answer

    async def pod(self, name: str = "a", *, node: str = "n1", **spec: Any) -> Object:
        """A pod bound to a node that is not there: nobody runs it, nobody ends it."""
        container = {"name": "c", "image": "none"}
        bound = {"nodeName": node} if node else {"schedulerName": "nobody"}
        return await self.create(name, PODS, spec={"containers": [container], **bound, **spec})

    async def gone(self, name: str = "a", resource: Resource = WIDGETS) -> bool:
        try:
            await self.get(name, resource)
        except NotFound:
            return True
        return False

    async def until(self, so: Callable[[], Awaitable[bool]]) -> None:
        """Some things happen after the answer: here at once, there within a moment."""
        async with asyncio.timeout(PATIENCE):
            while not await so():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)

    @asynccontextmanager
    async def watch(self, selector: str = "", **query: str) -> AsyncIterator["Watching"]:
        watching = Watching()
        query = {"labelSelector": selector, "watch": "true", **query}
        request = Request(method="GET", path=WIDGETS.path(self.ns), query=query)
        task = asyncio.create_task(watching.run(self.transport, request))
        try:
            yield watching
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class Watching:
    """What a watch says, one event after the other."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self.response: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

    async def run(self, transport: Transport, request: Request) -> None:
        self.response.set_result(await transport.stream(request, Lines(self._on_line).feed))

    async def next(self) -> Event:
        return await asyncio.wait_for(self._events.get(), PATIENCE)

    async def next_names(self, count: int) -> list[tuple[str, str]]:
        events = [await self.next() for _ in range(count)]
        return [(kind, one["metadata"]["name"]) for kind, one in events]

    def _on_line(self, line: bytes) -> None:
        event = msgspec.json.decode(line)
        self._events.put_nowait((event["type"], event["object"]))


def _delete_options(options: dict[str, Any]) -> Object:
    body: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if "uid" in options:
        body["preconditions"] = {"uid": options["uid"]}
    if "grace" in options:
        body["gracePeriodSeconds"] = options["grace"]
    if "policy" in options:
        body["propagationPolicy"] = options["policy"]
    return body


async def refused(server: Server, request: Request) -> Object:
    """The Status that a request is refused with."""
    response = await server.transport.request(request)
    assert response.status >= 400
    status: Object = msgspec.json.decode(response.body)
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", response.status)
    return status


def owned_by(owner: Object, *, block: bool = True) -> Object:
    meta = owner["metadata"]
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": block,
    }
    return {"ownerReferences": [reference]}


# --- create ---


@case
async def a_new_object_gets_uid_version_generation_and_date(server: Server) -> None:
    meta = (await server.create())["metadata"]
    assert meta["uid"]
    assert meta["resourceVersion"]
    assert meta["generation"] == 1
    assert meta["creationTimestamp"].endswith("Z")
    assert meta["namespace"] == server.ns


@case
async def a_name_is_given_once(server: Server) -> None:
    await server.create()
    with pytest.raises(AlreadyExists):
        await server.create()


@case
async def a_name_can_be_made_up_by_the_server(server: Server) -> None:
    body = {**_widget(), "metadata": {"generateName": "x-"}}
    first, second = [await server.client.create(WIDGETS, server.ns, body) for _ in range(2)]
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert first["metadata"]["name"].startswith("x-")


@case
async def an_object_without_a_name_is_refused(server: Server) -> None:
    body = {**_widget(), "metadata": {}}
    with pytest.raises(Invalid, match="name or generateName is required"):
        await server.client.create(WIDGETS, server.ns, body)


@case
async def the_namespace_of_path_and_object_must_agree(server: Server) -> None:
    body = {**_widget(), "metadata": {"name": "a", "namespace": "elsewhere"}}
    with pytest.raises(Invalid, match="namespace"):
        await server.client.create(WIDGETS, server.ns, body)


@case
async def the_status_of_a_new_object_is_not_the_clients(server: Server) -> None:
    made = await server.create(status={"phase": "Done"})
    assert not made.get("status")


@case
async def a_client_cannot_choose_what_is_the_servers(server: Server) -> None:
    theirs = {"name": "a", "uid": "mine", "generation": 7, "deletionTimestamp": "2020-01-01T00:00:00Z"}
    meta = (await server.client.create(WIDGETS, server.ns, {**_widget(), "metadata": theirs}))["metadata"]
    assert meta["uid"] != "mine"
    assert meta["generation"] == 1
    assert "deletionTimestamp" not in meta


# --- schema ---


@case
async def unknown_fields_are_dropped_except_where_they_are_kept(server: Server) -> None:
    made = await server.create(spec={"size": 1, "sise": 2, "free": {"x": {"y": 1}}}, other=1)
    assert made["spec"] == {"size": 1, "colour": "red", "free": {"x": {"y": 1}}}
    assert "other" not in made


@case
async def defaults_are_set(server: Server) -> None:
    assert (await server.create())["spec"] == {"size": 1, "colour": "red"}


@case
async def a_null_is_an_absent_field(server: Server) -> None:
    made = await server.create(spec={"size": 1, "colour": None, "code": None})
    assert made["spec"] == {"size": 1, "colour": "red"}


@case
async def every_violation_of_the_schema_is_refused_with_its_field(server: Server) -> None:
    for spec, field in (
        ({}, "spec.size"),
        ({"size": "1"}, "spec.size"),
        ({"size": 1.5}, "spec.size"),
        ({"size": -1}, "spec.size"),
        ({"size": 11}, "spec.size"),
        ({"size": 1, "colour": "green"}, "spec.colour"),
        ({"size": 1, "code": "A"}, "spec.code"),
        ({"size": 1, "code": "abcdef"}, "spec.code"),
        ({"size": 1, "parts": []}, "spec.parts"),
        ({"size": 1, "parts": ["a", 1]}, "spec.parts[1]"),
        ({"size": 1, "flag": "yes"}, "spec.flag"),
        ({"size": 1, "labels": {"a": 1}}, "spec.labels.a"),
        ({"size": 1, "free": []}, "spec.free"),
        ("text", "spec"),
    ):
        body = {**_widget(), "metadata": {"name": "bad"}, "spec": spec}
        status = await refused(server, prepare("POST", WIDGETS.path(server.ns), body=body))
        assert (status["code"], status["reason"]) == (422, "Invalid"), spec
        assert field in [one["field"] for one in status["details"]["causes"]], spec
        assert status["message"].startswith('Widget.example.org "bad" is invalid: '), spec


@case
async def a_patch_that_breaks_the_schema_changes_nothing(server: Server) -> None:
    before = await server.create()
    with pytest.raises(Invalid):
        await server.patch({"spec": {"size": 99}})
    assert (await server.get()) == before


@case
async def an_enum_lists_what_it_allows(server: Server) -> None:
    with pytest.raises(Invalid, match='supported values: "red", "blue"'):
        await server.create(spec={"size": 1, "colour": "green"})


# --- read ---


@case
async def what_is_not_there_is_not_found(server: Server) -> None:
    status = await refused(server, prepare("GET", WIDGETS.path(server.ns, "a")))
    assert (status["code"], status["reason"]) == (404, "NotFound")


@case
async def a_resource_nobody_defined_is_not_found(server: Server) -> None:
    nothing = Resource("example.org", "v1", "gadgets", "Gadget")
    with pytest.raises(ApiError) as caught:
        await server.client.get(nothing, server.ns, "a")
    assert caught.value.status == 404


@case
async def a_list_is_selected_by_labels(server: Server) -> None:
    for name, labels in (("a", {"k": "1"}), ("b", {"k": "2"}), ("c", {}), ("d", {"k": "1", "z": "1"})):
        await server.create(name, metadata={"name": name, "labels": labels})
    for selector, want in (
        ("k", ["a", "b", "d"]),
        ("!k", ["c"]),
        ("k=1", ["a", "d"]),
        ("k==2", ["b"]),
        ("k!=1", ["b", "c"]),
        ("k=1,!z", ["a"]),
        ("k=1,z=1", ["d"]),
        ("k=3", []),
    ):
        assert await server.names(selector) == want, selector


@case
async def a_list_knows_its_version_and_kind(server: Server) -> None:
    made = await server.create()
    listed = await server.listed()
    assert listed["kind"] == "WidgetList"
    assert int(listed["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])


@case
async def a_selector_that_cannot_be_read_is_a_bad_request(server: Server) -> None:
    status = await refused(server, prepare("GET", WIDGETS.path(server.ns), query={"labelSelector": "a b c"}))
    assert (status["code"], status["reason"]) == (400, "BadRequest")


# --- change ---


@case
async def a_merge_patch_merges_removes_and_replaces_lists(server: Server) -> None:
    await server.create(spec={"size": 1, "code": "x", "parts": ["a", "b"], "labels": {"a": "1", "b": "2"}})
    changed = await server.patch({"spec": {"code": None, "parts": ["c"], "labels": {"b": None, "c": "3"}}})
    assert changed["spec"] == {"size": 1, "colour": "red", "parts": ["c"], "labels": {"a": "1", "c": "3"}}


@case
async def a_patch_that_changes_nothing_makes_no_version(server: Server) -> None:
    made = await server.create()
    same = await server.patch({"spec": {"size": 1}})
    assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


@case
async def generation_counts_changes_of_the_spec_alone(server: Server) -> None:
    await server.create()
    assert (await server.patch({"metadata": {"labels": {"a": "b"}}}))["metadata"]["generation"] == 1
    assert (await server.patch({"status": {"x": 1}}, sub="status"))["metadata"]["generation"] == 1
    assert (await server.patch({"spec": {"size": 2}}))["metadata"]["generation"] == 2


@case
async def status_and_the_rest_are_written_apart(server: Server) -> None:
    await server.create()
    first = await server.patch({"spec": {"size": 2}, "status": {"x": 1}})
    assert (first["spec"]["size"], first.get("status")) in ((2, None), (2, {}))
    second = await server.patch({"spec": {"size": 3}, "status": {"x": 1}}, sub="status")
    assert (second["spec"]["size"], second["status"]) == (2, {"x": 1})


@case
async def a_stale_version_is_a_conflict(server: Server) -> None:
    old = (await server.create())["metadata"]["resourceVersion"]
    await server.patch({"spec": {"size": 2}})
    for sub in ("", "status"):
        with pytest.raises(Conflict):
            await server.patch({"metadata": {"resourceVersion": old}, "status": {"x": 1}}, sub=sub)
    assert (await server.get())["spec"]["size"] == 2


@case
async def the_present_version_is_no_conflict(server: Server) -> None:
    version = (await server.create())["metadata"]["resourceVersion"]
    changed = await server.patch({"metadata": {"resourceVersion": version}, "spec": {"size": 2}})
    assert changed["spec"]["size"] == 2


@case
async def another_uid_is_a_conflict(server: Server) -> None:
    await server.create()
    with pytest.raises(Replaced):
        await server.patch({"metadata": {"uid": "another"}, "spec": {"size": 2}})
    await server.pod("p")
    for sub in ("", "status"):
        with pytest.raises(Replaced):
            await server.patch({"metadata": {"uid": "another"}}, "p", PODS, sub)


@case
async def the_status_of_a_custom_resource_is_not_guarded_by_a_uid(server: Server) -> None:
    """Only by a version: who must not write into a later object of the same name has to give that."""
    await server.create()
    changed = await server.patch({"metadata": {"uid": "another"}, "status": {"x": 1}}, sub="status")
    assert changed["status"] == {"x": 1}


@case
async def a_patch_is_of_a_type_the_server_knows(server: Server) -> None:
    await server.create()
    request = Request(
        method="PATCH", path=WIDGETS.path(server.ns, "a"), body=b"{}", content_type="application/json"
    )
    assert (await refused(server, request))["code"] == 415


@case
async def a_patch_of_what_is_not_there_is_not_found(server: Server) -> None:
    with pytest.raises(NotFound):
        await server.patch({"spec": {"size": 2}})


@case
async def a_replacement_needs_the_present_version(server: Server) -> None:
    made = await server.create()
    wanted = {**made, "spec": {"size": 2}}
    meta = {key: value for key, value in made["metadata"].items() if key != "resourceVersion"}
    with pytest.raises(Invalid, match="must be specified for an update"):
        await server.put({**wanted, "metadata": meta})
    replaced = await server.put(wanted)
    assert replaced["spec"] == {"size": 2, "colour": "red"}
    with pytest.raises(Conflict):
        await server.put({**wanted, "spec": {"size": 3}})


# --- delete ---


@case
async def a_deleted_object_is_gone(server: Server) -> None:
    await server.create()
    await server.delete()
    assert await server.gone()
    with pytest.raises(NotFound):
        await server.delete()


@case
async def a_deletion_of_another_uid_is_a_conflict(server: Server) -> None:
    made = await server.create()
    with pytest.raises(Replaced):
        await server.delete(uid="another")
    await server.delete(uid=made["metadata"]["uid"])
    assert await server.gone()


@case
async def a_finalizer_holds_an_object_until_it_is_taken_off(server: Server) -> None:
    await server.client.create(
        WIDGETS, server.ns, _widget() | {"metadata": {"name": "a", "finalizers": ["example.org/f"]}}
    )
    await server.delete()
    assert (await server.get())["metadata"]["deletionTimestamp"]
    await server.patch({"metadata": {"labels": {"still": "here"}}})
    await server.patch({"metadata": {"finalizers": None}})
    assert await server.gone()


@case
async def dependents_go_after_their_owner(server: Server) -> None:
    owner = await server.create()
    await server.create("mine", CONFIG_MAPS, metadata={"name": "mine", **owned_by(owner)})
    await server.create("other", CONFIG_MAPS)
    await server.delete(policy="Background")
    assert await server.gone()
    await server.until(lambda: server.gone("mine", CONFIG_MAPS))
    assert not await server.gone("other", CONFIG_MAPS)


@case
async def a_child_whose_owner_is_gone_goes_too(server: Server) -> None:
    owner = await server.create()
    await server.delete()
    await server.create("late", CONFIG_MAPS, metadata={"name": "late", **owned_by(owner)})
    await server.until(lambda: server.gone("late", CONFIG_MAPS))


@case
async def in_the_foreground_the_owner_waits_for_those_that_block_it(server: Server) -> None:
    owner = await server.create()
    meta = {"name": "child", "finalizers": ["example.org/f"], **owned_by(owner)}
    await server.create("child", CONFIG_MAPS, metadata=meta)
    await server.delete(policy="Foreground")

    async def child_is_leaving() -> bool:
        return "deletionTimestamp" in (await server.get("child", CONFIG_MAPS))["metadata"]

    await server.until(child_is_leaving)
    waiting = (await server.get())["metadata"]
    assert waiting["deletionTimestamp"]
    assert "foregroundDeletion" in waiting["finalizers"]
    await server.patch({"metadata": {"finalizers": None}}, "child", CONFIG_MAPS)
    await server.until(server.gone)
    assert await server.gone("child", CONFIG_MAPS)


@case
async def an_owner_without_dependents_goes_in_the_foreground_too(server: Server) -> None:
    await server.create()
    await server.delete(policy="Foreground")
    await server.until(server.gone)


@case
async def many_are_deleted_by_their_labels(server: Server) -> None:
    for name, labels in (("a", {"k": "1"}), ("b", {"k": "1"}), ("c", {"k": "2"})):
        await server.create(name, metadata={"name": name, "labels": labels})
    await server.answer(prepare("DELETE", WIDGETS.path(server.ns), query={"labelSelector": "k=1"}))
    assert await server.names() == ["c"]


# --- pods ---


@case
async def a_new_pod_is_pending(server: Server) -> None:
    assert (await server.pod())["status"]["phase"] == "Pending"


@case
async def a_pod_on_a_node_is_given_time_to_leave(server: Server) -> None:
    await server.pod(terminationGracePeriodSeconds=7)
    answer = await server.delete(resource=PODS)
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 7
    meta = (await server.get(resource=PODS))["metadata"]
    assert meta["deletionTimestamp"]
    await server.delete(resource=PODS, grace=0)
    assert await server.gone(resource=PODS)


@case
async def a_second_deletion_may_shorten_the_time_and_not_extend_it(server: Server) -> None:
    await server.pod()
    await server.delete(resource=PODS, grace=20)
    await server.delete(resource=PODS, grace=50)
    assert (await server.get(resource=PODS))["metadata"]["deletionGracePeriodSeconds"] == 20
    await server.delete(resource=PODS, grace=10)
    assert (await server.get(resource=PODS))["metadata"]["deletionGracePeriodSeconds"] == 10


@case
async def a_pod_without_a_node_leaves_at_once(server: Server) -> None:
    await server.pod(node="")
    await server.delete(resource=PODS)
    assert await server.gone(resource=PODS)


@case
async def a_pod_that_is_over_leaves_at_once(server: Server) -> None:
    for phase in ("Succeeded", "Failed"):
        await server.pod()
        await server.patch({"status": {"phase": phase}}, resource=PODS, sub="status")
        await server.delete(resource=PODS)
        assert await server.gone(resource=PODS), phase


@case
async def a_pod_is_deleted_by_the_uid_it_had(server: Server) -> None:
    first = await server.pod()
    await server.delete(resource=PODS, grace=0)
    await server.pod()
    with pytest.raises(Conflict):
        await server.delete(resource=PODS, uid=first["metadata"]["uid"])


@case
async def a_deadline_can_be_given_to_a_pod_that_runs(server: Server) -> None:
    await server.pod()
    body = {"metadata": {"annotations": {"why": "done"}}, "spec": {"activeDeadlineSeconds": 1}}
    changed = await server.patch(body, resource=PODS)
    assert changed["spec"]["activeDeadlineSeconds"] == 1
    assert changed["metadata"]["annotations"]["why"] == "done"


@case
async def states_of_a_container_can_be_replaced_by_a_patch_of_the_status(server: Server) -> None:
    """What the runner writes: the list of containers is replaced whole."""
    await server.pod()
    for state in ({"waiting": {"reason": "X"}}, {"running": {"startedAt": "2026-01-01T00:00:00Z"}}):
        one = {"name": "c", "image": "none", "imageID": "", "ready": False, "restartCount": 0, "state": state}
        body = {"status": {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [one]}}
        changed = await server.patch(body, resource=PODS, sub="status")
        assert changed["status"]["containerStatuses"][0]["state"] == state
        assert changed["status"]["podIP"] == "10.0.0.1"


# --- watch ---


@case
async def a_watch_tells_what_happens_after_a_list(server: Server) -> None:
    await server.create("old")
    version = (await server.listed())["metadata"]["resourceVersion"]
    async with server.watch(resourceVersion=version) as watching:
        await server.create("new")
        await server.patch({"spec": {"size": 2}}, "new")
        await server.delete("new")
        want = [("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "new")]
        assert await watching.next_names(3) == want


@case
async def a_watch_without_a_version_begins_with_everything(server: Server) -> None:
    await server.create("a")
    async with server.watch() as watching:
        assert await watching.next_names(1) == [("ADDED", "a")]
        await server.create("b")
        assert await watching.next_names(1) == [("ADDED", "b")]


@case
async def a_watch_can_begin_with_everything_and_say_where_that_ends(server: Server) -> None:
    await server.create("a")
    await server.create("b")
    async with server.watch(
        sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true"
    ) as watching:
        assert sorted(await watching.next_names(2)) == [("ADDED", "a"), ("ADDED", "b")]
        kind, bookmark = await watching.next()
        assert kind == "BOOKMARK"
        assert bookmark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert bookmark["metadata"]["resourceVersion"]
        await server.create("c")
        assert await watching.next_names(1) == [("ADDED", "c")]


@case
async def to_a_watch_with_a_selector_objects_come_and_go_by_their_labels(server: Server) -> None:
    version = (await server.listed())["metadata"]["resourceVersion"]
    async with server.watch("k=1", resourceVersion=version) as watching:
        await server.create("a")
        await server.patch({"metadata": {"labels": {"k": "1"}}})
        await server.patch({"spec": {"size": 2}})
        gone = await server.patch({"metadata": {"labels": {"k": "2"}}})
        events = [await watching.next() for _ in range(3)]
        assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
        assert events[2][1]["metadata"]["resourceVersion"] == gone["metadata"]["resourceVersion"]


@case
async def the_last_event_of_an_object_has_a_version_of_its_own(server: Server) -> None:
    made = await server.create()
    async with server.watch(resourceVersion=made["metadata"]["resourceVersion"]) as watching:
        await server.delete()
        kind, last = await watching.next()
        assert kind == "DELETED"
        assert int(last["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


@case
async def versions_grow_with_every_event(server: Server) -> None:
    version = (await server.listed())["metadata"]["resourceVersion"]
    async with server.watch(resourceVersion=version) as watching:
        for name in ("a", "b"):
            await server.create(name)
        await server.patch({"spec": {"size": 2}}, "a")
        await server.delete("b")
        events = [await watching.next() for _ in range(4)]
        versions = [int(one["metadata"]["resourceVersion"]) for _, one in events]
        assert all(earlier < later for earlier, later in itertools.pairwise(versions))


@case
async def a_watch_from_a_forgotten_version_is_told_so(server: Server) -> None:
    for number in range(60):
        await server.create(f"w{number}")
    async with server.watch(resourceVersion="1") as watching:
        kind, status = await watching.next()
        assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")


@case
async def a_watch_ends_when_its_time_is_over(server: Server) -> None:
    version = (await server.listed())["metadata"]["resourceVersion"]
    async with server.watch(resourceVersion=version, timeoutSeconds="1") as watching:
        assert (await asyncio.wait_for(watching.response, PATIENCE)).status == 200


@case
async def a_watch_of_what_nobody_defined_is_not_found(server: Server) -> None:
    request = prepare("GET", f"/apis/example.org/v1/namespaces/{server.ns}/gadgets", query={"watch": "true"})
    response = await server.transport.stream(request, lambda _: None)
    assert response.status == 404


@case
async def an_event_is_told_to_every_watch(server: Server) -> None:
    version = (await server.listed())["metadata"]["resourceVersion"]
    async with server.watch(resourceVersion=version) as one, server.watch(resourceVersion=version) as other:
        await server.create()
        assert await one.next_names(1) == await other.next_names(1) == [("ADDED", "a")]


def _widget() -> Object:
    return {"apiVersion": WIDGETS.api_version, "kind": WIDGETS.kind, "spec": {"size": 1}}

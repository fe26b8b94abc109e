"""Paths and verbs: each names one thing, and what names nothing is answered as the real server does."""

import asyncio

import msgspec
import pytest

from paddle_operator.kube.transport import MERGE_PATCH, Request
from paddle_operator.local.apiserver.kinds import CONFIG_MAPS, pods
from paddle_operator.local.apiserver.refusals import Refusal
from paddle_operator.local.apiserver.routes import Target, find
from support.api import WIDGETS as RESOURCE
from support.api import Api, widget, widget_kind

WIDGETS, PODS = widget_kind(), pods()
KINDS = (WIDGETS, PODS, CONFIG_MAPS)
ROOT = "/apis/example.org/v1"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/api/v1/pods", Target(PODS)),
        ("/api/v1/configmaps", Target(CONFIG_MAPS)),
        (f"{ROOT}/widgets", Target(WIDGETS)),
        (f"{ROOT}/namespaces/ns/widgets", Target(WIDGETS, "ns")),
        (f"{ROOT}/namespaces/ns/widgets/a", Target(WIDGETS, "ns", "a")),
        (f"{ROOT}/namespaces/ns/widgets/a/status", Target(WIDGETS, "ns", "a", "status")),
        (f"{ROOT}/namespaces/widgets/widgets/widgets", Target(WIDGETS, "widgets", "widgets")),
    ],
)
def test_a_path_names_a_kind_a_namespace_an_object_and_a_part_of_it(path: str, target: Target) -> None:
    assert find(KINDS, path) == target


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/secrets",
        "/api/v1/widgets",
        "/api/v1/namespaces/ns",
        "/api/v1/namespaces/ns/secrets/a",
        "/api/v1/namespaces/ns/pods/a/log",
        "/api/v1/namespaces/ns/pods/a/status/more",
        "/api/v1/namespaces/ns/configmaps/a/status",
        "/apis/example.org/v2/widgets",
        "/apis/example.orgs/v1/widgets",
    ],
)
def test_a_path_that_names_nothing_is_not_found(path: str) -> None:
    with pytest.raises(Refusal, match="could not find the requested resource") as refusal:
        find(KINDS, path)
    assert refusal.value.code == 404


@pytest.mark.asyncio
async def test_a_list_names_its_kind_and_has_a_version_to_watch_from() -> None:
    api = Api()
    made = await api.create(widget())
    listed = await api.list()
    assert (listed["apiVersion"], listed["kind"]) == ("example.org/v1", "WidgetList")
    assert listed["metadata"] == {"resourceVersion": made["metadata"]["resourceVersion"]}
    assert listed["items"] == [made]


@pytest.mark.asyncio
async def test_a_list_of_all_namespaces_shows_all() -> None:
    api = Api()
    await api.create(widget("a"))
    await api.client.create(RESOURCE, "elsewhere", widget("b"))
    assert await api.names(namespace="") == ["b", "a"]
    assert await api.names() == ["a"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (Request(method="GET", path=f"{ROOT}/namespaces/ns/widgets/a"), 200),
        (Request(method="GET", path=f"{ROOT}/namespaces/ns/widgets/b"), 404),
        (Request(method="GET", path=f"{ROOT}/namespaces/elsewhere/widgets/a"), 404),
        (Request(method="GET", path=f"{ROOT}/gadgets"), 404),
        (Request(method="PUT", path=f"{ROOT}/namespaces/ns/widgets/a"), 400),
        (Request(method="HEAD", path=f"{ROOT}/namespaces/ns/widgets/a"), 405),
        (Request(method="POST", path=f"{ROOT}/namespaces/ns/widgets", body=b'{"metadata":'), 400),
        (Request(method="POST", path=f"{ROOT}/namespaces/ns/widgets", body=b"[]"), 400),
        (Request(method="POST", path=f"{ROOT}/namespaces/ns/widgets"), 400),
        (
            Request(method="POST", path=f"{ROOT}/namespaces/ns/widgets", body=b'{"metadata":{"name":"b"}}'),
            201,
        ),
        (Request(method="PATCH", path=f"{ROOT}/namespaces/ns/widgets/a", body=b"{}"), 415),
        (
            Request(
                method="PATCH",
                path=f"{ROOT}/namespaces/ns/widgets/a",
                body=b"[]",
                content_type=MERGE_PATCH,
            ),
            400,
        ),
        (Request(method="DELETE", path=f"{ROOT}/namespaces/ns/widgets/a"), 200),
    ],
)
@pytest.mark.asyncio
async def test_every_request_has_an_answer_and_a_refusal_is_a_status(request_: Request, status: int) -> None:
    api = Api()
    await api.create(widget())
    answer = await api.server.request(request_)
    body = msgspec.json.decode(answer.body)
    assert answer.status == status
    assert (body["kind"] == "Status") == (status >= 400)
    assert status < 400 or (body["code"], body["status"]) == (status, "Failure")
    assert status < 400 or body["message"]


@pytest.mark.asyncio
async def test_an_object_is_not_created_in_no_namespace() -> None:
    request = Request(method="POST", path=f"{ROOT}/widgets", body=b'{"metadata":{"name":"a"}}')
    assert (await Api().server.request(request)).status >= 400


@pytest.mark.asyncio
async def test_deleting_a_status_does_not_delete_the_object() -> None:
    api = Api()
    await api.create(widget())
    request = Request(method="DELETE", path=f"{ROOT}/namespaces/ns/widgets/a/status")
    assert (await api.server.request(request)).status == 405
    assert await api.names() == ["a"]


@pytest.mark.asyncio
async def test_an_answer_never_comes_in_the_same_breath() -> None:
    """So that a race which exists before a real server exists here too."""
    api, order = Api(), list[str]()

    async def ask() -> None:
        await api.names()
        order.append("answer")

    async def meanwhile() -> None:
        order.append("something else")

    await asyncio.gather(ask(), meanwhile())
    assert order == ["something else", "answer"]

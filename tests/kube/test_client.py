"""Each verb is one request; how it looks is what a real server would be sent."""

import msgspec
import pytest

from paddle_operator.kube.client import Client, Object, prepare
from paddle_operator.kube.errors import AlreadyExists, Gone, NotFound
from paddle_operator.kube.resources import PODS, Resource
from paddle_operator.kube.transport import JSON, MERGE_PATCH, Request, Response
from support.api import WIDGETS, Canned


def sent(transport: Canned) -> tuple[Request, Object | None]:
    """The one request, and its body."""
    (request,) = transport.requests
    return request, None if request.body is None else msgspec.json.decode(request.body)


@pytest.mark.parametrize(
    ("resource", "parts", "path"),
    [
        (PODS, (), "/api/v1/pods"),
        (PODS, ("ns",), "/api/v1/namespaces/ns/pods"),
        (PODS, ("ns", "a"), "/api/v1/namespaces/ns/pods/a"),
        (WIDGETS, ("ns", "a", "status"), "/apis/example.org/v1/namespaces/ns/widgets/a/status"),
    ],
)
def test_the_path_names_group_version_namespace_kind_and_object(
    resource: Resource, parts: tuple[str, ...], path: str
) -> None:
    assert resource.path(*parts) == path


def test_the_group_is_part_of_the_api_version_where_there_is_one() -> None:
    assert (PODS.api_version, WIDGETS.api_version) == ("v1", "example.org/v1")


def test_query_entries_without_a_value_are_left_out() -> None:
    request = prepare("GET", "/x", query={"labelSelector": "", "watch": "true"})
    assert (request.query, request.body, request.content_type) == ({"watch": "true"}, None, JSON)


@pytest.mark.asyncio
async def test_get_returns_the_object() -> None:
    transport = Canned(Response(status=200, body=b'{"kind":"Pod"}'))
    assert await Client(transport).get(PODS, "ns", "a") == {"kind": "Pod"}
    request, body = sent(transport)
    assert (request.method, request.path, body) == ("GET", "/api/v1/namespaces/ns/pods/a", None)


@pytest.mark.asyncio
async def test_create_posts_to_the_collection() -> None:
    transport = Canned(Response(status=201, body=b'{"kind":"Pod"}'))
    assert await Client(transport).create(PODS, "ns", {"spec": {}}) == {"kind": "Pod"}
    request, body = sent(transport)
    assert (request.method, request.path, body) == ("POST", "/api/v1/namespaces/ns/pods", {"spec": {}})
    assert request.content_type == JSON


@pytest.mark.asyncio
async def test_patch_is_a_merge_patch_and_keeps_its_nulls() -> None:
    transport = Canned()
    await Client(transport).patch(WIDGETS, "ns", "a", {"status": {"x": None}}, subresource="status")
    request, body = sent(transport)
    assert (request.method, request.content_type) == ("PATCH", MERGE_PATCH)
    assert request.path == "/apis/example.org/v1/namespaces/ns/widgets/a/status"
    assert body == {"status": {"x": None}}


@pytest.mark.asyncio
async def test_delete_leaves_children_to_the_garbage_collector_and_the_grace_to_the_pod() -> None:
    transport = Canned()
    await Client(transport).delete(PODS, "ns", "a")
    request, body = sent(transport)
    assert (request.method, request.path) == ("DELETE", "/api/v1/namespaces/ns/pods/a")
    assert body == {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}


@pytest.mark.asyncio
async def test_delete_may_ask_for_that_very_object_and_for_no_grace_at_all() -> None:
    transport = Canned()
    await Client(transport).delete(PODS, "ns", "a", uid="u", grace=0)
    _, body = sent(transport)
    assert body is not None
    assert (body["preconditions"], body["gracePeriodSeconds"]) == ({"uid": "u"}, 0)


@pytest.mark.asyncio
async def test_list_selects_by_labels_over_all_namespaces_or_one() -> None:
    transport = Canned(Response(status=200, body=b"as it is"))
    answer = await Client(transport).list(PODS, "", "app=x")
    request, _ = sent(transport)
    assert (request.path, request.query) == ("/api/v1/pods", {"labelSelector": "app=x"})
    assert answer.body == b"as it is"


@pytest.mark.asyncio
async def test_watch_goes_on_from_a_version_and_feeds_what_comes() -> None:
    transport, pieces = Canned(lines=(b"one", b"two")), list[bytes]()
    await Client(transport).watch(PODS, "ns", "app=x", "7", pieces.append)
    request, _ = sent(transport)
    assert pieces == [b"one", b"two"]
    assert (
        request.query.items()
        >= {
            "watch": "true",
            "resourceVersion": "7",
            "labelSelector": "app=x",
            "allowWatchBookmarks": "true",
        }.items()
    )
    assert int(request.query["timeoutSeconds"]) > 0


@pytest.mark.asyncio
async def test_a_watch_that_is_refused_raises() -> None:
    with pytest.raises(Gone):
        await Client(Canned(Response(status=410))).watch(PODS, "", "", "7", lambda _: None)


@pytest.mark.asyncio
async def test_a_no_of_the_server_raises_what_it_means() -> None:
    with pytest.raises(NotFound):
        await Client(Canned(Response(status=404))).delete(PODS, "ns", "a")
    with pytest.raises(NotFound):
        await Client(Canned(Response(status=404))).list(PODS, "ns", "")
    with pytest.raises(AlreadyExists):
        await Client(Canned(Response(status=409, body=b'{"reason":"AlreadyExists"}'))).create(PODS, "ns", {})


@pytest.mark.asyncio
async def test_a_delete_that_only_began_is_a_success() -> None:
    await Client(Canned(Response(status=202))).delete(PODS, "ns", "a")

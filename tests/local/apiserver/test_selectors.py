"""Label selectors mean what they mean in Kubernetes."""

import pytest

from paddle_operator.local.apiserver.selectors import parse_selector
from support.api import Api, widget


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        ("", {}, True),
        ("app", {"app": ""}, True),
        ("app", {}, False),
        ("!app", {}, True),
        ("!app", {"app": "x"}, False),
        ("app=x", {"app": "x"}, True),
        ("app=x", {"app": "y"}, False),
        ("app=x", {}, False),
        ("app=", {"app": ""}, True),
        ("app=", {}, False),
        ("app==x", {"app": "x"}, True),
        ("app==x", {"app": "=x"}, False),
        ("app!=x", {"app": "y"}, True),
        ("app!=x", {"app": "x"}, False),
        ("app!=x", {}, True),
        ("a=1,b=2", {"a": "1", "b": "2"}, True),
        ("a=1,b=2", {"a": "1", "b": "3"}, False),
        ("a=1,!b", {"a": "1"}, True),
        (" a = 1 , b ", {"a": "1", "b": ""}, True),
        ("paddle/res-name", {"paddle/res-name": "demo"}, True),
    ],
)
def test_a_selector_matches(selector: str, labels: dict[str, str], matches: bool) -> None:
    assert parse_selector(selector)(labels) is matches


@pytest.mark.asyncio
async def test_a_list_shows_what_matches_in_the_order_of_names() -> None:
    api = Api()
    await api.create(widget("c", labels={"app": "x"}))
    await api.create(widget("b"))
    await api.create(widget("a", labels={"app": "x"}))
    await api.create(widget("d") | {"metadata": {"name": "d", "labels": None}})
    assert await api.names(selector="app=x") == ["a", "c"]
    assert await api.names(selector="!app") == ["b", "d"]


def test_a_selector_that_is_not_understood_is_refused() -> None:
    with pytest.raises(Exception, match="selector"):
        parse_selector("app in (x, y)")

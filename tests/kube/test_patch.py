"""What `merge_diff` finds, the server's `merged` does."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_operator.kube.patch import merge_diff
from paddle_operator.local.apiserver.merge import merged

scalars = st.one_of(st.integers(-2, 2), st.text("ab", max_size=2), st.booleans())
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


@settings(max_examples=200, deadline=None)
@given(documents, documents)
def test_the_patch_between_two_documents_turns_the_one_into_the_other(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert merged(old, merge_diff(old, new)) == new


@settings(max_examples=100, deadline=None)
@given(documents, documents)
def test_the_patch_is_empty_exactly_when_nothing_differs(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert (merge_diff(old, new) == {}) == (old == new)


def test_only_what_differs_is_in_the_patch() -> None:
    old = {"same": 1, "deep": {"same": 1, "other": 1}, "list": [1, 2]}
    new = {"same": 1, "deep": {"same": 1, "other": 2}, "list": [1, 3]}
    assert merge_diff(old, new) == {"deep": {"other": 2}, "list": [1, 3]}


def test_what_is_missing_in_the_new_document_is_removed_by_null() -> None:
    assert merge_diff({"a": 1, "deep": {"b": 1}}, {"deep": {}}) == {"a": None, "deep": {"b": None}}


def test_a_new_empty_mapping_is_set() -> None:
    assert merge_diff({}, {"a": {}}) == {"a": {}}


def test_finding_a_patch_changes_neither_document() -> None:
    old, new = {"deep": {"a": 1}}, {"deep": {"a": 2}}
    merge_diff(old, new)
    assert (old, new) == ({"deep": {"a": 1}}, {"deep": {"a": 2}})

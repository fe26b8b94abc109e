"""The schema of a type says what the type says, and nothing else."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from paddle_operator.api.base import Open, Struct
from paddle_operator.api.schema import schema_of


class Word(StrEnum):
    ONE = "One"
    TWO = "Two"


class Leaf(Struct, frozen=True):
    must: str
    may_be: int = 0


class Whole(Struct, frozen=True):
    leaf: Leaf | None = None
    words: list[Word] = []
    by_name: dict[str, int] = {}
    anything: dict[str, Any] = {}
    amount: int | float | str = 0
    bounded: Annotated[int, Meta(ge=1, le=3)] = 1
    text: Annotated[str, Meta(min_length=1)] = "a"
    some: Annotated[list[str], Meta(min_length=1)] = []
    loose: Annotated[dict[str, Any], Meta(extra={"skeleton": Leaf})] = {}


KEEP = {"x-kubernetes-preserve-unknown-fields": True}
LEAF = {
    "type": "object",
    "required": ["must"],
    "properties": {"must": {"type": "string"}, "mayBe": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("field", "want"),
    [
        ("leaf", LEAF),
        ("words", {"type": "array", "items": {"type": "string", "enum": ["One", "Two"]}}),
        ("byName", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("anything", {"type": "object", **KEEP}),
        ("amount", KEEP),
        ("bounded", {"type": "integer", "minimum": 1, "maximum": 3}),
        ("text", {"type": "string", "minLength": 1}),
        ("some", {"type": "array", "minItems": 1, "items": {"type": "string"}}),
        ("loose", LEAF),
    ],
)
def test_each_kind_of_field_has_its_schema(field: str, want: dict[str, Any]) -> None:
    assert schema_of(Whole)["properties"][field] == want


def test_a_type_without_required_fields_requires_none() -> None:
    assert "required" not in schema_of(Whole)


class OpenLeaf(Open, frozen=True):
    name: str


def test_only_what_is_open_keeps_fields_it_does_not_know() -> None:
    assert "x-kubernetes-preserve-unknown-fields" not in schema_of(Whole)


def test_what_is_open_says_so_beside_its_fields() -> None:
    assert schema_of(OpenLeaf) == {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}},
        **KEEP,
    }


def test_a_type_that_no_schema_can_say_is_an_error_and_not_a_hole() -> None:
    class Odd(msgspec.Struct):
        odd: bytes

    with pytest.raises(KeyError):
        schema_of(Odd)

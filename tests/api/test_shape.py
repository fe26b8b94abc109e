"""The walk beside the types: every misfit is found at once, and each message is in words of YAML."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from paddle_operator.api.problems import Problem
from paddle_operator.api.shape import check_shape, describe, suggestion, unknown_fields, without_nothings


class Colour(StrEnum):
    RED = "Red"
    GREEN = "Green"
    NONE = ""


class Leaf(msgspec.Struct, rename="camel"):
    how_many: int
    name: str = ""


class Bounded(msgspec.Struct, rename="camel"):
    few: Annotated[int, Meta(ge=0, le=2)] = 0
    many: Annotated[int, Meta(ge=0, le=1000)] = 0
    word: Annotated[str, Meta(min_length=1)] = "a"
    amount: int | float | str | None = None
    loose: Annotated[dict[str, Any], Meta(extra={"skeleton": Leaf})] = {}


class Tree(msgspec.Struct, rename="camel"):
    leaf: Leaf
    leaves: list[Leaf] = []
    by_name: dict[str, str] = {}
    anything: dict[str, Any] = {}
    colour: Colour = Colour.RED
    maybe: Leaf | None = None
    alive: bool = True


def texts(raw: object) -> list[str]:
    return [str(problem) for problem in check_shape(raw, Tree)]


def test_a_document_that_fits_has_no_problems() -> None:
    fitting = {
        "leaf": {"howMany": 1, "name": "a"},
        "leaves": [{"howMany": 2}],
        "byName": {"a": "b"},
        "anything": {"a": {"b": [1, None]}},
        "colour": "Green",
        "maybe": {"howMany": 3},
        "alive": False,
    }
    assert check_shape(fitting, Tree) == []


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("leaf", "x", 'leaf: must be a mapping, found the text "x"'),
        ("leaf", {"howMany": "2"}, 'leaf.howMany: must be a whole number, found the text "2"'),
        ("leaf", {"howMany": 2.5}, "leaf.howMany: must be a whole number, found the number 2.5"),
        ("leaf", {"howMany": True}, "leaf.howMany: must be a whole number, found true"),
        ("leaf", {"howMany": 1, "name": 7}, "leaf.name: must be text, found the number 7"),
        ("leaves", {"howMany": 2}, "leaves: must be a list of mappings, found a mapping"),
        ("leaves", "abc", 'leaves: must be a list of mappings, found the text "abc"'),
        ("leaves", [{"howMany": 1}, 3], "leaves[1]: must be a mapping, found the number 3"),
        ("byName", ["a"], "byName: must be a mapping, found a list"),
        ("byName", {"a": 1}, "byName.a: must be text, found the number 1"),
        ("colour", "Blue", 'colour: must be one of Red, Green, found the text "Blue"'),
        ("colour", ["Red"], "colour: must be one of Red, Green, found a list"),
        ("maybe", 1, "maybe: must be a mapping, found the number 1"),
        ("alive", 1, "alive: must be true or false, found the number 1"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_its_path(field: str, wrong: object, message: str) -> None:
    assert texts({"leaf": {"howMany": 1}, field: wrong}) == [message]


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("few", 3, "few: must be 0, 1 or 2, found the number 3"),
        ("few", -1, "few: must be 0, 1 or 2, found the number -1"),
        ("many", -1, "many: must be 0 or more, found -1"),
        ("many", 1001, "many: must be 1000 or less, found 1001"),
        ("word", "", "word: must not be empty"),
        ("amount", ["1Gi"], "amount: must be a whole number or a number or text, found a list"),
        ("amount", True, "amount: must be a whole number or a number or text, found true"),
        ("loose", [], "loose: must be a mapping, found a list"),
        ("loose", {"howMany": "x", "more": 1}, 'loose.howMany: must be a whole number, found the text "x"'),
    ],
)
def test_what_lies_out_of_bounds_is_named_with_the_bound(field: str, wrong: object, message: str) -> None:
    assert [str(problem) for problem in check_shape({field: wrong}, Bounded)] == [message]


@pytest.mark.parametrize("amount", ["500m", 1, 0.5, None])
def test_a_quantity_may_be_written_in_any_way_kubernetes_takes(amount: object) -> None:
    fitting = {"few": 2, "many": 1000, "word": "b", "amount": amount, "loose": {"howMany": 2, "more": 1}}
    assert check_shape(fitting, Bounded) == []


def test_all_problems_are_found_at_once() -> None:
    raw = {"leaves": [{"howMany": "a"}, {}], "colour": 1}
    assert texts(raw) == [
        'leaves[0].howMany: must be a whole number, found the text "a"',
        "leaves[1].howMany: is required",
        "colour: must be one of Red, Green, found the number 1",
        "leaf: is required",
    ]


def test_a_misspelt_choice_is_told_the_nearest_one() -> None:
    (message,) = texts({"leaf": {"howMany": 1}, "colour": "green"})
    assert message.endswith('found the text "green" (did you mean Green?)')


def test_null_is_an_absent_field_unless_the_field_is_required() -> None:
    assert texts({"leaf": {"howMany": 1}, "leaves": None, "maybe": None, "colour": None}) == []
    assert texts({"leaf": None}) == ["leaf: must not be empty"]


def test_a_root_that_is_no_mapping_is_a_problem_of_the_document() -> None:
    assert texts([1]) == ["(document): must be a mapping, found a list"]


def test_unknown_fields_are_found_in_structs_and_structs_within_optionals() -> None:
    raw = {"leaf": {"howmany": 1}, "maybe": {"howMany": 1, "nam": "x"}, "zzzzzz": 1}
    assert [str(problem) for problem in unknown_fields(raw, Tree)] == [
        "leaf.howmany: unknown field (did you mean howMany?)",
        "maybe.nam: unknown field (did you mean name?)",
        "zzzzzz: unknown field",
    ]


def test_what_a_free_mapping_holds_is_never_unknown() -> None:
    assert unknown_fields({"leaf": {"howMany": 1}, "anything": {"whatever": 1}}, Tree) == []


def test_unknown_fields_of_a_document_that_is_no_mapping_are_none() -> None:
    assert unknown_fields("text", Tree) == []


@pytest.mark.defect("upstream-23")
@pytest.mark.parametrize("word", ["replica", "REPLICAS", "repilcas"])
def test_a_suggestion_ignores_case_and_small_slips(word: str) -> None:
    assert suggestion(word, ["template", "replicas"]) == " (did you mean replicas?)"


def test_no_suggestion_is_made_when_nothing_is_close() -> None:
    assert suggestion("qqq", ["template", "replicas"]) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        (False, "false"),
        (3, "the number 3"),
        (1.5, "the number 1.5"),
        ("x", 'the text "x"'),
        ("y" * 41, f'the text "{"y" * 37}..."'),
        ({}, "a mapping"),
        ([], "a list"),
        (date(2026, 1, 1), "a date"),
    ],
)
def test_a_value_is_described_as_a_person_would(value: object, words: str) -> None:
    assert describe(value) == words


def test_nothings_are_taken_out_of_mappings_at_any_depth() -> None:
    raw = {"a": None, "b": [{"c": None, "d": 1}], "e": {"f": None}}
    assert without_nothings(raw) == {"b": [{"d": 1}], "e": {}}


def test_a_path_is_written_as_people_write_it() -> None:
    assert Problem(("spec", "containers", 0, "name"), "x").field == "spec.containers[0].name"
    assert Problem((), "x").field == "(document)"

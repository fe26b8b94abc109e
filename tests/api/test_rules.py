"""Our own validation refuses what the server will refuse, at the same field and with the same sentence."""

from typing import Any

import pytest

from paddle_operator.api import cel
from paddle_operator.api.rules import ROLE_FIELDS, RULES, written_roles
from paddle_operator.api.validation import InvalidJobError, parse_job
from support.bad_objects import BAD_OBJECTS, Bad, By, job, role, too_long

Raw = dict[str, Any]


def problems_of(raw: Raw) -> list[tuple[str, str]]:
    with pytest.raises(InvalidJobError) as caught:
        parse_job(raw)
    return [(problem.field, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize("bad", BAD_OBJECTS, ids=str)
def test_a_bad_object_is_refused_for_one_reason_at_its_field(bad: Bad) -> None:
    ((field, message),) = problems_of(bad.object)
    assert field == bad.field
    assert bad.message in message


@pytest.mark.parametrize("bad", [bad for bad in BAD_OBJECTS if bad.by is By.RULE], ids=str)
def test_of_a_rule_the_list_of_bad_objects_knows_the_whole_sentence(bad: Bad) -> None:
    assert problems_of(bad.object) == [(bad.field, bad.message)]


def test_every_rule_is_broken_by_some_bad_object() -> None:
    seen = {(bad.field, bad.message) for bad in BAD_OBJECTS if bad.by is By.RULE}
    for rule in RULES:
        if not rule.exact:
            assert (".".join(map(str, (*rule.place, *rule.field))), rule.message) in seen
    assert ("metadata.name", too_long(54, 55)) in seen


def test_bad_objects_have_names_of_their_own() -> None:
    assert len({bad.name for bad in BAD_OBJECTS}) == len(BAD_OBJECTS)


def test_broken_rules_come_together() -> None:
    raw = job("x" * 70, ps={"replicas": 0}, elastic=1)
    assert [field for field, _ in problems_of(raw)] == [
        "metadata.name",
        "spec",
        "spec.elastic",
        "spec.ps.template.spec.containers",
    ]


@pytest.mark.parametrize(
    "good",
    [
        job("a" * 54, worker=role()),
        job("a" * 53, worker=role(11), ps=role()),
        job("a-1", worker=role(0), ps=role(1)),
        job(worker=role(), elastic=0),
        job(worker=role(), ps=role(), heter=role(0)),
    ],
)
def test_what_just_keeps_the_rules_is_taken(good: Raw) -> None:
    assert parse_job(good).spec.worker is not None


def test_every_role_in_the_spec_is_a_role_of_the_rules() -> None:
    parsed = parse_job(job(worker=role(), ps=role(), heter=role()))
    assert tuple(written_roles(parsed.spec)) == ROLE_FIELDS == ("ps", "worker", "heter")


def evaluate(expression: str, value: int) -> str:
    """A number in CEL is so plain that it is Python too, but for `?:` and whole division."""
    total = ""
    for term in expression.replace("N", str(value)).split(" + "):
        condition, _, digit = term.strip("()").rpartition(" ? ")
        index = digit.removesuffix(" : ''").rpartition("[")[2].rstrip("]").replace("/", "//")
        if not condition or eval(condition):
            total += str(eval(index))
    return total


@pytest.mark.parametrize("value", [0, 7, 10, 45, 58, 99, 100, 101, 253, 999])
def test_a_number_is_written_in_cel_as_people_write_it(value: int) -> None:
    assert evaluate(cel.number("N", digits=3), value) == str(value)

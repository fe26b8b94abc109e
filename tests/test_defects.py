"""Every listed defect of the systems this one replaces is covered by a test, or says which issue will."""

import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent


def listed() -> dict[str, int]:
    """Id -> the issue that will cover it, or 0."""
    table = tomllib.loads((TESTS / "defects.toml").read_text())
    return {f"{system}-{number}": one[0] for system, ones in table.items() for number, one in ones.items()}


def marked() -> set[str]:
    text = "".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    return set(re.findall(r'mark\.defect\("([a-z]+-\d+)"\)', text))


def test_what_counts_as_covered_has_a_test_with_its_mark() -> None:
    assert {defect for defect, issue in listed().items() if not issue} == marked()


def test_every_defect_of_the_lists_is_there() -> None:
    numbers = {defect.split("-")[0]: 0 for defect in listed()}
    for defect in listed():
        numbers[defect.split("-")[0]] += 1
    assert numbers == {"upstream": 34, "peer": 15}

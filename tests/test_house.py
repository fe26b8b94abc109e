"""Rules of the house that no linter knows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FUNCTION, LONGEST_FILE = 40, 400


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{path.name}:{one.lineno} {one.name}"
        for path in MODULES
        for one in functions(path)
        if (one.end_lineno or 0) - one.lineno + 1 > LONGEST_FUNCTION
    ]
    assert not long


def test_no_file_is_longer_than_a_sitting() -> None:
    assert not [path.name for path in MODULES if len(path.read_text().splitlines()) > LONGEST_FILE]


def test_every_module_says_what_it_is() -> None:
    silent = [str(path) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert not silent


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_and_function_a_page_names_is_there(page: str) -> None:
    """`plan/outcome.py: judge` names a function of the package; `tests/x.py` a file of the repository."""
    text = (ROOT / page).read_text()
    for path, _, name in re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|yaml|md|toml|txt))(: (\w+))?`", text):
        found = [root / path for root in (ROOT, ROOT / "src/paddle_operator") if (root / path).exists()]
        assert found, f"{page} names {path}"
        if name:
            defined = {
                node.name
                for node in ast.walk(ast.parse(found[0].read_text()))
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            }
            assert name in defined, f"{page} names {name} in {path}"


def test_every_make_target_the_pages_name_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / page).read_text(), re.MULTILINE))
        assert named <= targets, page

"""Mutation testing: breaks a module in many small ways, one at a time, and asks the tests to notice.

    mutate.py src/paddle_operator/kube/queue.py tests/kube/test_queue.py [more tests]

Each mutant is the module with one change (a comparison turned, a constant moved, a condition negated, a
statement left out) in a copy of the tree. It is killed when the tests fail, and survives when they pass. The
survivors are printed, then one line with the share that was killed.
"""

import ast
import copy
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

Change = Callable[[ast.AST], None]

ROOT = Path(__file__).parent.parent
PATIENCE = 60  # seconds; a mutant that hangs is killed too

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    line: int
    what: str
    source: str


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    module, tests = Path(sys.argv[1]), sys.argv[2:]
    mutants = list(mutants_of(module.read_text()))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alive = pool.map(lambda one: survives(module, tests, one), mutants)
        survived = [one for one, lives in zip(mutants, alive, strict=True) if lives]
    for one in survived:
        print(f"{module}:{one.line}: survived: {one.what}")
    killed = len(mutants) - len(survived)
    print(f"{module}: {killed} of {len(mutants)} mutants killed ({100 * killed / len(mutants):.0f} %)")
    return 0


def mutants_of(source: str) -> Iterator[Mutant]:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        for what, change in changes(node):
            other = copy.deepcopy(tree)
            target = list(ast.walk(other))[number]
            change(target)
            text = ast.unparse(ast.fix_missing_locations(other))
            yield Mutant(getattr(node, "lineno", 0), what, text)


def changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _TURNED:
            yield f"{ast.unparse(node)}: comparison turned", _turn
        case ast.BoolOp():
            yield f"{ast.unparse(node)}: and <-> or", _swap
        case ast.UnaryOp(op=ast.Not()):
            yield f"{ast.unparse(node)}: not left out", _affirm
        case ast.If() | ast.While() if not isinstance(node.test, ast.Constant):
            yield f"if {ast.unparse(node.test)}: negated", _negate
        case ast.IfExp():
            yield f"{ast.unparse(node)}: negated", _negate
        case ast.Constant(value=bool()):
            yield f"{node.value!r}: flipped", _flip
        case ast.Constant(value=int() | float()):
            yield f"{node.value!r}: one more", _more
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield f"{ast.unparse(node)}: + <-> -", _oppose
    yield from _left_out(node)


def _left_out(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Statements that do something, one at a time: calls, assignments to attributes, raises."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return
    for place, statement in enumerate(body):
        does = isinstance(statement, ast.Expr) and isinstance(
            statement.value, ast.Call | ast.Await | ast.YieldFrom
        )
        if does or isinstance(statement, ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Return):
            yield f"{ast.unparse(statement)}: left out", _Leave(place)


class _Leave:
    def __init__(self, place: int) -> None:
        self._place = place

    def __call__(self, node: ast.AST) -> None:
        node.body[self._place] = ast.Pass()  # type: ignore[attr-defined]


def _turn(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops = [_TURNED[type(node.ops[0])]()]


def _swap(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _affirm(node: ast.AST) -> None:
    assert isinstance(node, ast.UnaryOp)
    node.operand = ast.UnaryOp(ast.Not(), node.operand)


def _negate(node: ast.AST) -> None:
    assert isinstance(node, ast.If | ast.While | ast.IfExp)
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _flip(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    node.value = not node.value


def _more(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int | float)
    node.value = node.value + 1


def _oppose(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp)
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()


def survives(module: Path, tests: list[str], mutant: Mutant) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__", "kubelab"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        (tree / module).write_text(mutant.source)
        return _tests_pass(tree, tests)


def _tests_pass(tree: Path, tests: list[str]) -> bool:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "--timeout",
        "20",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())

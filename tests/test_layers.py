"""The contract of the layers holds, and would notice: each rule is broken once, in a copy."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BREAKS = {
    "plan imports kube": ("plan/planner.py", "from paddle_operator.kube import client"),
    "plan waits": ("plan/planner.py", "import asyncio"),
    "api imports plan": ("api/words.py", "from paddle_operator.plan import names"),
    "kube knows Paddle": ("kube/client.py", "from paddle_operator.api import words"),
    "the runner imports controllers": ("local/runner/node.py", "from paddle_operator.controllers import act"),
    "the runner imports the planner": ("local/runner/node.py", "from paddle_operator.plan import names"),
    "the API server uses a client": ("local/apiserver/server.py", "from paddle_operator.kube import client"),
    "the API server knows Paddle": ("local/apiserver/kinds.py", "from paddle_operator.api import words"),
    "controllers reach into local": ("controllers/act.py", "from paddle_operator.local import runner"),
    "the CLI speaks HTTP": ("cli/run.py", "import http.client"),
    "controllers speak HTTP": ("controllers/act.py", "import aiohttp"),
    "local speaks HTTP": ("local/runner/node.py", "import urllib.request"),
}


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            Path(sys.executable).parent / "lint-imports",
            "--no-logo",
            "--no-cache",
            "--config",
            "pyproject.toml",
        ],
        cwd=tree,
        env={"PYTHONPATH": str(tree / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contract_holds(tree: Path) -> None:
    answer = lint(tree)
    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize("what", BREAKS)
def test_the_contract_notices_when(what: str, tree: Path) -> None:
    file, line = BREAKS[what]
    path = tree / "src" / "paddle_operator" / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    answer = lint(tree)
    assert answer.returncode != 0
    assert "BROKEN" in answer.stdout, answer.stdout + answer.stderr

"""The programs of a control plane: where they are, and how they are started, watched and stopped."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

KEEPER = Path(__file__).with_name("keeper.py")
LOG_LINES = 30

T = TypeVar("T")


def until(probe: Callable[[], T | None], what: str, seconds: float = 15.0) -> T:
    """What the probe says as soon as it is true; a failure that names what was waited for if it never is."""
    end = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)


def skip(reason: str) -> NoReturn:
    """Except where everything must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Programs:
    """kubelab, one binary whose first argument chooses; or a folder with one binary for each part."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def found(cls) -> "Programs":
        value = os.environ.get("KUBEBUILDER_ASSETS") or os.environ.get("KUBELAB")
        if not value:
            skip("KUBELAB names no Kubernetes to test with; `make test` builds one")
        if not Path(value).exists():
            skip(f"there is no {value}, which KUBELAB or KUBEBUILDER_ASSETS names")
        return cls(Path(value).resolve())

    def has(self, part: str) -> bool:
        return self.path.is_file() or (self.path / part).exists()

    def need(self, *parts: str) -> None:
        for part in parts:
            if not self.has(part):
                skip(f"{self.path} has no {part}; without KUBEBUILDER_ASSETS `make test` builds all parts")

    def command(self, part: str) -> list[str]:
        return [str(self.path), part] if self.path.is_file() else [str(self.path / part)]

    def version(self) -> str:
        """As `v1.2.3`."""
        command = [*self.command("kube-apiserver"), "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.split()[
            -1
        ]


class Keeper:
    """The client of keeper.py; its folder lives as long as it does."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kubelab-"))
        self.environment = clean_environment(self.folder)
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(KEEPER), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
            start_new_session=True,
        )

    def start(self, name: str, command: list[str]) -> int:
        pid = self._tell({"start": name, "command": command})
        assert pid
        return pid

    def stop(self, name: str) -> None:
        self._tell({"stop": name})

    def wait_for(self, name: str, ready: Callable[[], bool], seconds: float = 30.0) -> None:
        """Until it is ready; if it never is, or dies before, the end of its log is the failure."""

        def decided() -> bool:
            code = self._tell({"ask": name})
            assert code is None, f"exit code {code}"
            return ready()

        try:
            until(decided, "ready", seconds)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}\n{self.log_end(name)}") from None

    def log_end(self, name: str) -> str:
        lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES:])

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(120)
        self._process.stdout.close()

    def _tell(self, request: dict[str, object]) -> int | None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the keeper of the control plane is gone; it was asked to {request}"
        answer: int | None = json.loads(line)
        return answer


def clean_environment(home: Path) -> dict[str, str]:
    """Caches and configuration in the folder that is removed; no proxy on the way to the loopback."""
    return {"HOME": str(home), "TMPDIR": str(home), "PATH": os.environ.get("PATH", "")}

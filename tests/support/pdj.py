"""The real `pdj` as a process, and tiny jobs for it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from support.processes import BOUND, marked, new_marker, wait_until

PDJ = Path(sys.executable).parent / "pdj"


class Result(NamedTuple):
    code: int
    out: str
    err: str


def run_pdj(*args: str | Path, cwd: Path) -> Result:
    """To its end; for commands that end by themselves."""
    with Run(cwd, *args) as run:
        return run.result()


def shell_role(replicas: int, script: str, **container: Any) -> dict[str, Any]:
    fields = {"name": "main", "image": "img:1", "command": ["sh", "-c", script], **container}
    return {"replicas": replicas, "template": {"spec": {"containers": [fields]}}}


def job_text(name: str = "demo", **spec: Any) -> str:
    """JSON is YAML."""
    job = {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": spec,
    }
    return json.dumps(job, indent=2)


def write_job(folder: Path, name: str = "demo", **spec: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(job_text(name, **spec), encoding="utf-8")
    return path


def _as_from_a_terminal() -> None:
    """Whoever runs the tests may ignore signals, as `nohup` does, and children would ignore them too."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Run:
    """A running `pdj`. As a context it leaves no process behind, whatever the test found."""

    def __init__(self, cwd: Path, *args: str | Path, env: Mapping[str, str] | None = None) -> None:
        self.cwd, self.marker = cwd, new_marker()
        self._out, self._err = (cwd / f".{self.marker}.{name}" for name in ("out", "err"))
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [str(PDJ), *map(str, args)],
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **(env or {}), "MARKER": self.marker},
                start_new_session=True,
                preexec_fn=_as_from_a_terminal,  # noqa: PLW1509 - no threads here
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(BOUND)
        for pid in self.members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def out(self) -> str:
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        return self._err.read_text(errors="replace")

    @property
    def members(self) -> list[int]:
        """Every living process that descends from this run."""
        return [pid for pid in marked(self.marker) if pid != self.process.pid]

    def log(self, member: str, job: str = "demo") -> str:
        path = self.cwd / ".pdj" / job / "0" / f"{member}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait_for_log(self, member: str, text: str, job: str = "demo") -> None:
        wait_until(
            lambda: text in self.log(member, job), f"{text!r} in the log of {member}\n{self.out}{self.err}"
        )

    def wait_for_out(self, text: str) -> None:
        wait_until(lambda: text in self.out, f"{text!r} in the output")

    def wait_for_err(self, text: str) -> None:
        wait_until(lambda: text in self.err, f"{text!r} among the errors")

    def answers_signals(self) -> None:
        """Waits until the process has said what SIGTERM and SIGINT mean to it."""
        wait_until(
            lambda: self._catches(signal.SIGTERM) and self._catches(signal.SIGINT), "its signal handlers"
        )

    def result(self, within: float = BOUND) -> Result:
        """Of its end. A traceback is an end, too: some runs go on for ever after one."""
        wait_until(lambda: self.process.poll() is not None or "Traceback" in self.err, "its end", within)
        code = self.process.poll()
        assert code is not None, f"it goes on after this:\n{self.err}"
        return Result(code, self.out, self.err)

    def _catches(self, number: signal.Signals) -> bool:
        status = Path("/proc", str(self.process.pid), "status").read_text()
        (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        started_by_us = PDJ.name in Path("/proc", str(self.process.pid), "cmdline").read_text()
        return started_by_us and bool(int(caught, 16) & 1 << (number - 1))

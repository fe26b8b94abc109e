"""What `pdj run` prints: one line for each thing that happened, and a summary at the end.

12.4s  worker-0    Running    step 200/2000 loss 0.6712
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from paddle_operator.api.words import Phase
from paddle_operator.cli.local_cluster import Snapshot
from paddle_operator.plan.model import Member, PodPhase, PodView
from paddle_operator.plan.release import WAITING_FOR_CONFIG

LOG_LINES_EVERY = 2.0  # seconds
TAIL = 4096  # bytes of a log that are looked at for its last line
WIDTH = 120  # a longer log line is cut

MemberLog = Callable[[Member], Path]


class Printer:
    def __init__(self, job: str, log_of: MemberLog, say: Callable[[str], None]) -> None:
        self._job, self._log_of, self._say = job, log_of, say
        self._began = time.monotonic()
        self._shown: dict[str, str] = {}
        self._lines: dict[Member, str] = {}
        self._running: set[Member] = set()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def show(self, snapshot: Snapshot) -> None:
        """Says what is new since the last time."""
        for pod in snapshot.pods:
            self._once(str(pod.member), describe(pod))
        self._running = {pod.member for pod in snapshot.pods if pod.phase is PodPhase.RUNNING}
        phase = snapshot.status.phase
        if phase:
            self._once("job", phase)

    async def follow_logs(self) -> None:
        """Now and then the last line of each running member, if it is a new one."""
        while True:
            await asyncio.sleep(LOG_LINES_EVERY)
            for member in sorted(self._running):
                line = last_line(self._log_of(member))
                if line and line != self._lines.get(member):
                    self._lines[member] = line
                    self._line(str(member), self._shown.get(str(member), ""), line)

    def summary(self, snapshot: Snapshot, logs: Path) -> None:
        phase = "Refused" if snapshot.refusal else snapshot.status.phase or Phase.PENDING
        message = _why(snapshot)
        self._say("")
        self._say(f"{self._job}: {phase} after {self.seconds:.1f} s{': ' if message else ''}{message}")
        self._say(f"logs: {logs}/")

    def _once(self, name: str, word: str) -> None:
        if self._shown.get(name) != word:
            self._shown[name] = word
            self._line(name, word)

    def _line(self, name: str, word: str, text: str = "") -> None:
        self._say(f"{self.seconds:6.1f}s  {name:<12}{word:<11}{text}".rstrip())


def _why(snapshot: Snapshot) -> str:
    if snapshot.refusal:
        return snapshot.refusal.message
    return next((one.message for one in snapshot.status.conditions if one.type == snapshot.status.phase), "")


def describe(pod: PodView) -> str:
    if pod.stopped and pod.over:
        return "stopped"
    if pod.deleting and not pod.over:
        return "leaving"
    usual = pod.waiting in ("", "ContainerCreating", WAITING_FOR_CONFIG)
    return pod.phase if usual else pod.waiting


def last_line(log: Path) -> str:
    """The last line that says something; of a line redrawn in place, what stands there now."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.split("\r")[-1].strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "")[:WIDTH]

"""The supervisor as a real process: what its container's processes may do, and what they may not."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle_operator.local.runner import supervisor
from support.processes import BOUND, marked, new_marker, wait_until

# Processes that try to get away, each in another way. They note their pid, then stay for an hour.
STAY = "echo $$ > away.new; mv away.new away; trap '' TERM HUP INT; exec sleep 3600"
ESCAPES = {
    "a child": '(sh -c "$STAY") & wait_for_it',
    "a session of its own": 'setsid sh -c "$STAY" & wait_for_it',
    "a daemon": '( setsid sh -c "sh -c \\"\\$STAY\\" & exit 0" & exit 0 ); wait_for_it',
    "a daemon without descriptors": '(setsid sh -c "$STAY" <&- >/dev/null 2>&1 &); wait_for_it',
}
WAIT_FOR_IT = "wait_for_it() { while [ ! -e away ]; do sleep 0.01; done; }; "


class Supervised:
    """A supervisor with the control pipe in our hand."""

    def __init__(self, folder: Path, *argv: str) -> None:
        self.marker = new_marker()
        self.folder = folder
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__, *argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={"PATH": "/usr/bin:/bin", "MARKER": self.marker, "STAY": STAY},
            )

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def family(self) -> list[int]:
        """Whoever is alive of it, the supervisor itself apart."""
        return [pid for pid in marked(self.marker) if pid != self.process.pid]

    def order(self, word: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(word)
        self.process.stdin.flush()

    def let_go(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.log, f"{text!r} in the log")

    def code(self) -> int:
        return self.process.wait(BOUND)

    def clear(self) -> None:
        """By pid: the tests must leave nothing even where the supervisor does."""
        self.let_go()
        self.process.kill()
        self.process.wait(BOUND)
        for pid in self.family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class Start:
    """Starts supervisors, and clears up after them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._all: list[Supervised] = []

    def __call__(self, *argv: str) -> Supervised:
        started = Supervised(self._folder, *argv)
        self._all.append(started)
        return started

    def shell(self, script: str) -> Supervised:
        return self("sh", "-c", script)

    def clear(self) -> None:
        for one in self._all:
            one.clear()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    starter = Start(tmp_path)
    yield starter
    starter.clear()


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_it_exits_with_the_code_of_the_first_process(start: Start, code: int) -> None:
    assert start.shell(f"exit {code}").code() == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT])
def test_a_signal_that_ends_the_first_process_is_told_as_128_and_its_number(
    start: Start, number: signal.Signals
) -> None:
    assert start.shell(f"kill -{number.value} $$").code() == 128 + number


def test_words_reach_the_command_as_they_are(start: Start) -> None:
    one = start("printf", "%s|", "a b", "", "$HOME", "'*'")
    assert one.code() == 0
    assert one.log == "a b||$HOME|'*'|"


def test_a_command_that_does_not_exist_is_127_and_a_line_in_the_log(start: Start) -> None:
    one = start("no-such-program-anywhere")
    assert one.code() == 127
    assert one.log == "exec no-such-program-anywhere: No such file or directory\n"


def test_the_command_reads_nothing_from_the_control_pipe(start: Start) -> None:
    one = start.shell("cat; echo end of input")
    assert one.code() == 0
    assert one.log == "end of input\n"


def test_the_command_leads_a_session_of_its_own(start: Start) -> None:
    one = start.shell("echo $$ $(cut -d' ' -f6 /proc/$$/stat)")
    assert one.code() == 0
    pid, session = one.log.split()
    assert pid == session


def test_signals_mean_to_the_command_what_they_mean_anywhere(start: Start) -> None:
    """Python ignores SIGPIPE; a shell pipeline that inherited that would complain, or never end."""
    one = start.shell("yes | head -n 1; grep SigBlk /proc/self/status; grep SigIgn /proc/self/status")
    assert one.code() == 0
    blocked, ignored = (int(word, 16) for word in one.log.split()[2::2])
    assert blocked == 0
    assert not ignored & 1 << (signal.SIGPIPE - 1)


def test_no_signal_is_ignored_that_the_command_does_not_ignore_itself(start: Start) -> None:
    one = start.shell("grep SigIgn /proc/self/status")
    assert one.code() == 0
    inherited = 0b11 << 31  # 32 and 33 belong to the C library; no program can take them back
    assert int(one.log.split()[1], 16) & ~inherited == 0


def test_the_order_to_end_is_a_sigterm_that_the_command_may_answer(start: Start) -> None:
    one = start.shell("trap 'echo told; exit 7' TERM; echo ready; while :; do sleep 0.02; done")
    one.wait_for("ready")
    one.order(b"T")
    assert one.code() == 7
    assert one.log == "ready\ntold\n"


def test_the_order_to_end_goes_to_the_first_process_only(start: Start) -> None:
    one = start.shell(
        "sh -c 'trap \"echo child told\" TERM; echo ready; while [ ! -e asked ]; do sleep 0.02; done' & "
        "trap 'touch asked' TERM; wait $!; wait $!; exit 5"
    )
    one.wait_for("ready")
    one.order(b"T")
    assert one.code() == 5
    assert one.log == "ready\n"


def test_a_command_that_ignores_the_order_goes_on(start: Start) -> None:
    one = start.shell("trap '' TERM; echo ready; while [ ! -e enough ]; do sleep 0.02; done; exit 4")
    one.wait_for("ready")
    one.order(b"T")
    (one.folder / "enough").touch()
    assert one.code() == 4


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES.keys())
def test_nobody_outlives_the_first_process(start: Start, escape: str) -> None:
    one = start.shell(f"{WAIT_FOR_IT}{escape}; while [ ! -e enough ]; do sleep 0.01; done; exit 6")
    wait_until((one.folder / "away").exists, "the process that wants to get away")
    away = int((one.folder / "away").read_text())
    assert away in one.family
    (one.folder / "enough").touch()
    assert one.code() == 6
    assert one.family == []


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES.keys())
def test_the_end_of_the_control_pipe_is_the_end_of_everybody(start: Start, escape: str) -> None:
    one = start.shell(f"trap '' TERM HUP INT; {WAIT_FOR_IT}{escape}; while :; do sleep 3600; done")
    wait_until((one.folder / "away").exists, "the process that wants to get away")
    assert int((one.folder / "away").read_text()) in one.family
    one.let_go()
    assert one.code() == 128 + signal.SIGKILL
    assert one.family == []


def test_whoever_restarts_what_was_killed_comes_to_an_end_too(start: Start) -> None:
    """Between the look at the family and the kill there is time for another child."""
    again = "while :; do setsid sleep 3600; done"
    one = start.shell(f"for i in 1 2 3 4 5 6 7 8; do setsid sh -c '{again}' & done; trap '' TERM; wait")
    wait_until(lambda: len(one.family) >= 17, "eight who restart, and their children")
    one.let_go()
    assert one.code() == 128 + signal.SIGKILL
    assert one.family == []


def test_an_orphan_that_ends_by_itself_leaves_no_zombie(start: Start) -> None:
    one = start.shell("(setsid sh -c 'echo $$ > orphan.new; mv orphan.new orphan' &); sleep 3600")
    wait_until((one.folder / "orphan").exists, "the orphan")
    pid = (one.folder / "orphan").read_text().strip()
    wait_until(lambda: not Path("/proc", pid).exists(), f"the end of orphan {pid}")
    assert one.process.poll() is None


def test_many_children_that_end_at_once_are_not_taken_for_the_first_process(start: Start) -> None:
    one = start.shell(
        "for i in 1 2 3 4 5 6 7 8 9; do (exit 1) & (setsid sh -c 'exit 2' &); done; wait; exit 9"
    )
    assert one.code() == 9


def test_when_whoever_started_it_is_killed_everybody_ends(tmp_path: Path) -> None:
    marker = new_marker()
    starter = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "time.sleep(3600)"
    )
    script = "trap '' TERM HUP; echo ready > ready; while :; do sleep 3600; done"
    parent = subprocess.Popen(
        [sys.executable, "-c", starter, sys.executable, supervisor.__file__, "sh", "-c", script],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "MARKER": marker},
    )
    wait_until((tmp_path / "ready").exists, "the command")
    parent.kill()
    parent.wait(BOUND)
    wait_until(lambda: not marked(marker), "the end of everybody")


def test_ending_ones_family_never_means_oneself(monkeypatch: pytest.MonkeyPatch) -> None:
    group = os.getpgrp()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert -group not in supervisor._family(group)

"""The process above a container's process. Started as a program of its own: standard library only.

    supervisor.py WORD...        stdin: the control pipe; stdout and stderr: the container's log

It does for a container what a PID namespace does. All descendants, also those that left for a session of
their own, come back to it as orphans, and none outlives the container's first process. It exits with that
process's code, or 128 + signal. On the control pipe `T` means SIGTERM to the first process; the end of the
pipe, which also comes when whoever started us dies, means SIGKILL to everything.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36


def main(argv: list[str]) -> int:
    adopt_orphans()
    wake = _wake_on_children()
    first = _start(argv)
    code = None
    while code is None:
        code = _reap(first)
        if code is None:
            _obey(first, wake)
    end_family(first)
    return code


def adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wake_on_children() -> int:
    """A pipe that becomes readable at SIGCHLD, so that waiting for it and for commands is one wait."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    os.set_blocking(read, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read


def _start(argv: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.set_wakeup_fd(-1)
        _listen_to_all_signals()
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"exec {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _listen_to_all_signals() -> None:
    """As a container begins: whoever started us, `nohup` or Python itself, may ignore some."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)


def _reap(first: int) -> int | None:
    """Collects whoever ended; returns the exit code if the first process is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid == first:
                code = os.waitstatus_to_exitcode(status)
    if code is not None and code < 0:
        return 128 - code
    return code


def _obey(first: int, wake: int) -> None:
    ready, _, _ = select.select([0, wake], [], [])
    if wake in ready:
        os.read(wake, 512)
    if 0 in ready:
        order = os.read(0, 1)
        _signal([first] if order else _family(first), signal.SIGTERM if order else signal.SIGKILL)


def end_family(first: int) -> None:
    """SIGKILL to all descendants, and again to those they started meanwhile, until none is left."""
    with contextlib.suppress(ChildProcessError):
        while True:
            _signal(_family(first), signal.SIGKILL)
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(
                    0.002
                )  # a child may have been born while we looked: look again, do not wait for it


def _family(first: int) -> list[int]:
    """All our descendants; where the system cannot tell them, the process group of the first."""
    if sys.platform != "linux":
        return [] if first == os.getpgrp() else [-first]
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib would triple our start-up time
        if entry.isdigit() and (parent := _parent(entry)):
            children.setdefault(parent, []).append(int(entry))
    found, todo = [], [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib would triple our start-up time
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))

"""Looks at the real processes of this machine, and waits for conditions with a bound."""

import asyncio
import time
import uuid
from collections.abc import Callable
from pathlib import Path

BOUND = 20.0  # seconds: far more than anything takes, far less than the time limit of a test
EVERY = 0.01


def new_marker() -> str:
    """A word for the environment of processes: whatever they start inherits it."""
    return f"marker-{uuid.uuid4().hex}"


def marked(marker: str) -> list[int]:
    """The living processes that have the marker in their environment; a zombie has none any more."""
    needle = marker.encode()
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if needle in _environ(entry)]


def _environ(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:  # it ended meanwhile
        return b""


def wait_until(condition: Callable[[], object], what: str, within: float = BOUND) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, f"waited for {within} s in vain: {what}"
        time.sleep(EVERY)


async def eventually(condition: Callable[[], object], what: str, within: float = BOUND) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, f"waited for {within} s in vain: {what}"
        await asyncio.sleep(EVERY)

"""An event loop whose clock jumps: waiting costs nothing, and the same program takes the same steps.

When every task waits for a timer, time moves to the first of them. Only for programs without real input and
output: nothing else could wake the loop.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class _Selector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits and nothing will ever happen: a hang")
        self.elapsed += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.elapsed


def run(main: Coroutine[Any, Any, T], *, most: float = 3600.0) -> T:
    """Runs it to its end, or fails after so many virtual seconds."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(asyncio.wait_for(main, most))


def now() -> datetime:
    """The date of the virtual clock."""
    return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

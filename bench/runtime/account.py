"""What all libraries have in common: the work they are asked for, and how it is accounted."""

import asyncio
import time
from pathlib import Path
from typing import Any, Protocol

IN_FLIGHT = 64


class Account:
    """CPU time between the first event and the last: that of all of them but the first."""

    def __init__(self, events: int) -> None:
        self._left = events
        self._began: float | None = None
        self.cpu = 0.0
        self.over = asyncio.Event()

    def event(self) -> None:
        if self._began is None:
            self._began = time.process_time()
            return
        self._left -= 1
        if self._left == 0:
            self.cpu = time.process_time() - self._began
            self.over.set()


class Library(Protocol):
    stands_on: tuple[str, ...]  # the packages whose versions matter

    def __init__(self, kubeconfig: Path) -> None: ...

    async def hello(self) -> None:
        """One small request: a connection is open then, and everything imported."""

    async def fill(self, namespace: str) -> None:
        """All pods that carry our label are in memory afterwards."""

    async def follow(self, account: Account) -> None:
        """Keeps them as they change, and tells the account of each event, until it is over."""

    def ready(self) -> int | None:
        """How many of the pods in memory are ready, where they are kept: proof that they are up to date."""

    def prepare(self, namespace: str, pods: list[dict[str, Any]]) -> list[Any]:
        """What the library wants to be given; not accounted."""

    async def create(self, namespace: str, pods: list[Any]) -> None:
        """All of them, so many at once as are allowed."""

    async def close(self) -> None: ...

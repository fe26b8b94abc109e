"""One container as a process under its supervisor (supervisor.py)."""

import asyncio
import contextlib
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from paddle_operator.local.runner import supervisor
from paddle_operator.local.runner.command import Command

T = TypeVar("T")

LOG_END_BYTES, LOG_END_LINES = 2048, 80  # what the kubelet keeps of a log as termination message


class Process:
    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process, self._log = process, log

    @classmethod
    async def start(cls, command: Command, log: Path) -> "Process":
        """Cancelled in the middle, it still ends what it began."""
        starting = asyncio.ensure_future(cls._spawn(command, log))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await (await to_the_end(starting)).kill()
            raise

    @classmethod
    async def _spawn(cls, command: Command, log: Path) -> "Process":
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", supervisor.__file__, *command.argv),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=command.cwd,
                env=dict(command.env),
                start_new_session=True,  # Ctrl-C at the terminal is ours to answer, not the container's
            )
        return cls(process, log)

    async def wait(self) -> int:
        """The exit code; nothing that it started is left by then."""
        code = await self._process.wait()
        return 128 - code if code < 0 else code  # somebody killed the supervisor itself

    def terminate(self) -> None:
        """SIGTERM to its first process."""
        if self._process.stdin and self._process.returncode is None:
            with contextlib.suppress(ConnectionError):
                self._process.stdin.write(b"T")

    async def stop(self, grace: float) -> int:
        """SIGTERM, and SIGKILL after the grace period."""
        if grace > 0:
            self.terminate()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    return await self.wait()
        return await self.kill()

    async def kill(self) -> int:
        """Nobody who is told to stop may stop here: what was started would be left to itself."""
        if self._process.stdin:
            self._process.stdin.close()
        return await to_the_end(self.wait())

    def log_end(self) -> str:
        with self._log.open("rb") as file:
            file.seek(max(0, self._log.stat().st_size - LOG_END_BYTES))
            text = file.read().decode(errors="replace")
        return "".join(text.splitlines(keepends=True)[-LOG_END_LINES:])


async def to_the_end(work: Awaitable[T]) -> T:
    """Waits for it whatever happens; a cancellation that comes meanwhile is passed on afterwards."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()

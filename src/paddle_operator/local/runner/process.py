"""One container as a process under its supervisor (supervisor.py)."""

import asyncio
import contextlib
import sys
from pathlib import Path

from paddle_operator.local.runner import supervisor
from paddle_operator.local.runner.command import Command

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
            await (await starting).kill()
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
        if self._process.stdin:
            self._process.stdin.close()
        return await self.wait()

    def log_end(self) -> str:
        with self._log.open("rb") as file:
            file.seek(max(0, self._log.stat().st_size - LOG_END_BYTES))
            text = file.read().decode(errors="replace")
        return "".join(text.splitlines(keepends=True)[-LOG_END_LINES:])

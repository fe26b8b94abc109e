"""Credentials from a command, as cloud providers give them.

The command runs when nothing is known yet, a minute before what it gave expires, and after a 401; once at a
time, however many requests wait for it. Whatever it starts is ended with it when it takes too long.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from paddle_operator.kube.auth.credentials import Given, Identity, bearer
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.exec_words import VERSIONS, Status, parse_answer, question
from paddle_operator.kube.auth.kubeconfig import Exec
from paddle_operator.kube.auth.tls import Certificate

EARLY = timedelta(seconds=60)  # before it expires: a request is under way while the clock goes on
PATIENCE = 60.0  # seconds for a command that asks nobody
PATIENCE_WITH_PEOPLE = 600.0  # for one that may open a browser and wait for a person
MODES = ("Never", "IfAvailable", "Always")


def _now() -> datetime:
    return datetime.now(UTC)


def _terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


class ExecCredentials:
    """`given` is what the user has beside the command: whom to act as, or a certificate."""

    def __init__(
        self,
        spec: Exec,
        *,
        given: Given | None = None,
        cluster: dict[str, Any] | None = None,
        folder: Path = Path(),
        what: str = "",
        now: Callable[[], datetime] = _now,
        patience: float | None = None,
    ) -> None:
        _check(spec, what)
        self._spec, self._given, self._cluster = spec, given or Given(), cluster
        self._what = f"{what}: the command {spec.command!r}"
        self._now = now
        self._interactive = spec.interactive_mode != "Never" and _terminal()
        self._patience = patience or (PATIENCE_WITH_PEOPLE if self._interactive else PATIENCE)
        self._program = self._find(folder)
        self._one_at_a_time = asyncio.Lock()
        self._identity: Identity | None = None
        self._until: datetime | None = None

    async def identity(self) -> Identity:
        async with self._one_at_a_time:
            expired = self._until is not None and self._now() >= self._until - EARLY
            if self._identity is None or expired:
                status = parse_answer(await self._run(), api_version=self._spec.api_version, what=self._what)
                self._identity, self._until = self._from(status), status.expiration_timestamp
            return self._identity

    async def refresh(self, refused: Identity) -> bool:
        if self._identity is refused:
            self._identity = None
        return True

    def _from(self, status: Status) -> Identity:
        beside = self._given.now()
        token = bearer(status.token.encode(), self._what) if status.token else ()
        chain, key = status.client_certificate_data.encode(), status.client_key_data.encode()
        return Identity(
            (*token, *beside.headers), Certificate(chain, key, self._what) if chain else beside.certificate
        )

    def _find(self, folder: Path) -> str:
        """A bare name is looked up in PATH, anything else stands relative to the kubeconfig."""
        command = self._spec.command
        found = shutil.which(folder / command if "/" in command else command)
        if found is None:
            raise AccessError(f"{self._what} is not there, or cannot be executed{self._hint()}")
        return found

    def _hint(self) -> str:
        return f"; {self._spec.install_hint.strip()}" if self._spec.install_hint.strip() else ""

    async def _run(self) -> bytes:
        process = await self._started()
        try:
            async with asyncio.timeout(self._patience):
                output, errors = await process.communicate()
        except TimeoutError:
            raise AccessError(f"{self._what} gave no answer within {self._patience:g} s") from None
        finally:
            await self._end(process)
        if process.returncode:
            said = (errors or b"").decode(errors="replace").strip()[-500:] or "it said nothing"
            raise AccessError(
                f"{self._what} failed with exit code {process.returncode}: {said}{self._hint()}"
            )
        return output

    async def _started(self) -> Process:
        """Never half: a start that is cancelled goes on to its end, so that all it started can be ended."""
        start = asyncio.ensure_future(self._start())
        try:
            return await asyncio.shield(start)
        except asyncio.CancelledError:
            with contextlib.suppress(AccessError):
                await self._end(await start)
            raise

    async def _start(self) -> Process:
        people = self._interactive
        try:
            return await asyncio.create_subprocess_exec(
                self._program,
                *self._spec.args,
                env=self._environment(),
                stdin=None if people else DEVNULL,
                stdout=PIPE,
                stderr=None if people else PIPE,  # a person must see what it asks while it asks
                start_new_session=not people,  # and stay on its terminal
            )
        except OSError as error:
            raise AccessError(f"{self._what} cannot be started: {error.strerror}{self._hint()}") from error

    def _environment(self) -> dict[str, str]:
        asked = question(self._spec.api_version, interactive=self._interactive, cluster=self._cluster)
        own = {one.name: one.value for one in self._spec.env}
        return {**os.environ, **own, "KUBERNETES_EXEC_INFO": asked}

    async def _end(self, process: Process) -> None:
        """Of what is still there; a process that ended leaves nobody behind that we know of."""
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                if self._interactive:
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _check(spec: Exec, what: str) -> None:
    if not spec.command:
        raise AccessError(f"{what}: exec has no command")
    if spec.api_version not in VERSIONS:
        raise AccessError(
            f"{what}: exec has apiVersion {spec.api_version!r}; expected {' or '.join(VERSIONS)}: "
            "update the command, and write the kubeconfig again with it"
        )
    if spec.interactive_mode not in (*MODES, "") or (
        not spec.interactive_mode and spec.api_version == VERSIONS[0]
    ):
        raise AccessError(
            f"{what}: exec has interactiveMode {spec.interactive_mode!r}; expected one of {', '.join(MODES)}"
        )
    if spec.interactive_mode == "Always" and not _terminal():
        raise AccessError(f"{what}: the command {spec.command!r} must ask a person, and there is no terminal")

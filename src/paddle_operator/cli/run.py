"""`pdj run`: one file in, one exit code out."""

import asyncio
import contextlib
import fcntl
import os
import random
import shutil
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click

from paddle_operator.api.paddlejob import PaddleJob, roles_of
from paddle_operator.api.problems import Problem
from paddle_operator.api.unused import harmful_fields
from paddle_operator.api.validation import InvalidJobError, parse_job
from paddle_operator.api.words import KIND, Phase
from paddle_operator.cli.documents import Document, InputError, read_documents
from paddle_operator.cli.entry import EXIT_OF
from paddle_operator.cli.local_cluster import LocalCluster, Snapshot, prepare_for_this_machine
from paddle_operator.cli.machine import build_machine, parse_images
from paddle_operator.cli.show import Printer
from paddle_operator.local.runner.image import Image
from paddle_operator.local.runner.supervisor import adopt_orphans, end_family

SUCCEEDED, FAILED, WRONG_INPUT = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Work:
    """A job that can be run, and what it is run with."""

    document: dict[str, Any]
    name: str
    images: dict[str, Image]
    python: Path | None
    folder: Path


def run_file(file: Path, *, images: tuple[str, ...], python: Path | None) -> int:
    adopt_orphans()  # even of a supervisor that somebody killed
    try:
        work = _prepare(file, images, python)
        with _alone_in(work.folder):
            return asyncio.run(_run(work))
    except InputError as error:
        for line in error.lines:
            click.echo(line, err=True)
        return WRONG_INPUT
    finally:
        end_family(os.getpid())


def _prepare(file: Path, images: tuple[str, ...], python: Path | None) -> Work:
    document = _the_job(read_documents(file))
    mapped = parse_images(images)
    try:
        job = parse_job(document.value)
    except InvalidJobError as error:
        raise InputError(*(document.explain(problem) for problem in error.problems)) from error
    if problems := [*harmful_fields(job), *_without_command(job, mapped)]:
        raise InputError(*(document.explain(problem) for problem in problems))
    ready = prepare_for_this_machine(document.value, random.Random())  # noqa: S311 - ports, not secrets
    if ready is None:
        raise InputError("no free port between 20000 and 29999 on this machine")
    return Work(ready, job.metadata.name, mapped, python, Path(".pdj") / job.metadata.name)


def _the_job(documents: list[Document]) -> Document:
    if len(documents) > 1:
        second = documents[1].explain(Problem((), f"a second document; expected one {KIND} in the file"))
        raise InputError(second)
    return documents[0]


def _without_command(job: PaddleJob, images: dict[str, Image]) -> Iterator[Problem]:
    """On a cluster an image says what it runs; here somebody has to."""
    for name, role in roles_of(job).items():
        container = role.template["spec"]["containers"][0]
        if not container.get("command") and container["image"] not in images:
            path = ("spec", str(name), "template", "spec", "containers", 0)
            yield Problem(
                path,
                f"no command, and what the image runs is not known here; add `command`, or "
                f"--image {container['image']}=DIR with the directory of its Dockerfile",
            )


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Two runs of one name would write into each other's logs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = (folder / "lock").open("w")
    except OSError as error:
        raise InputError(f"{error.filename}: the logs cannot be kept there: {error.strerror}") from error
    with held as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                f"{folder}: a job of this name is running here; wait for it, or give this one another name"
            ) from error
        _remove_old_logs(folder)
        yield


def _remove_old_logs(folder: Path) -> None:
    """Of an earlier run: they would stand beside those of this one."""
    for attempt in folder.iterdir():
        if attempt.name.isdecimal():
            shutil.rmtree(attempt)


async def _run(work: Work) -> int:
    _note_host_name()
    interrupt = _Interrupt()
    cluster = LocalCluster(
        lambda client: build_machine(client, images=work.images, python=work.python, work=work.folder)
    )
    interrupt.listen(cluster)
    logs = work.folder / "0"
    printer = Printer(work.name, lambda member: logs / f"{member}.log", click.echo)
    following = asyncio.create_task(printer.follow_logs())
    try:
        snapshot = await cluster.run(work.document, printer.show, interrupt.stop)
    finally:
        following.cancel()
    if interrupt.code:
        click.echo(f"\n{work.name}: interrupted; everything it started has ended. logs: {logs}/")
        return interrupt.code
    printer.summary(snapshot, logs)
    return _exit_code(snapshot)


def _exit_code(snapshot: Snapshot) -> int:
    return SUCCEEDED if snapshot.status.phase is Phase.COMPLETED else FAILED


def _note_host_name() -> None:
    """Paddle's gloo looks its own host name up, and where that fails it dies of a segmentation fault."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        click.echo(
            f"note: the name of this machine, {name}, does not resolve; add `127.0.0.1 {name}` "
            "to /etc/hosts, or Paddle jobs that use gloo will crash",
            err=True,
        )


class _Interrupt:
    """The first signal asks everybody to leave, the second one does not ask."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.code = 0
        self._killing: asyncio.Task[None] | None = None

    def listen(self, cluster: LocalCluster) -> None:
        """Not through the loop, which would give the signals back to Python when it closes."""
        loop = asyncio.get_running_loop()

        def hear(number: int, _: FrameType | None) -> None:
            if loop.is_closed():  # all is over but the return
                os._exit(EXIT_OF[signal.Signals(number)])
            loop.call_soon_threadsafe(self._on_signal, signal.Signals(number), cluster)

        for number in EXIT_OF:
            signal.signal(number, hear)

    def _on_signal(self, number: signal.Signals, cluster: LocalCluster) -> None:
        if self.code:
            self._killing = asyncio.ensure_future(cluster.stop_now())
            return
        self.code = EXIT_OF[number]
        click.echo(f"\n{number.name}: stopping all members; once more to kill them", err=True)
        self.stop.set()

"""What to execute for a container: words, directory, environment. Pure but for asking what files exist."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddle_operator.local.runner.environment import expand
from paddle_operator.local.runner.image import Image, replace_variables
from paddle_operator.local.runner.pods import Container


class CannotStartError(Exception):
    """The container cannot be started at all; Kubernetes calls this StartError."""


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]


def build_command(
    container: Container,
    image: Image | None,
    env: Mapping[str, str],
    *,
    base_env: Mapping[str, str],
    cwd: Path,
) -> Command:
    """`base_env` and `cwd` stand for the file system of an image that nobody mapped."""
    theirs = image.env if image else {}
    # `ENV PATH=/opt/bin:$PATH` adds to what the image had; here that is what this machine has.
    full = {**base_env, **{key: replace_variables(value, base_env) for key, value in theirs.items()}, **env}
    words = [expand(word, env) for word in _words(container, image)]
    if not words:
        raise CannotStartError(
            f"container {container.name} names no command, and nothing says what the image {container.image} "
            f"runs; add a command, or --image {container.image}=DIR with the directory of its Dockerfile"
        )
    where = _directory(container, image, cwd)
    argv = [_mapped(word, image) for word in words]
    _must_exist(argv[0], full, where)
    return Command(tuple(argv), where, full)


def _words(container: Container, image: Image | None) -> list[str]:
    """`command` replaces ENTRYPOINT and, with it, CMD; `args` replaces CMD."""
    if container.command:
        return [*container.command, *container.args]
    entrypoint, cmd = (image.entrypoint, image.cmd) if image else ((), ())
    return [*entrypoint, *(container.args or cmd)]


def _directory(container: Container, image: Image | None, cwd: Path) -> Path:
    wanted = container.working_dir or (image.workdir if image else "")
    if not wanted or (wanted == "/" and image):
        return cwd
    where = image.here(wanted) if image else Path(wanted)
    if where is None or not where.is_dir():
        raise CannotStartError(
            f"the working directory {wanted} of container {container.name} is not on this machine; "
            "an ADD or COPY of the Dockerfile given by --image can bring it"
        )
    return where


def _mapped(word: str, image: Image | None) -> str:
    here = image.here(word) if image and word.startswith("/") else None
    return str(here) if here and here.exists() else word


def _must_exist(program: str, env: Mapping[str, str], where: Path) -> None:
    if os.sep in program:
        found = os.access(where / program, os.X_OK)
    else:
        found = shutil.which(program, path=env.get("PATH")) is not None
    if not found:
        raise CannotStartError(f'exec: "{program}": no such program on this machine')

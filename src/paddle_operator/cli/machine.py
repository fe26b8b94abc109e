"""The machine as the runner sees it: images, interpreter, environment, where logs go."""

import os
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from paddle_operator.cli.documents import InputError
from paddle_operator.kube.client import Client
from paddle_operator.local.runner.image import Image, ImageError, read_image
from paddle_operator.local.runner.life import Machine
from paddle_operator.local.runner.pods import Pod
from paddle_operator.plan.names import ATTEMPT, INDEX, RES_TYPE

# What a job says to its members must come from the job, not from the shell that `pdj` was started in.
_OURS = ("PADDLE_", "TRAINER_", "TRAINING_ROLE", "POD_IP")


def build_machine(client: Client, *, images: Mapping[str, Image], python: Path | None, work: Path) -> Machine:
    return Machine(
        client=client,
        images=images,
        base_env=base_env(os.environ, python=python, shims=work / "bin"),
        cwd=Path.cwd(),
        log_of=lambda pod: work / log_name(pod),
        now=lambda: datetime.now(UTC),
    )


def log_name(pod: Pod) -> Path:
    labels = pod.metadata.labels
    return Path(labels.get(ATTEMPT, "0")) / f"{labels.get(RES_TYPE, 'pod')}-{labels.get(INDEX, '0')}.log"


def parse_images(options: tuple[str, ...]) -> dict[str, Image]:
    return dict(_parse_image(option) for option in options)


def base_env(environ: Mapping[str, str], *, python: Path | None, shims: Path) -> dict[str, str]:
    env = {key: value for key, value in environ.items() if not key.startswith(_OURS)}
    if python:
        _write_shims(python, shims)
        env["PATH"] = f"{shims.resolve()}{os.pathsep}{env.get('PATH', os.defpath)}"
    return env


def _parse_image(option: str) -> tuple[str, Image]:
    name, found, directory = option.partition("=")  # no image name has one; a directory may
    if not found or not name:
        raise InputError(
            f"--image {option}: expected NAME=DIR, the image of the YAML and its build directory"
        )
    try:
        return name, read_image(Path(directory))
    except ImageError as error:
        raise InputError(f"--image {option}: {error}") from error


def _write_shims(python: Path, shims: Path) -> None:
    """Scripts, not links: a linked interpreter would not find its virtual environment."""
    if not os.access(python, os.X_OK) or python.is_dir():
        raise InputError(f"--python {python}: expected a Python interpreter, found none there")
    shims.mkdir(parents=True, exist_ok=True)
    for name in ("python", "python3"):
        shim = shims / name
        shim.write_text(f'#!/bin/sh\nexec {shlex.quote(str(python.absolute()))} "$@"\n', encoding="utf-8")
        shim.chmod(0o755)

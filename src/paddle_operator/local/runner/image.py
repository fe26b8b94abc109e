"""What an image would do, read from the Dockerfile it is built from: no image is needed to run its program.

`ADD`/`COPY` say where a path of the image lies in the build directory, `WORKDIR` where the program starts,
`ENV` what it is told, `ENTRYPOINT` and `CMD` what it is. `FROM` and `RUN` are what this machine must have
already: its Python and its packages.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

_CONTINUED = re.compile(r"\\\s*\n")


class ImageError(ValueError):
    """The image cannot stand for a container here; the message says which flag or line to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """`copies` maps paths of the image to paths of this machine, longest first."""

    workdir: str = "/"
    env: Mapping[str, str] = field(default_factory=dict)
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    copies: tuple[tuple[str, Path], ...] = ()

    def here(self, path: str) -> Path | None:
        """Where a path of the image lies on this machine; None when no ADD or COPY brought it."""
        for target, source in self.copies:
            if path == target:
                return source
            if path.startswith(f"{target.rstrip('/')}/"):
                return source / path[len(target.rstrip("/")) + 1 :]
        return None


def read_image(directory: Path) -> Image:
    dockerfile = directory / "Dockerfile"
    try:
        text = dockerfile.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ImageError(f"{dockerfile} cannot be read: {error}") from error
    return parse_dockerfile(text, directory.resolve())


def parse_dockerfile(text: str, directory: Path) -> Image:
    workdir, env, copies = "/", dict[str, str](), list[tuple[str, Path]]()
    commands: dict[str, tuple[str, ...]] = {"ENTRYPOINT": (), "CMD": ()}
    for word, rest in _instructions(text):
        if word == "WORKDIR":
            workdir = _join(workdir, rest)
        elif word == "ENV":
            env |= _variables(rest)
        elif word in ("ADD", "COPY"):
            copies += _copies(rest, workdir, directory)
        elif word in commands:
            commands[word] = _command(rest)
    return Image(
        workdir=workdir,
        env=env,
        entrypoint=commands["ENTRYPOINT"],
        cmd=commands["CMD"],
        copies=tuple(sorted(copies, key=lambda copy: -len(copy[0]))),
    )


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in _CONTINUED.sub(" ", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield word.upper(), rest.strip()


def _join(base: str, path: str) -> str:
    return str(PurePosixPath(base) / path)


def _variables(rest: str) -> dict[str, str]:
    """`ENV A=1 B=2`, or the old form `ENV A the rest`."""
    key, space, value = rest.partition(" ")
    if "=" not in key:
        return {key: value.strip()} if space else {}
    return dict(word.split("=", 1) for word in shlex.split(rest) if "=" in word)


def _copies(rest: str, workdir: str, directory: Path) -> list[tuple[str, Path]]:
    words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
    *sources, target = [word for word in words if not word.startswith("--")]
    return [_copy(source, target, workdir, directory, many=len(sources) > 1) for source in sources]


def _copy(source: str, target: str, workdir: str, directory: Path, *, many: bool) -> tuple[str, Path]:
    here = directory / source.lstrip("/")
    path = _join(workdir, target)
    into = (target.endswith("/") or many) and not here.is_dir()
    return (_join(path, here.name) if into else path), here


def _command(rest: str) -> tuple[str, ...]:
    """The exec form is a JSON list; anything else is the shell form."""
    if rest.startswith("["):
        try:
            return tuple(str(word) for word in json.loads(rest))
        except ValueError as error:
            raise ImageError(f"Dockerfile: {rest} is not a JSON list") from error
    return ("/bin/sh", "-c", rest)

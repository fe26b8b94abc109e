"""What an image would do, read from the Dockerfile it is built from: no image is needed to run its program.

`ADD`/`COPY` say where a path of the image lies in the build directory, `WORKDIR` where the program starts,
`ENV` what it is told, `ENTRYPOINT` and `CMD` what it is. `FROM` and `RUN` are what this machine must have
already: its Python and its packages.
"""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_CONTINUED = re.compile(r"\\\s*\n")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


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
    stage = _Stage(directory)
    for word, rest in _instructions(text):
        if word == "FROM":
            stage = _Stage(directory)  # the last stage is the image
        try:
            stage.take(word, rest)
        except ImageError:
            raise
        except (ValueError, TypeError, AttributeError) as error:
            raise ImageError(f"Dockerfile: {word} {rest}: makes no sense ({error})") from error
    return stage.image()


class _Stage:
    """One stage of a build, as far as its instructions have been read."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._workdir = "/"
        self._folders = {"/"}  # paths of the image that are known to be directories
        self._env: dict[str, str] = {}
        self._copies: list[tuple[str, Path]] = []
        self._commands: dict[str, tuple[str, ...]] = {"ENTRYPOINT": (), "CMD": ()}

    def take(self, word: str, rest: str) -> None:
        if word == "WORKDIR":
            self._workdir = _join(self._workdir, replace_variables(rest, self._env))
            self._folders.add(self._workdir)
        elif word == "ENV":
            given = _variables(rest)
            self._env |= {key: replace_variables(value, self._env) for key, value in given.items()}
        elif word in ("ADD", "COPY"):
            self._copies += self._copied(replace_variables(rest, self._env))
        elif word in self._commands:
            self._commands[word] = _command(rest)

    def image(self) -> Image:
        return Image(
            workdir=self._workdir,
            env=self._env,
            entrypoint=self._commands["ENTRYPOINT"],
            cmd=self._commands["CMD"],
            copies=tuple(sorted(self._copies, key=lambda copy: -len(copy[0]))),
        )

    def _copied(self, rest: str) -> list[tuple[str, Path]]:
        words = rest.split()
        flags = [word for word in words if word.startswith("--")]
        if any(flag.startswith("--from") for flag in flags):
            return []  # from another stage or image: not in the build directory
        plain = rest
        for flag in flags:
            plain = plain.replace(flag, "", 1)
        *sources, target = _words(plain.strip())
        return [self._copy(source, target, many=len(sources) > 1) for source in sources]

    def _copy(self, source: str, target: str, *, many: bool) -> tuple[str, Path]:
        here, path = self._directory / source.lstrip("/"), _join(self._workdir, target)
        into = target.endswith("/") or many or path in self._folders
        return (_join(path, here.name) if into and not here.is_dir() else path), here


def replace_variables(text: str, env: Mapping[str, str]) -> str:
    """`$NAME` and `${NAME}` where NAME is known; the others stay, for somebody who knows more."""
    return _VARIABLE.sub(lambda match: env.get(match[1] or match[2], match[0]), text)


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in _CONTINUED.sub(" ", "\n".join(lines)).splitlines():
        word, *rest = line.split(maxsplit=1)[:2] or [""]
        if word:
            yield word.upper(), "".join(rest).strip()


def _join(base: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(base, path))


def _words(rest: str) -> list[str]:
    words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
    if not all(isinstance(word, str) for word in words):
        raise ValueError("expected texts")
    return list(words)


def _variables(rest: str) -> dict[str, str]:
    """`ENV A=1 B=2`, or the old form `ENV A the rest`."""
    key, space, value = rest.partition(" ")
    if "=" not in key:
        return {key: value.strip()} if space else {}
    return dict(word.split("=", 1) for word in shlex.split(rest) if "=" in word)


def _command(rest: str) -> tuple[str, ...]:
    """The exec form is a JSON list; anything else is the shell form."""
    if rest.startswith("["):
        try:
            return tuple(_words(rest))
        except ValueError as error:
            raise ImageError(f"Dockerfile: {rest} is not a JSON list of texts") from error
    return ("/bin/sh", "-c", rest)

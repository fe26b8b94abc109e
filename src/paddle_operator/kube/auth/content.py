"""Tokens, keys and certificates: given in place, or in a file that somebody else exchanges.

The kubelet renews a token every hour and a certificate authority now and then, and tells nobody. A look at
the file's stamp before each use costs microseconds; the content is read only when the stamp changed.
"""

import base64
import binascii
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from paddle_operator.kube.auth.errors import AccessError

Stamp = tuple[int, int, int]


class Content(Protocol):
    def read(self) -> bytes: ...

    def forget(self) -> None:
        """It was refused: look again, whatever the stamp says."""
        ...


@dataclass(frozen=True, slots=True)
class Inline:
    data: bytes = field(repr=False)

    def read(self) -> bytes:
        return self.data

    def forget(self) -> None:
        pass


class File:
    """Must be readable and not empty at first; afterwards what was last read stays until there is better."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        try:
            self._stamp: Stamp | None = _stamp(path)
            self._data = path.read_bytes()
        except OSError as error:
            raise AccessError(f"{what}: {path}: {error.strerror}") from error
        if not self._data.strip():
            raise AccessError(f"{what}: {path}: is empty")

    def read(self) -> bytes:
        with contextlib.suppress(OSError):  # it is being exchanged, or was taken away
            stamp = _stamp(self._path)  # before the content: a change in between is then seen next time
            if stamp != self._stamp:
                data = self._path.read_bytes()
                self._data, self._stamp = data if data.strip() else self._data, stamp
        return self._data

    def forget(self) -> None:
        self._stamp = None


def _stamp(path: Path) -> Stamp:
    """Follows links: a mounted secret is exchanged by pointing a link elsewhere."""
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_ino, stat.st_size


def from_base64(data: str, what: str) -> Inline:
    try:
        return Inline(base64.b64decode("".join(data.split()), validate=True))
    except (binascii.Error, ValueError) as error:
        raise AccessError(f"{what}: is not base64 ({error}); for a file, leave out the -data") from error

"""Addresses and ports of this machine.

Every pod has an address of its own on loopback. None begins with 127.0.0.1: `paddle.distributed.launch`
replaces that text within a master's address, and with 127.0.0.11 its members would never meet.
"""

import errno
import random
import socket
from collections.abc import Callable, Iterable

PORTS = range(20_000, 30_000, 20)  # below 32768, where the system and gloo draw their own ports from
USED = (0, 18)  # a job's base port, and the rendezvous of gloo beside it


class Addresses:
    """Hands out 127.7.0.2, 127.7.0.3, ... and takes them back."""

    def __init__(self) -> None:
        self._free: list[str] = []
        self._next = 1

    def take(self) -> str:
        if self._free:
            return self._free.pop(0)
        number, self._next = self._next, self._next + 1
        return f"127.7.{number // 254}.{number % 254 + 1}"

    def give_back(self, address: str) -> None:
        self._free.append(address)


def is_free(port: int) -> bool:
    """Free on all addresses of the machine: a connection that holds it on any of them counts as taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - the question is just whether that works
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
        return True


def find_base_port(
    rng: random.Random, free: Callable[[int], bool] = is_free, ports: Iterable[int] = PORTS
) -> int | None:
    """A base port whose used offsets are all free; at random, so that two runs at once rarely meet."""
    candidates = list(ports)
    rng.shuffle(candidates)
    return next((base for base in candidates if all(free(base + offset) for offset in USED)), None)

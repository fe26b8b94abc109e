"""The one seam to an API server: a request in, a response out, or a stream of bytes.

It has two ends: HTTPS to a real server, and the in-memory server of `local/`. Whatever sits above cannot tell
them apart; whatever injects faults sits between.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

MERGE_PATCH = "application/merge-patch+json"
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = JSON
    timeout: float = 30.0  # seconds until the answer must be complete; of a stream, until it begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport(Protocol):
    async def request(self, request: Request) -> Response:
        """Raises TransportError when there is no answer; an answer of any status is returned."""
        ...

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        """Feeds the body piece by piece, then returns (status 200, no body); any other status at once."""
        ...

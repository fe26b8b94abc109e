"""What was asked of the API server, by whom and with which answer: counted from its audit log.

The log is written in blocking mode: the line of a request is there when its answer is complete. So two marks,
each the length of the log at a moment, have between them exactly what was answered in between. A watch counts
when it begins.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


class Asked(NamedTuple):
    agent: str  # the user agent up to its first slash
    verb: str
    resource: str  # or the path of what is no resource
    subresource: str
    code: int


class Requests:
    """Of one user or client (its name, or its user agent up to the first slash), since the mark."""

    def __init__(self, log: Path, who: str) -> None:
        self._log = log
        self._who = who
        self._begin = self._mark()
        self._end: int | None = None

    def __enter__(self) -> Self:
        self._begin = self._mark()
        return self

    def __exit__(self, *_: object) -> None:
        self._end = self._mark()

    def seen(self) -> Counter[Asked]:
        end = self._mark() if self._end is None else self._end
        with self._log.open("rb") as file:
            file.seek(self._begin)
            text = file.read(end - self._begin)
        whole = text[: text.rfind(b"\n") + 1]
        lines = [line for line in whole.splitlines() if self._who.encode() in line]
        return Counter(asked(event) for event in map(json.loads, lines) if self._counts(event))

    def total(self, **wanted: str | int) -> int:
        """How many had these values: `total(verb="create", resource="pods", code=201)`."""
        return sum(
            count
            for one, count in self.seen().items()
            if all(getattr(one, name) == value for name, value in wanted.items())
        )

    def _counts(self, event: dict[str, Any]) -> bool:
        if self._who not in {event["user"]["username"], agent_of(event)}:
            return False
        return bool(event["verb"] == "watch") == bool(event["stage"] == "ResponseStarted")

    def _mark(self) -> int:
        return self._log.stat().st_size


def asked(event: dict[str, Any]) -> Asked:
    target = event.get("objectRef", {})
    return Asked(
        agent=agent_of(event),
        verb=event["verb"],
        resource=target.get("resource") or urlsplit(event["requestURI"]).path,
        subresource=target.get("subresource", ""),
        code=event.get("responseStatus", {}).get("code", 0),
    )


def agent_of(event: dict[str, Any]) -> str:
    agent: str = event.get("userAgent", "")
    return agent.split("/", maxsplit=1)[0]

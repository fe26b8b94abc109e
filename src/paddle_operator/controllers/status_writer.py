"""Writes status: only what changed, once per reconcile, and counters alone at most once a second.

After a write the cache still shows the old status for a moment. Until it shows the written version, the
written status is the truth; otherwise a plan made in between would start from what is no longer so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from paddle_operator.api.paddlejob import PaddleJobStatus
from paddle_operator.controllers.observe import PADDLE_JOBS, JobView
from paddle_operator.kube.client import Client
from paddle_operator.kube.patch import merge_diff

COUNTERS_EVERY = 1.0  # seconds
ECHO_WITHIN = 60.0  # after that the cache is believed again


@dataclass(frozen=True, slots=True)
class Written:
    status: PaddleJobStatus
    version: str
    at: float


class StatusWriter:
    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        self._client, self._clock = client, clock
        self._written: dict[str, Written] = {}

    def current(self, view: JobView) -> PaddleJobStatus:
        """What status says, our own last write included."""
        written = self._written.get(view.uid)
        if written is None or view.version == written.version or self._clock() - written.at > ECHO_WITHIN:
            return view.status
        return written.status

    async def write(self, view: JobView, status: PaddleJobStatus) -> float | None:
        """Writes if there is news; returns the seconds to wait when it is too early for these news."""
        old = self.current(view)
        body = merge_diff(_document(old), _document(status))
        if not body:
            return None
        if wait := self._too_early(view.uid, old, status):
            return wait
        answer = await self._client.patch(
            PADDLE_JOBS, view.namespace, view.name, _guarded(view, old, status, body), subresource="status"
        )
        self._written[view.uid] = Written(status, answer["metadata"]["resourceVersion"], self._clock())
        return None

    def forget(self, uid: str) -> None:
        self._written.pop(uid, None)

    def _too_early(self, uid: str, old: PaddleJobStatus, new: PaddleJobStatus) -> float | None:
        written = self._written.get(uid)
        if written is None or old.phase != new.phase:
            return None
        wait = written.at + COUNTERS_EVERY - self._clock()
        return wait if wait > 0 else None


def _document(status: PaddleJobStatus) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(status)
    return document


def _guarded(
    view: JobView, old: PaddleJobStatus, new: PaddleJobStatus, body: dict[str, Any]
) -> dict[str, Any]:
    """The uid keeps a status off a later job of the same name; an end must not be decided on an old spec."""
    metadata = {"uid": view.uid}
    if new.phase and new.phase.finished and old == view.status:
        metadata["resourceVersion"] = view.version
    return {"metadata": metadata, "status": body}

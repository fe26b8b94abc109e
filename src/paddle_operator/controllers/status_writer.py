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
        written = self._unseen(view)
        return written.status if written else view.status

    async def write(self, view: JobView, status: PaddleJobStatus) -> float | None:
        """Writes if there is news; returns the seconds to wait when it is too early for these news."""
        old = self.current(view)
        body = merge_diff(_document(old), _document(status))
        if not body:
            return None
        if wait := self._too_early(view.uid, old, status):
            return wait
        # The version keeps it off a later job of the same name, and off a spec it was not decided on.
        guarded = {"metadata": {"resourceVersion": self._version(view)}, "status": body}
        answer = await self._client.patch(
            PADDLE_JOBS, view.namespace, view.name, guarded, subresource="status"
        )
        self._written[view.uid] = Written(status, answer["metadata"]["resourceVersion"], self._clock())
        return None

    def _version(self, view: JobView) -> str:
        written = self._unseen(view)
        return written.version if written else view.version

    def _unseen(self, view: JobView) -> Written | None:
        """Our last write, as long as the cache does not show it."""
        written = self._written.get(view.uid)
        if written is None or view.version == written.version or self._clock() - written.at > ECHO_WITHIN:
            return None
        return written

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

"""Watches: the changes since a version, as lines of JSON, and then each new one as it happens."""

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from paddle_operator.local.apiserver.kinds import Object
from paddle_operator.local.apiserver.refusals import Refusal
from paddle_operator.local.apiserver.routes import Target
from paddle_operator.local.apiserver.selectors import Selector
from paddle_operator.local.apiserver.store import Change, Store


class Watch:
    def __init__(self, store: Store, target: Target, selector: Selector) -> None:
        self._store, self._target, self._selector = store, target, selector
        self._changes: asyncio.Queue[Change] = asyncio.Queue()

    async def run(self, version: str, seconds: float, feed: Callable[[bytes], None]) -> None:
        """Until the time is over. A version too old is told as an ERROR event, as the real server does."""
        cancel = self._store.subscribe(self._changes.put_nowait)
        try:
            for change in self._backlog(version):
                self._send(change, feed)
            async with asyncio.timeout(seconds):
                while True:
                    self._send(await self._changes.get(), feed)
        except Refusal as refusal:
            feed(_line("ERROR", refusal.status()))
        except TimeoutError:
            return
        finally:
            cancel()

    def _backlog(self, version: str) -> list[Change]:
        if version in ("", "0"):  # from now, beginning with all there is
            everything = self._store.all(self._target.kind, self._target.namespace)
            return [Change(self._store.version, self._target.kind, None, stored) for stored in everything]
        with contextlib.suppress(ValueError):
            return self._store.since(int(version))
        raise Refusal(400, "BadRequest", f"invalid resource version {version!r}")

    def _send(self, change: Change, feed: Callable[[bytes], None]) -> None:
        if change.kind is not self._target.kind:
            return
        before, now = self._mine(change.old), self._mine(change.new)
        if now:
            feed(_line("MODIFIED" if before else "ADDED", now))
        elif before:
            # It was deleted, or its labels no longer match; to this watch both are the end of it.
            version = (change.new or before)["metadata"]["resourceVersion"]
            feed(_line("DELETED", {**before, "metadata": {**before["metadata"], "resourceVersion": version}}))

    def _mine(self, stored: Object | None) -> Object | None:
        if stored is None:
            return None
        meta = stored["metadata"]
        inside = self._target.namespace in ("", meta["namespace"])
        return stored if inside and self._selector(meta.get("labels") or {}) else None


def _line(kind: str, stored: Object) -> bytes:
    return msgspec.json.encode({"type": kind, "object": stored}) + b"\n"

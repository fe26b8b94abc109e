"""Watches: the changes since a version, as lines of JSON, and then each new one as it happens.

Bookmarks tell a quiet watch how far it has come, so that it need not list again after a break. A watch may
also begin with everything there is (`sendInitialEvents`), closed by a bookmark that says so.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from paddle_operator.local.apiserver.kinds import Object
from paddle_operator.local.apiserver.refusals import Refusal, bad_request
from paddle_operator.local.apiserver.routes import Target
from paddle_operator.local.apiserver.selectors import Selector
from paddle_operator.local.apiserver.store import Change, Store

BOOKMARK_EVERY = 60.0  # seconds without an event
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class WatchOptions:
    version: str = ""
    seconds: float = 300.0
    bookmarks: bool = False
    initial_events: bool = False


class Watch:
    def __init__(self, store: Store, target: Target, selector: Selector) -> None:
        self._store, self._target, self._selector = store, target, selector
        self._changes: asyncio.Queue[Change] = asyncio.Queue()

    async def run(self, options: WatchOptions, feed: Callable[[bytes], None]) -> None:
        """Until the time is over. A version too old is told as an ERROR event, as the real server does."""
        cancel = self._store.subscribe(self._changes.put_nowait)
        try:
            self._begin(options, feed)
            async with asyncio.timeout(options.seconds):
                while True:
                    await self._next(options, feed)
        except Refusal as refusal:
            feed(_line("ERROR", refusal.status()))
        except TimeoutError:
            return
        finally:
            cancel()

    def _begin(self, options: WatchOptions, feed: Callable[[bytes], None]) -> None:
        everything = options.initial_events or options.version in ("", "0")
        for change in self._all() if everything else self._since(options.version):
            self._send(change, feed)
        if options.initial_events:
            feed(self._bookmark({INITIAL_EVENTS_END: "true"}))

    async def _next(self, options: WatchOptions, feed: Callable[[bytes], None]) -> None:
        try:
            # Not `wait_for`: Python 3.11's loses a cancellation that comes together with the result.
            async with asyncio.timeout(BOOKMARK_EVERY):
                change = await self._changes.get()
        except TimeoutError:
            if options.bookmarks:
                feed(self._bookmark({}))
        else:
            self._send(change, feed)

    def _all(self) -> list[Change]:
        kind, namespace = self._target.kind, self._target.namespace
        return [
            Change(self._store.version, kind, None, stored) for stored in self._store.all(kind, namespace)
        ]

    def _since(self, version: str) -> list[Change]:
        if not version.isdecimal():
            raise bad_request(f"invalid resource version {version!r}")
        return self._store.since(int(version))

    def _bookmark(self, annotations: dict[str, str]) -> bytes:
        kind = self._target.kind
        meta: dict[str, Any] = {"resourceVersion": str(self._store.version)}
        if annotations:
            meta["annotations"] = annotations
        return _line("BOOKMARK", {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta})

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

"""The operator may die after any of its actions: the next one brings the job to the same end.

One undisturbed run counts the writes of the controller. Then, for each of them, a run in which the controller
stops for ever at that write: once just before the server hears of it, once just after.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from paddle_operator.kube.transport import Request, Response, Transport
from support import virtual_time
from support.build import document
from support.kubelet import Behaviour, workers_succeed
from support.world import Recorder, World


class DiesAt:
    """Passes so many writes, then never answers again."""

    def __init__(self, inner: Transport, writes: int, *, heard: bool) -> None:
        self._inner, self._left, self._heard = inner, writes, heard
        self.dead = asyncio.Event()

    async def request(self, request: Request) -> Response:
        if self.dead.is_set():
            await asyncio.Event().wait()
        if request.method != "GET":
            self._left -= 1
            if self._left < 0:
                self.dead.set()
                if self._heard:
                    await self._inner.request(request)
                await asyncio.Event().wait()
        return await self._inner.request(request)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        return await self._inner.stream(request, feed)


def first_worker_fails(pod: str) -> int | None:
    return 3 if pod.endswith("worker-0") else None


Case = tuple[dict[str, Any], Behaviour]

CASES: dict[str, Case] = {
    "servers stay": (document(ps=2, withGloo=1, cleanPodPolicy="Never"), workers_succeed),
    "pods are cleaned": (document(ps=2, withGloo=1), workers_succeed),
    "a worker fails": (document(ps=1, cleanPodPolicy="Never"), first_worker_fails),
    "a worker fails and pods are cleaned": (document(worker=2, cleanPodPolicy="Always"), first_worker_fails),
}


async def _undisturbed(case: Case) -> tuple[int, Any]:
    world = World(case[1])
    async with world.running():
        controller = Recorder(world.server)
        world.start_controller(controller)
        await world.submit(case[0])
        await world.until_settled()
        return len(controller.writes), await _end(world)


async def _disturbed(case: Case, writes: int, *, heard: bool) -> Any:
    world = World(case[1])
    async with world.running():
        dying = DiesAt(world.server, writes, heard=heard)
        first = world.start_controller(dying)
        await world.submit(case[0])
        await dying.dead.wait()
        first.cancel()
        world.start_controller()
        await world.until_settled()
        assert set(world.created().values()) == {1}, "a member had two pods"
        return await _end(world)


async def _end(world: World) -> Any:
    """What must be the same in the end: everything but uids, versions and times."""
    status = (await world.job())["status"]
    for key in ("startTime", "completionTime", "duration"):
        status.pop(key, None)
    for condition in status["conditions"]:
        condition.pop("lastTransitionTime")
    for role in ("ps", "worker"):
        for reference in status.get(role, {}).get("refs", []):
            reference.pop("uid")
    left = {one["metadata"]["name"]: one["status"]["phase"] for one in await world.pods()}
    return msgspec.json.decode(msgspec.json.encode([status, left]))


@pytest.mark.parametrize("name", CASES)
def test_the_end_is_the_same_whenever_the_operator_dies(name: str) -> None:
    case = CASES[name]
    writes, want = virtual_time.run(_undisturbed(case))
    assert writes > 5
    for number in range(writes):
        for heard in (False, True):
            got = virtual_time.run(_disturbed(case, number, heard=heard))
            assert got == want, f"died {'after' if heard else 'before'} write {number}"

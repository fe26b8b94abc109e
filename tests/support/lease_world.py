"""Candidates for a lease, each in a process of its own, and somebody who looks that never two may write."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import msgspec

from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.lease import Lease
from paddle_operator.kube.resources import LEASES
from paddle_operator.kube.transport import Request
from paddle_operator.local.apiserver.kinds import Kind
from paddle_operator.local.apiserver.server import ApiServer
from support.lease_process import Pause, Wire, processes, within
from support.virtual_time import now

NS, NAME = "system", "leader"
LEASE_KIND = Kind(group="coordination.k8s.io", version="v1", plural="leases", kind="Lease")
GRANTED = 10.0  # seconds from the start of a renewal, by the writer's own clock


class Candidate:
    """A process with a lease, whose leader writes now and then."""

    def __init__(self, world: "LeaseWorld", name: str) -> None:
        rng = random.Random(f"{world.seed} {name}")
        self.name, self._world, self._rng = name, world, rng
        self._origin, self._rate = rng.uniform(0, 1e6), 1.0 + rng.uniform(-world.drift, world.drift)
        self._wall = timedelta(seconds=rng.uniform(-1e6, 1e6))
        self.wire, self.process, self.dead = Wire(world.server, rng), Pause(), False
        self.terms: list[float] = []  # when each began
        self.drain = 0.0  # seconds that the leader takes to stop
        self.lease = Lease(
            Client(self.wire),
            namespace=NS,
            name=NAME,
            identity=name,
            clock=self.clock,
            now=self._date,
            uniform=rng.uniform,
        )
        self.task = self._start()

    def clock(self) -> float:
        return self._origin + asyncio.get_running_loop().time() * self._rate

    def deadline(self) -> float:
        """By its own clock, and reckoned from what the network saw alone."""
        return self._origin + self.wire.granted * self._rate + GRANTED if self.wire.granted >= 0 else -1.0

    def may_write(self) -> bool:
        return not self.dead and self.lease.may_write()

    def kill(self) -> None:
        """From now on nothing of it reaches anybody."""
        self.dead = self.wire.cut = True
        self.process.resume()
        self.task.cancel()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait((self.task,))

    def _date(self) -> datetime:
        return now() + self._wall

    def _start(self) -> "asyncio.Task[None]":
        with within(self.process):
            return asyncio.create_task(self.lease.run(self._lead))

    async def _lead(self) -> None:
        self.terms.append(asyncio.get_running_loop().time())
        try:
            while True:
                if self.lease.may_write():
                    self._world.write(self)
                await asyncio.sleep(self._rng.uniform(0, 0.3))
        finally:
            if self.drain:
                await asyncio.sleep(self.drain)


class LeaseWorld:
    """One server, its candidates, and whoever looks that never two may write."""

    def __init__(self, *, seed: int = 0, drift: float = 0.0) -> None:
        self.seed, self.drift = seed, drift
        self.server = ApiServer([LEASE_KIND], now)
        self.candidates: list[Candidate] = []
        self.writes: list[tuple[float, str]] = []
        self.wrong: list[str] = []
        asyncio.get_running_loop().set_task_factory(processes)

    @contextlib.asynccontextmanager
    async def running(self, count: int) -> AsyncIterator[list[Candidate]]:
        self.candidates = [Candidate(self, f"c{number}") for number in range(count)]
        watch = asyncio.create_task(self._watch())
        try:
            yield self.candidates
        finally:
            watch.cancel()
            tasks = [candidate.task for candidate in self.candidates]
            for candidate in self.candidates:
                candidate.process.resume()
                candidate.task.cancel()
            await asyncio.gather(watch, *tasks, return_exceptions=True)
            for candidate in self.candidates:
                candidate.wire.close()

    def write(self, writer: Candidate) -> None:
        time = asyncio.get_running_loop().time()
        if writer.dead:
            return  # its last steps before it hears that it is cancelled
        self.writes.append((time, writer.name))
        if writer.clock() >= writer.deadline():
            self.wrong.append(f"{writer.name} wrote at {time}, after its time")
        self.look()

    def look(self) -> None:
        """A paused process counts too: it might write the moment it wakes."""
        leaders = [one.name for one in self.candidates if one.may_write()]
        if len(leaders) > 1:
            self.wrong.append(f"{leaders} may write at {asyncio.get_running_loop().time()}")

    def leader(self) -> Candidate | None:
        return next((one for one in self.candidates if one.may_write()), None)

    async def elected(self, *, besides: Candidate | None = None, most: float = 60.0) -> Candidate:
        async with asyncio.timeout(most):
            while (leader := self.leader()) in (None, besides):  # noqa: ASYNC110 - virtual time, nobody is told
                await asyncio.sleep(0.01)
        assert leader
        return leader

    async def spec(self) -> Object:
        response = await self.server.request(Request(method="GET", path=LEASES.path(NS, NAME)))
        spec: Object = msgspec.json.decode(response.body)["spec"]
        return spec

    async def patch(self, spec: Object) -> None:
        await Client(self.server).patch(LEASES, NS, NAME, {"spec": spec})

    async def remove(self) -> None:
        await Client(self.server).delete(LEASES, NS, NAME)

    async def _watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(0.05)

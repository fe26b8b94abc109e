"""Leader election once on a real server: one leads, and when it goes the other takes over."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from cluster.control_plane import ControlPlane
from paddle_operator.kube.auth.loader import load_access
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.http import HttpTransport
from paddle_operator.kube.lease import Lease, Times
from paddle_operator.kube.resources import LEASES
from paddle_operator.kube.transport import Request, Response

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]

TIMES = Times(duration=3, renew=2.0, retry=0.5)


@pytest_asyncio.fixture
async def transport(control_plane: ControlPlane) -> AsyncIterator[HttpTransport]:
    async with HttpTransport(load_access(kubeconfig=control_plane.kubeconfig("admin"))) as transport:
        yield transport


@pytest.fixture
def client(transport: HttpTransport) -> Client:
    return Client(transport)


class Cable:
    """Can be pulled."""

    def __init__(self, inner: HttpTransport) -> None:
        self._inner, self.pulled = inner, False

    async def request(self, request: Request) -> Response:
        if self.pulled:
            raise TransportError("the cable is pulled")
        return await self._inner.request(request)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        return await self._inner.stream(request, feed)


class Candidate:
    def __init__(self, client: Client, namespace: str, identity: str) -> None:
        self.lease = Lease(client, namespace=namespace, name="leader", identity=identity, times=TIMES)
        self.leads = asyncio.Event()
        self.task = asyncio.create_task(self.lease.run(self._lead))

    async def _lead(self) -> None:
        self.leads.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.leads.clear()

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@pytest.mark.asyncio
async def test_the_second_takes_over_when_the_first_lets_go(client: Client, namespace: str) -> None:
    first = Candidate(client, namespace, "first")
    await asyncio.wait_for(first.leads.wait(), 10)
    second = Candidate(client, namespace, "second")
    try:
        assert first.lease.may_write()
        assert not second.lease.may_write()
        await first.end()
        assert not first.lease.may_write()
        await asyncio.wait_for(second.leads.wait(), 10)
        record = (await client.get(LEASES, namespace, "leader"))["spec"]
        assert record["holderIdentity"] == "second"
        assert record["leaseTransitions"] == 1
    finally:
        await second.end()
    assert (await client.get(LEASES, namespace, "leader"))["spec"].get("holderIdentity", "") == ""


@pytest.mark.asyncio
async def test_the_second_takes_over_when_the_first_is_cut_off_and_the_first_has_stopped_before(
    transport: HttpTransport, namespace: str
) -> None:
    cable = Cable(transport)
    first = Candidate(Client(cable), namespace, "first")
    await asyncio.wait_for(first.leads.wait(), 10)
    second = Candidate(Client(transport), namespace, "second")
    try:
        cable.pulled = True
        overlap = False
        async with asyncio.timeout(20):
            while not second.leads.is_set():
                overlap |= first.lease.may_write() and second.lease.may_write()
                await asyncio.sleep(0.01)
        assert not overlap
        assert not first.lease.may_write()
        assert not first.leads.is_set()
    finally:
        await first.end()
        await second.end()

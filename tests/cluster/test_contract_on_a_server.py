"""The contract, against a real kube-apiserver."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cluster.control_plane import ControlPlane
from paddle_operator.kube.auth.loader import load_access
from paddle_operator.kube.http import HttpTransport
from support.contract import CASES, Server

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]


@pytest_asyncio.fixture
async def transport(controllers: ControlPlane) -> AsyncIterator[HttpTransport]:
    access = load_access(kubeconfig=controllers.kubeconfig("admin"))
    async with HttpTransport(access) as transport:
        yield transport


@pytest.mark.parametrize("name", CASES)
@pytest.mark.asyncio
async def test_on_a_real_server(name: str, transport: HttpTransport, namespace: str) -> None:
    await CASES[name](Server(transport, namespace))

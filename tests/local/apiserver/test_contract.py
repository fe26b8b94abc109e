"""The contract, against the server in memory."""

import pytest

from paddle_operator.local.apiserver.kinds import CONFIG_MAPS, from_crd, pods
from paddle_operator.local.apiserver.server import ApiServer
from support.contract import CASES, CRD, Server


@pytest.mark.parametrize("name", CASES)
@pytest.mark.asyncio
async def test_in_memory(name: str) -> None:
    await CASES[name](Server(ApiServer([from_crd(CRD), pods(), CONFIG_MAPS], history=50), "ns"))

"""The controller on a real API server, with kubelets that are played: from apply to the last status."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from cluster.control_plane import ControlPlane
from cluster.fake_nodes import FakeNodes
from paddle_operator.controllers.observe import PADDLE_JOBS
from paddle_operator.controllers.paddlejob import PaddleJobController
from paddle_operator.kube.auth.loader import load_access
from paddle_operator.kube.client import Client
from paddle_operator.kube.http import HttpTransport
from paddle_operator.kube.resources import CONFIG_MAPS, PODS, Resource

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]

PATIENCE = 60.0
PREFIX = "test.paddle-operator"


@pytest_asyncio.fixture
async def client(kwok: FakeNodes, controllers: ControlPlane, namespace: str) -> AsyncIterator[Client]:
    """With a controller that watches the namespace of the test."""
    assert kwok
    async with HttpTransport(load_access(kubeconfig=controllers.kubeconfig("admin"))) as transport:
        client = Client(transport)
        controller = asyncio.create_task(PaddleJobController(client, namespace=namespace).run())
        try:
            yield client
        finally:
            controller.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await controller


def role(replicas: int, **annotations: str) -> dict[str, Any]:
    marks = {f"{PREFIX}/{key}": value for key, value in annotations.items()}
    spec = {"containers": [{"name": "paddle", "image": "none", "command": ["train"]}]}
    return {"replicas": replicas, "template": {"metadata": {"annotations": marks}, "spec": spec}}


def job(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "demo"},
        "spec": spec,
    }


async def until(
    client: Client, resource: Resource, namespace: str, name: str, so: Callable[[Any], object]
) -> dict[str, Any]:
    """The object, once its status is so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await client.get(resource, namespace, name)
            if so(found.get("status", {})):
                return found
            await asyncio.sleep(0.1)


async def until_job(client: Client, namespace: str, so: Callable[[Any], object]) -> dict[str, Any]:
    return await until(client, PADDLE_JOBS, namespace, "demo", so)


@pytest.mark.asyncio
async def test_a_ps_job_starts_by_its_release_and_ends_when_its_workers_do(
    client: Client, namespace: str
) -> None:
    made = job(ps=role(2), worker=role(2, exit="0", after="1s"), withGloo=1, cleanPodPolicy="Never")
    await client.create(PADDLE_JOBS, namespace, made)
    await until_job(client, namespace, lambda status: status.get("phase") in ("Running", "Completed"))
    config = await client.get(CONFIG_MAPS, namespace, "demo")
    addresses = []
    for index in (0, 1):
        pod = await client.get(PODS, namespace, f"demo-ps-{index}")
        addresses.append(f"{pod['status']['podIP']}:2379")
    assert config["data"]["PADDLE_PSERVERS_IP_PORT_LIST"] == ",".join(addresses)
    done = await until_job(client, namespace, lambda status: status.get("ps", {}).get("succeeded") == 2)
    assert (done["status"]["phase"], done["status"]["ready"]) == ("Completed", "4/4")
    assert done["status"]["worker"]["succeeded"] == 2
    server = await client.get(PODS, namespace, "demo-ps-0")
    assert server["status"]["reason"] == "DeadlineExceeded"


@pytest.mark.asyncio
async def test_a_worker_that_fails_fails_the_job_and_the_others_are_stopped(
    client: Client, namespace: str
) -> None:
    made = job(worker=role(1, exit="3", after="1s"), ps=role(1))
    await client.create(PADDLE_JOBS, namespace, made)
    failed = await until_job(client, namespace, lambda status: status.get("phase") == "Failed")
    (condition,) = (one for one in failed["status"]["conditions"] if one["type"] == "Failed")
    assert condition["reason"] == "MemberFailed"
    assert "worker-0 failed: container paddle exited with code 3" in condition["message"]
    await until(client, PODS, namespace, "demo-ps-0", lambda status: status["phase"] == "Failed")


@pytest.mark.asyncio
async def test_kubectl_shows_the_job_in_one_line(
    client: Client, namespace: str, controllers: ControlPlane
) -> None:
    await client.create(PADDLE_JOBS, namespace, job(worker=role(1, exit="0", after="1s")))
    await until_job(client, namespace, lambda status: status.get("phase") == "Completed")
    shown = await asyncio.to_thread(controllers.kubectl, "-n", namespace, "get", "pdj")
    header, line = shown.splitlines()
    assert header.split() == ["NAME", "STATUS", "MODE", "AGE", "READY", "DURATION"]
    assert line.split()[:3] == ["demo", "Completed", "Single"]
    assert "1/1" in line

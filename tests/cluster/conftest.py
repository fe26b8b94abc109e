"""A real control plane, one for the test run, and a namespace of its own for each test.

control_plane   etcd, API server, controllers, scheduler; a client: control_plane.api("operator", agent="pdj")
namespace       a fresh one; it is deleted afterwards, and nobody waits for that
kubectl         kubectl("get", "pods", "-n", namespace), as admin or as another user=...
kwok            nodes whose kubelets are played as stages.yaml says; kwok.lose("node-1")
requests_of     with requests_of("operator") as asked: ...; asked.total(verb="create", resource="pods")
"""

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster.api import Api, ApiError
from cluster.audit import Requests
from cluster.control_plane import CONTROLLERS, SCHEDULER, ControlPlane
from cluster.fake_nodes import FakeNodes
from cluster.parts import Programs
from support.contract import CRD

NODES = 5


@pytest.fixture(scope="session")
def programs() -> Programs:
    return Programs.found()


@pytest.fixture(scope="session")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of objects that are there before the controllers start: definitions of kinds, roles."""
    widgets = tmp_path_factory.mktemp("manifests") / "widgets.json"
    widgets.write_text(json.dumps(CRD))
    return [widgets, Path(__file__).parents[2] / "deploy/v1/crd.yaml"]


@pytest.fixture(scope="session")
def control_plane(programs: Programs, manifests: list[Path]) -> Iterator[ControlPlane]:
    with ControlPlane(programs, manifests) as plane:
        yield plane


@pytest.fixture(scope="session")
def controllers(control_plane: ControlPlane) -> ControlPlane:
    """The control plane of a test that cannot do without kube-controller-manager."""
    control_plane.programs.need(CONTROLLERS)
    return control_plane


@pytest.fixture(scope="session")
def kwok(controllers: ControlPlane) -> FakeNodes:
    controllers.programs.need(SCHEDULER, "kwok")
    return FakeNodes(controllers, NODES)


@pytest.fixture
def api(control_plane: ControlPlane) -> Api:
    """As admin."""
    return control_plane.api()


@pytest.fixture
def kubectl(control_plane: ControlPlane) -> Callable[..., str]:
    return control_plane.kubectl


@pytest.fixture
def requests_of(control_plane: ControlPlane) -> Callable[[str], Requests]:
    return control_plane.requests_of


@pytest.fixture
def namespace(api: Api) -> Iterator[str]:
    name = f"test-{secrets.token_hex(4)}"
    api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    # Pods are refused before it exists; the controller that makes it may be slower than a test, or missing.
    with contextlib.suppress(ApiError):
        api.create(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})
    yield name
    api.delete(f"/api/v1/namespaces/{name}")

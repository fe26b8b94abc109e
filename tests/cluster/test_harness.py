"""What the other tests of this folder stand on does what it says."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.api import Api, ApiError, Object
from cluster.audit import Asked, Requests
from cluster.control_plane import CONTROLLERS, ControlPlane
from cluster.parts import Keeper, Programs, until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]

HERE = Path(__file__).parent
WIDGETS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def config_map(name: str, owner: Object | None = None) -> Object:
    meta: Object = {"name": name}
    if owner:
        whole = {**owner, **owner["metadata"]}
        names = ("apiVersion", "kind", "name", "uid")
        meta["ownerReferences"] = [{name: whole[name] for name in names}]
    return {"metadata": meta}


def test_the_server_says_the_version_that_was_asked_for(api: Api, programs: Programs) -> None:
    pinned = re.search(r"k8s\.io/kubernetes (v[\d.]+)", (HERE / "kubelab" / "go.mod").read_text())
    assert pinned
    wanted = pinned[1] if programs.path.is_file() else programs.version()
    assert api.get("/version")["gitVersion"] == wanted


def test_kubectl_speaks_to_the_server(kubectl: Callable[..., str], namespace: str) -> None:
    assert kubectl("get", "namespace", namespace, "-o", "name").strip() == f"namespace/{namespace}"


def test_kubectl_that_fails_fails_the_test_with_its_complaint(kubectl: Callable[..., str]) -> None:
    with pytest.raises(AssertionError, match=r'namespaces "nowhere" not found'):
        kubectl("get", "namespace", "nowhere")


def test_the_operator_may_do_nothing_that_no_role_allows(control_plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(ApiError) as refused:
        control_plane.api("operator").get(f"/api/v1/namespaces/{namespace}/pods")
    assert refused.value.code == 403


def test_a_role_lets_the_operator_do_what_it_says(
    control_plane: ControlPlane, kubectl: Callable[..., str], namespace: str
) -> None:
    kubectl("create", "role", "reader", "-n", namespace, "--verb=list", "--resource=pods")
    kubectl("create", "rolebinding", "reader", "-n", namespace, "--role=reader", "--user=operator")
    operator = control_plane.api("operator")

    def allowed() -> bool:
        try:
            return operator.items(f"/api/v1/namespaces/{namespace}/pods") == []
        except ApiError as error:
            assert error.code == 403  # noqa: PT017  the authorizer hears of the new role a moment later
            return False

    assert until(allowed, "the operator may list pods")


def test_exactly_the_requests_between_two_marks_are_counted(
    control_plane: ControlPlane, requests_of: Callable[[str], Requests], namespace: str
) -> None:
    counted, other = control_plane.api(agent="counted/1.0"), control_plane.api(agent="counted-elsewhere")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    counted.create(path, config_map("before"))
    with requests_of("counted") as asked:
        for name in ("a", "b"):
            counted.create(path, config_map(name))
        other.create(path, config_map("c"))
        with pytest.raises(ApiError):
            counted.create(path, config_map("a"))
        counted.get(path)
        counted.request("GET", f"{path}?watch=true&timeoutSeconds=1")
        counted.get("/version")
    counted.delete(f"{path}/a")
    assert asked.seen() == Counter(
        {
            Asked("counted", "create", "configmaps", "", 201): 2,
            Asked("counted", "create", "configmaps", "", 409): 1,
            Asked("counted", "list", "configmaps", "", 200): 1,
            Asked("counted", "watch", "configmaps", "", 200): 1,
            Asked("counted", "get", "/version", "", 200): 1,
        }
    )
    assert asked.total(verb="create") == 3


def test_the_requests_of_a_user_are_counted_with_their_refusals(
    control_plane: ControlPlane, requests_of: Callable[[str], Requests], namespace: str
) -> None:
    with requests_of("operator") as asked:
        with pytest.raises(ApiError):
            control_plane.api("operator").patch(f"/api/v1/namespaces/{namespace}/pods/a/status", {})
        control_plane.api("admin").get("/version")
    assert asked.seen() == Counter({Asked("harness", "patch", "pods", "status", 403): 1})


def test_what_belonged_to_a_deleted_object_goes_with_it(controllers: ControlPlane, namespace: str) -> None:
    api, path = controllers.api(), f"/api/v1/namespaces/{namespace}/configmaps"
    owner = api.create(path, config_map("owner"))
    api.create(path, config_map("child", owner))
    api.create(path, config_map("stranger"))
    api.delete(f"{path}/owner", propagationPolicy="Background")
    until(lambda: api.find(f"{path}/child") is None, "the child is collected", seconds=30)
    assert api.find(f"{path}/stranger")


def test_objects_of_a_kind_that_the_manifests_define_are_collected_from_the_start(
    programs: Programs, tmp_path: Path
) -> None:
    programs.need(CONTROLLERS)
    (tmp_path / "kind.json").write_text(json.dumps(WIDGETS))
    with ControlPlane(programs, [tmp_path / "kind.json"]) as plane:
        api, path = plane.api(), "/api/v1/namespaces/default/configmaps"
        widgets = "/apis/example.org/v1/namespaces/default/widgets"
        widget = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "owner"}}
        api.create(path, config_map("child", api.create(widgets, widget)))
        api.delete(f"{widgets}/owner")
        until(lambda: api.find(f"{path}/child") is None, "the child is collected")


def test_the_server_can_be_stopped_and_comes_back_with_its_objects(programs: Programs) -> None:
    with ControlPlane(programs, with_controllers=False) as plane:
        api, path = plane.api(), "/api/v1/namespaces/default/configmaps"
        api.create(path, config_map("kept"))
        plane.stop_part("kube-apiserver")
        with pytest.raises(OSError, match="refused"):
            api.get(path)
        plane.start_api_server()
        assert api.find(f"{path}/kept")
        folder = plane.folder
    assert not folder.exists()


def test_a_part_that_does_not_start_fails_with_the_end_of_its_log(programs: Programs) -> None:
    keeper = Keeper()
    try:
        keeper.start("etcd", [*programs.command("etcd"), "--no-such-flag"])
        with pytest.raises(AssertionError, match=r"(?s)etcd: exit code \d+.*no-such-flag"):
            keeper.wait_for("etcd", lambda: False)
    finally:
        keeper.close()


def test_nothing_is_left_of_a_test_run_that_is_killed(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from cluster.parts import Keeper
keeper = Keeper()
pid = keeper.start("sleeper", [sys.executable, "-c", "import time; time.sleep(1000)"])
print(pid, keeper.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {"PYTHONPATH": str(HERE.parent), "TMPDIR": str(tmp_path)}
    killed = subprocess.run(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=False, timeout=30
    )
    assert killed.returncode == -signal.SIGKILL
    pid, folder = killed.stdout.decode().split()
    assert folder.startswith(str(tmp_path))
    until(lambda: not Path(folder).exists(), "the folder is removed")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)

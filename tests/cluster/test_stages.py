"""The kubelets that kwok plays do what the tests of the operator count on."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from cluster.api import Api, Object
from cluster.fake_nodes import PREFIX, FakeNodes, ready
from cluster.parts import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120), pytest.mark.usefixtures("kwok")]

RELEASE = "batch.paddlepaddle.org/release"
WAITS = {"envFrom": [{"configMapRef": {"name": "job"}}]}


class Pod:
    """One that was created, and its status as it changes."""

    def __init__(
        self, api: Api, namespace: str, name: str, annotations: dict[str, str], spec: Object
    ) -> None:
        container = {"name": "main", "image": "none", **spec.pop("container", {})}
        self._api = api
        pods = f"/api/v1/namespaces/{namespace}/pods"
        self.path = f"{pods}/{name}"
        whole = {"restartPolicy": "Never", "containers": [container], **spec}
        api.create(pods, {"metadata": {"name": name, "annotations": annotations}, "spec": whole})

    def status(self) -> Object:
        found: Object = self._api.get(self.path)["status"]
        return found

    def state(self) -> Object:
        """Of its container."""
        found: Object = self.status()["containerStatuses"][0]["state"]
        return found

    def becomes(self, phase: str) -> Object:
        return until(lambda: self._status_if(lambda found: found["phase"] == phase), f"pod is {phase}")

    def waits(self) -> Object:
        return until(lambda: self._status_if(lambda found: "containerStatuses" in found), "pod was looked at")

    def _status_if(self, wanted: Callable[[Object], bool]) -> Object | None:
        found = self.status()
        return found if wanted(found) else None

    def annotate(self, name: str) -> None:
        self._api.patch(self.path, {"metadata": {"annotations": {name: "1"}}})

    def patch_spec(self, **fields: Any) -> None:
        self._api.patch(self.path, {"spec": fields})

    def delete(self) -> None:
        self._api.delete(self.path)

    def is_gone(self) -> bool:
        return self._api.find(self.path) is None

    def is_bound(self) -> bool:
        return "nodeName" in self._api.get(self.path)["spec"]


Create = Callable[..., Pod]


@pytest.fixture
def create(api: Api, namespace: str) -> Create:
    """`create(exit="1", container=WAITS)`: annotations of the stages by name, and fields of the spec."""
    names = ("exit", "after", "hang", "stuck")

    def pod(name: str = "one", **fields: Any) -> Pod:
        annotations = {PREFIX + key: fields.pop(key) for key in names if key in fields}
        return Pod(api, namespace, name, annotations, fields)

    return pod


def kubelets_have_seen_it(create: Create) -> None:
    """Whatever was done until now: they act in order, and a pod that was made later runs."""
    create("later").becomes("Running")


def is_ready(status: Object) -> str:
    return ready({"status": status})


def test_a_pod_runs_is_ready_and_has_the_address_of_itself_and_of_its_node(create: Create) -> None:
    status = create().becomes("Running")
    assert is_ready(status) == "True"
    assert status["podIP"].startswith("10.64.")
    assert status["hostIP"].startswith("10.63.")
    assert status["containerStatuses"][0]["state"].keys() == {"running"}


def test_a_pod_on_the_network_of_its_node_has_the_address_of_the_node(create: Create) -> None:
    status = create(hostNetwork=True).becomes("Running")
    assert status["podIP"] == status["hostIP"]


def test_a_pod_whose_environment_is_missing_waits_with_an_address(create: Create) -> None:
    pod = create(container=WAITS)
    status = pod.waits()
    assert (status["phase"], is_ready(status)) == ("Pending", "False")
    assert pod.state()["waiting"]["reason"] == "CreateContainerConfigError"
    assert {"podIP", "hostIP", "startTime"} <= status.keys()


def test_a_waiting_pod_that_is_released_runs_with_the_address_it_had(create: Create) -> None:
    pod = create(container=WAITS)
    waiting = pod.waits()
    pod.annotate(RELEASE)
    status = pod.becomes("Running")
    assert (status["podIP"], status["startTime"]) == (waiting["podIP"], waiting["startTime"])
    assert is_ready(status) == "True"
    assert pod.state().keys() == {"running"}


def test_another_annotation_does_not_release_a_pod(create: Create) -> None:
    pod = create(container=WAITS)
    pod.waits()
    pod.annotate("example.org/other")
    kubelets_have_seen_it(create)
    assert pod.status()["phase"] == "Pending"


def test_a_pod_whose_environment_may_be_missing_runs(create: Create) -> None:
    create(container={"envFrom": [{"configMapRef": {"name": "job", "optional": True}}]}).becomes("Running")


@pytest.mark.parametrize(("code", "phase"), [("0", "Succeeded"), ("7", "Failed")])
def test_a_pod_exits_with_the_code_it_was_told(create: Create, code: str, phase: str) -> None:
    pod = create(exit=code)
    assert is_ready(pod.becomes(phase)) == "False"
    assert pod.state()["terminated"]["exitCode"] == int(code)


def test_a_pod_exits_only_after_the_time_it_was_told(create: Create) -> None:
    pod = create(exit="1", after="2.5s")
    running = pod.becomes("Running")
    pod.becomes("Failed")
    ran = pod.state()["terminated"]
    assert ran["startedAt"] == running["containerStatuses"][0]["state"]["running"]["startedAt"]
    assert seconds_between(ran["startedAt"], ran["finishedAt"]) >= 2


def test_a_pod_that_hangs_is_on_its_node_and_has_no_address(create: Create) -> None:
    pod = create(hang="")
    until(pod.is_bound, "pod is on a node")
    kubelets_have_seen_it(create)
    status = pod.status()
    assert status["phase"] == "Pending"
    assert "podIP" not in status


def test_a_pod_ends_at_its_deadline(create: Create) -> None:
    pod = create(activeDeadlineSeconds=2)
    failed = pod.becomes("Failed")
    assert failed["reason"] == "DeadlineExceeded"
    ended = pod.state()["terminated"]
    assert ended["exitCode"] == 137
    assert seconds_between(failed["startTime"], ended["finishedAt"]) >= 2


def test_a_deadline_given_to_a_running_pod_ends_it_before_its_own_end(create: Create) -> None:
    pod = create(exit="0", after="3600s")
    pod.becomes("Running")
    pod.patch_spec(activeDeadlineSeconds=1)
    assert pod.becomes("Failed")["reason"] == "DeadlineExceeded"


def test_a_pod_that_exits_before_its_deadline_exits_by_itself(create: Create) -> None:
    pod = create(exit="0", activeDeadlineSeconds=3600)
    assert "reason" not in pod.becomes("Succeeded")


def test_a_deleted_pod_is_gone_at_once(create: Create) -> None:
    pod = create()
    pod.becomes("Running")
    pod.delete()
    until(pod.is_gone, "the pod is gone", seconds=5)


def test_the_deletion_of_a_stuck_pod_is_confirmed_only_when_it_is_no_longer_stuck(
    create: Create, api: Api
) -> None:
    pod = create(stuck="")
    pod.becomes("Running")
    pod.delete()
    kubelets_have_seen_it(create)
    assert not pod.is_gone()
    api.patch(pod.path, {"metadata": {"annotations": {PREFIX + "stuck": None}}})
    until(pod.is_gone, "the pod is gone", seconds=5)


def test_the_pods_of_a_lost_node_are_evicted_but_nobody_confirms_it(
    create: Create, kwok: FakeNodes, api: Api
) -> None:
    pod = create(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}])
    pod.becomes("Running")
    name = api.get(pod.path)["spec"]["nodeName"]
    kwok.lose(name)
    try:
        until(lambda: "deletionTimestamp" in api.get(pod.path)["metadata"], "the pod is evicted")
        conditions = {one["type"]: one["status"] for one in pod.status()["conditions"]}
        assert conditions["DisruptionTarget"] == "True"
        assert not kwok.is_ready(name)
    finally:
        kwok.recover(name)
    assert not pod.is_gone()


def seconds_between(begin: str, end: str) -> int:
    """Kubernetes keeps whole seconds."""
    return int((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())

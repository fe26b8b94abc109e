"""Nodes that exist only as objects: kwok plays their kubelets as stages.yaml says."""

from pathlib import Path
from typing import Any

from cluster.api import Object
from cluster.control_plane import ControlPlane, free_ports
from cluster.parts import until

STAGES = Path(__file__).with_name("stages.yaml")
PREFIX = "test.paddle-operator/"
POD_IPS = "10.64.0.0/16"


class FakeNodes:
    """Not more than half of them may be lost at a time: the node controller then evicts nothing."""

    def __init__(self, plane: ControlPlane, count: int) -> None:
        self._api = plane.api()
        self.names = [f"node-{number}" for number in range(count)]
        for number, name in enumerate(self.names):
            self._api.create("/api/v1/nodes", node(name, f"10.63.0.{number + 1}"))
        flags = ["--kubeconfig", str(plane.kubeconfig("kwok")), "--config", str(STAGES), "--manage-all-nodes"]
        # Without renewed leases the node controller gives each node up after its grace period of 50 s.
        flags += ["--node-lease-duration-seconds", "40", "--cidr", POD_IPS]
        plane.start_part("kwok", *flags, "--server-address", f"127.0.0.1:{free_ports(1)[0]}")
        plane.wait_for("kwok", lambda: all(self.is_ready(name) for name in self.names))

    def get(self, name: str) -> Object:
        return self._api.get(f"/api/v1/nodes/{name}")

    def is_ready(self, name: str) -> bool:
        """Also to the scheduler: the taint of a node that was not ready is gone."""
        found = self.get(name)
        return ready(found) == "True" and not found["spec"].get("taints")

    def lose(self, name: str) -> None:
        """Nobody there confirms the deletion of a pod any more."""
        for pod in self._api.items(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{name}"):
            meta = pod["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            self._api.patch(path, {"metadata": {"annotations": {PREFIX + "stuck": ""}}})
        self._label(name, "")
        until(lambda: ready(self.get(name)) == "Unknown", f"{name} is lost")

    def recover(self, name: str) -> None:
        self._label(name, None)
        until(lambda: self.is_ready(name), f"{name} is back")

    def _label(self, name: str, value: str | None) -> None:
        self._api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {PREFIX + "lost": value}}})


def ready(found: Object) -> str:
    conditions: list[dict[str, Any]] = found["status"].get("conditions", [])
    return next((one["status"] for one in conditions if one["type"] == "Ready"), "")


def node(name: str, address: str) -> Object:
    size = {"cpu": "256", "memory": "1Ti", "pods": "1000"}
    addresses = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": size, "capacity": size, "addresses": addresses},
    }

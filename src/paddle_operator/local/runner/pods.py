"""The parts of a pod that running it needs. What this machine cannot honour yet is kept raw, and refused."""

from typing import Any

import msgspec

from paddle_operator.kube.objects import ObjectMeta, Wire


class FieldRef(Wire, frozen=True):
    field_path: str = ""


class KeyRef(Wire, frozen=True):
    name: str = ""
    key: str = ""
    optional: bool = False


class ValueFrom(Wire, frozen=True):
    field_ref: FieldRef | None = None
    config_map_key_ref: KeyRef | None = None
    secret_key_ref: KeyRef | None = None
    resource_field_ref: Any = None


class EnvVar(Wire, frozen=True):
    name: str
    value: str = ""
    value_from: ValueFrom | None = None


class EnvSource(Wire, frozen=True):
    prefix: str = ""
    config_map_ref: KeyRef | None = None
    secret_ref: KeyRef | None = None


class Container(Wire, frozen=True):
    name: str
    image: str = ""
    command: list[str] = []
    args: list[str] = []
    working_dir: str = ""
    env: list[EnvVar] = []
    env_from: list[EnvSource] = []
    resources: Any = None
    volume_mounts: Any = None
    termination_message_policy: str = "File"


class PodSpec(Wire, frozen=True):
    containers: list[Container] = []
    node_name: str = ""
    service_account_name: str = "default"
    restart_policy: str = "Always"
    termination_grace_period_seconds: int = 30
    active_deadline_seconds: int | None = None
    init_containers: Any = None


class PodStatus(Wire, frozen=True):
    phase: str = "Pending"


class Pod(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PodSpec
    status: PodStatus = PodStatus()

    @property
    def main(self) -> Container:
        return self.spec.containers[0]


class ConfigMap(Wire, frozen=True):
    metadata: ObjectMeta
    data: dict[str, str] = {}


def decode_config_map(raw: dict[str, Any]) -> ConfigMap:
    return msgspec.convert(raw, ConfigMap)


def unsupported(pod: Pod) -> str | None:
    """What this machine cannot do for the pod, as a sentence; None when it can run it."""
    container, name = pod.main, pod.metadata.name
    limits = {**((container.resources or {}).get("limits") or {})}
    devices = [key for key, amount in limits.items() if "/" in key and str(amount) != "0"]
    secrets = any(entry.value_from and entry.value_from.secret_key_ref for entry in container.env)
    refused = {
        "init containers": bool(pod.spec.init_containers),
        "more than one container": len(pod.spec.containers) > 1,
        f"restartPolicy {pod.spec.restart_policy}": pod.spec.restart_policy != "Never",
        "volume mounts": bool(container.volume_mounts),
        f"devices ({', '.join(devices)})": bool(devices),
        "secrets in the environment": secrets or any(source.secret_ref for source in container.env_from),
    }
    found = [what for what, is_so in refused.items() if is_so]
    return (
        f"{name} needs {' and '.join(found)}, which a run on this machine cannot give yet" if found else None
    )

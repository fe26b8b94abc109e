"""What a Paddle process is told: the environment of each member, and of the gang as a whole.

Two halves, because the kubelet needs both. What differs by member, and is known before any pod has an
address, stands in the pod's `env` (`member_env`). What all share, and needs every address, stands in the
ConfigMap (`gang_env`); its arrival is the release. A key missing here is not an error message in Paddle but,
for some keys, a member that silently trains alone.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from paddle_operator.api.words import Mode, RoleName
from paddle_operator.plan.model import Job, Member, Role

PORTS_PER_MEMBER = 20
GLOO_OFFSET = 18  # the rendezvous of gloo listens beside server 0, never on server 0's own port

_TRAINING_ROLE = {RoleName.PS: "PSERVER", RoleName.WORKER: "TRAINER"}
_ACCELERATORS = ("gpu", "npu", "xpu", "mlu", "dcu", "ascend")


def member_env(job: Job, member: Member) -> list[dict[str, Any]]:
    training_role = _TRAINING_ROLE[member.role]
    env: list[dict[str, Any]] = [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
        {"name": "PADDLE_TRAINER_ID", "value": str(member.index)},
        {"name": "TRAINING_ROLE", "value": training_role},
        {"name": "PADDLE_TRAINING_ROLE", "value": training_role},
    ]
    if job.mode is not Mode.PS:
        env.append({"name": "PADDLE_CURRENT_ENDPOINT", "value": f"$(POD_IP):{job.port}"})
    return env


def default_env(job: Job, member: Member) -> list[dict[str, Any]]:
    """What we set only where the user's container does not."""
    if job.mode is Mode.PS:
        return []
    # Members that share a directory would write, and print, each other's `workerlog.0`.
    return [{"name": "PADDLE_LOG_DIR", "value": f"log/{job.name}-{member}"}]


def gang_env(job: Job, addresses: Mapping[Member, str]) -> dict[str, str]:
    data = {
        "TRAINER_PORTS_NUM": str(PORTS_PER_MEMBER),
        "PADDLE_PORT": str(job.port),
        "PYTHONUNBUFFERED": "1",
    }
    data |= _servers(job, addresses) | _workers(job, addresses) | _gloo(job, addresses)
    workers = job.role(RoleName.WORKER)
    if job.mode is not Mode.PS and workers and not wants_accelerator(workers):
        data["PADDLE_DISTRI_BACKEND"] = "gloo"  # without it a CPU wheel builds no group
    return data


def wants_accelerator(role: Role) -> bool:
    containers = role.template.get("spec", {}).get("containers", [])
    names = (
        name.lower()
        for container in containers
        for kind in ("limits", "requests")
        for name in (container.get("resources") or {}).get(kind) or {}
    )
    return any(word in name for name in names for word in _ACCELERATORS)


def endpoint(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _servers(job: Job, addresses: Mapping[Member, str]) -> dict[str, str]:
    role = job.role(RoleName.PS)
    if not role or not role.replicas:
        return {}
    return {"PADDLE_PSERVERS_IP_PORT_LIST": _endpoints(job, role.members(), addresses)}


def _workers(job: Job, addresses: Mapping[Member, str]) -> dict[str, str]:
    role = job.role(RoleName.WORKER)
    if not role or not role.replicas:
        return {}
    return {
        "PADDLE_TRAINER_ENDPOINTS": _endpoints(job, role.members(), addresses),
        "PADDLE_TRAINERS": ",".join(addresses[member] for member in role.members()),
        "PADDLE_TRAINERS_NUM": str(role.replicas),
    }


def _gloo(job: Job, addresses: Mapping[Member, str]) -> dict[str, str]:
    server = Member(RoleName.PS, 0)
    if not job.with_gloo or server not in addresses:
        return {}
    return {
        "PADDLE_WITH_GLOO": str(job.with_gloo),
        "PADDLE_GLOO_RENDEZVOUS": "3",  # HTTP
        "PADDLE_GLOO_HTTP_ENDPOINT": endpoint(addresses[server], job.port + GLOO_OFFSET),
    }


def _endpoints(job: Job, members: Iterable[Member], addresses: Mapping[Member, str]) -> str:
    return ",".join(endpoint(addresses[member], job.port) for member in members)

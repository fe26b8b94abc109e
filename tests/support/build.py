"""Builders: a job, a pod as observed, in one line each."""

import dataclasses
from typing import Any

from paddle_operator.api.paddlejob import PaddleJobStatus
from paddle_operator.api.validation import stored_job
from paddle_operator.api.words import RoleName
from paddle_operator.plan.model import Ending, Job, Member, Observed, PodPhase, PodView
from paddle_operator.plan.translate import from_paddlejob

UID = "11111111-2222-3333-4444-555555555555"


def role(replicas: int, **container: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "paddle", "image": "img:1", "command": ["train"], **container}]}
    return {"replicas": replicas, "template": {"spec": spec}}


def document(
    *,
    ps: int | None = None,
    worker: int | None = 2,
    name: str = "demo",
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A PaddleJob as a user writes it."""
    roles = {key: role(count) for key, count in (("ps", ps), ("worker", worker)) if count is not None}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name, "namespace": "ns", "annotations": annotations or {}},
        "spec": {**roles, **spec},
    }


def job(*, status: PaddleJobStatus | None = None, deleting: bool = False, **kwargs: Any) -> Job:
    raw = document(**kwargs)
    raw["metadata"] |= {"uid": UID, "generation": 1}
    if deleting:
        raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    model = from_paddlejob(stored_job(raw))
    return model if status is None else dataclasses.replace(model, last=status)


def pod(member: str, phase: PodPhase = PodPhase.RUNNING, **fields: Any) -> PodView:
    """`pod("worker-0", ip="")`: by default it runs on a node, ready, with an address."""
    role_name, _, index = member.partition("-")
    defaults: dict[str, Any] = {
        "name": f"demo-{member}",
        "uid": f"uid-{member}",
        "member": Member(RoleName(role_name), int(index)),
        "phase": phase,
        "ip": f"10.0.{'1' if role_name == 'ps' else '2'}.{index}",
        "node": "n1",
        "ready": phase is PodPhase.RUNNING,
    }
    return PodView(**{**defaults, **fields})


def failed(member: str, code: int = 1, at: str = "2026-01-01T00:00:05Z", **fields: Any) -> PodView:
    return pod(member, PodPhase.FAILED, ending=Ending("paddle", code, "", "boom\n", at), **fields)


def seen(*pods: PodView, config_map: bool = True, **fields: Any) -> Observed:
    return Observed(pods={one.member: one for one in pods}, config_map=config_map, **fields)

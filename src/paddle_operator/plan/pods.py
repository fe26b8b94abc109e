"""The pod of one member: the user's template plus what the job needs of it."""

import copy
from collections.abc import Mapping
from typing import Any

from paddle_operator.plan.environment import default_env, member_env
from paddle_operator.plan.model import Job, Member, Role
from paddle_operator.plan.names import (
    ATTEMPT,
    INDEX,
    JOB_NAME,
    JOB_UID,
    RELEASE,
    RES_NAME,
    RES_TYPE,
    RESOURCE,
    config_map_name,
    pod_name,
)


def build_pod(job: Job, role: Role, member: Member, *, released: bool) -> dict[str, Any]:
    """`released`: the ConfigMap is there already, so this pod will not be seen waiting for it."""
    name = pod_name(job.name, member)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(job, role, member, name, released=released),
        "spec": _spec(job, role, member, name),
    }


def owner_reference(job: Job) -> dict[str, Any]:
    return {
        "apiVersion": job.api_version,
        "kind": job.kind,
        "name": job.name,
        "uid": job.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def job_labels(job: Job) -> dict[str, str]:
    return {JOB_NAME: job.name, JOB_UID: job.uid, ATTEMPT: "0"}


def _metadata(job: Job, role: Role, member: Member, name: str, *, released: bool) -> dict[str, Any]:
    theirs = role.template.get("metadata", {})
    labels = {RES_NAME: name, RES_TYPE: str(member.role), INDEX: str(member.index)}
    annotations = {RESOURCE: str(member.role)} | ({RELEASE: "0"} if released else {})
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": job.namespace,
        "labels": {**theirs.get("labels", {}), **job_labels(job), **labels},
        "annotations": {**theirs.get("annotations", {}), **annotations},
        "ownerReferences": [owner_reference(job)],
    }
    return metadata | ({"finalizers": theirs["finalizers"]} if theirs.get("finalizers") else {})


def _spec(job: Job, role: Role, member: Member, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = copy.deepcopy(dict(role.template.get("spec", {})))
    spec["hostname"] = spec["subdomain"] = name
    spec.setdefault("restartPolicy", "Never")
    if not spec.get("hostPID"):
        # As PID 1 Paddle ignores SIGTERM, and survivors of a lost peer hang instead of exiting.
        spec.setdefault("shareProcessNamespace", True)
    for container in spec["containers"]:
        # The end of the log reaches us through the pod's status: no right to read logs is needed.
        container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
    _tell(job, member, spec["containers"][0])
    return spec


def _tell(job: Job, member: Member, container: dict[str, Any]) -> None:
    theirs = container.get("env", [])
    defaults = [entry for entry in default_env(job, member) if not _sets(theirs, entry["name"])]
    container["env"] = [*theirs, *defaults, *member_env(job, member)]
    container["envFrom"] = [
        *container.get("envFrom", []),
        {"configMapRef": {"name": config_map_name(job.name)}},
    ]


def _sets(env: list[Mapping[str, Any]], name: str) -> bool:
    return any(entry.get("name") == name for entry in env)

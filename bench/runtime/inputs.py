"""The pods: as our planner makes them from a job, with a status as a kubelet writes it.

The server adds what it always adds: defaults, the token volume, and who manages which field.
"""

import copy
import dataclasses
import functools
import json
from pathlib import Path
from typing import Any

import yaml

from paddle_operator.api.validation import stored_job
from paddle_operator.plan.model import Job
from paddle_operator.plan.pods import build_pod
from paddle_operator.plan.translate import from_paddlejob

Object = dict[str, Any]

NODES = 200
SINCE = "2026-01-01T00:00:00Z"


@functools.cache
def sample() -> Job:
    raw = yaml.safe_load(Path(__file__).with_name("job.yaml").read_text())
    raw["metadata"] |= {"uid": "", "generation": 1}
    return from_paddlejob(stored_job(raw))


def pods(count: int, namespace: str, prefix: str) -> list[Object]:
    """Of as many jobs as it takes."""
    made: list[Object] = []
    while len(made) < count:
        made += pods_of(len(made) // sample().roles[0].replicas, namespace, prefix)
    return made[:count]


def pods_of(number: int, namespace: str, prefix: str) -> list[Object]:
    uid = f"{number:08x}-2222-4333-8444-555555555555"
    job = dataclasses.replace(sample(), namespace=namespace, name=f"{prefix}-{number}", uid=uid)
    return [build_pod(job, role, one, released=True) for role in job.roles for one in role.members()]


def bound(pod: Object, place: int) -> Object:
    """As after the scheduler: on a node."""
    pod = copy.copy(pod)
    pod["spec"] = {**pod["spec"], "nodeName": f"node-{place % NODES}"}
    return pod


def status(place: int, *, ready: bool) -> bytes:
    """A merge patch with all that a kubelet says of a running pod; only what `ready` says ever changes."""
    node, address = f"10.128.0.{place % NODES}", f"10.{place >> 16 & 255}.{place >> 8 & 255}.{place & 255}"
    said = {
        "phase": "Running",
        "startTime": SINCE,
        "hostIP": node,
        "hostIPs": [{"ip": node}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": conditions(ready=ready),
        "containerStatuses": [container(place, ready=ready)],
    }
    return json.dumps({"status": said}).encode()


def conditions(*, ready: bool) -> list[Object]:
    always = ("PodReadyToStartContainers", "Initialized", "PodScheduled")
    truth = dict.fromkeys(always, True) | {"Ready": ready, "ContainersReady": ready}
    return [
        {
            "type": name,
            "status": str(value),
            "observedGeneration": 1,
            "lastProbeTime": None,
            "lastTransitionTime": SINCE,
        }
        | ({} if value else {"reason": "ContainersNotReady", "message": "containers with unready status"})
        for name, value in truth.items()
    ]


def container(place: int, *, ready: bool) -> Object:
    return {
        "name": "paddle",
        "image": "registry.example.com/vision/resnet:2026.1",
        "imageID": f"registry.example.com/vision/resnet@sha256:{1:064x}",
        "containerID": f"containerd://{place:064x}",
        "ready": ready,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": SINCE}},
        "lastState": {},
    }

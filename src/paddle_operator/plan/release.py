"""The release: the moment the members may start, because every address is known.

Containers wait because their `envFrom` names a ConfigMap that does not exist; creating it lets them go. A
kubelet that found it missing looks again only after ten seconds or more, unless its pod changes: so each pod
seen waiting is touched (a tiny annotation), and touched again while it still waits, three times at most.
The annotation is also the memory: it says how often and when.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from paddle_operator.plan.environment import gang_env
from paddle_operator.plan.model import Job, Observed, PodPatch, PodView
from paddle_operator.plan.names import RELEASE, RES_NAME, config_map_name
from paddle_operator.plan.pods import job_labels, owner_reference

WAITING_FOR_CONFIG = "CreateContainerConfigError"
NUDGES = 3
NUDGE_EVERY = timedelta(seconds=1)


def config_map_due(job: Job, seen: Observed) -> dict[str, Any] | None:
    """The ConfigMap, once every member has an address; None before that, and once it exists."""
    if seen.config_map:
        return None
    addresses = {member: pod.ip for member, pod in seen.pods.items() if pod.ip and not pod.deleting}
    if not all(member in addresses for member in job.members()):
        return None
    name = config_map_name(job.name)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": job.namespace,
            "labels": {RES_NAME: name, **job_labels(job)},
            "ownerReferences": [owner_reference(job)],
        },
        "data": gang_env(job, addresses),
    }


def nudges_due(seen: Observed, now: datetime) -> tuple[list[PodPatch], float | None]:
    """Patches for pods that still wait after the release, and in how many seconds to look again."""
    if not seen.config_map:
        return [], None
    waiting = [pod for pod in seen.pods.values() if pod.waiting == WAITING_FOR_CONFIG and not pod.deleting]
    patches = [_nudge(pod, now) for pod in waiting if _due(pod, now)]
    return patches, NUDGE_EVERY.total_seconds() if _any_left(waiting) else None


def _due(pod: PodView, now: datetime) -> bool:
    count, at = _parse(pod.released)
    return count < NUDGES and (at is None or now - at >= NUDGE_EVERY)


def _any_left(waiting: Iterable[PodView]) -> bool:
    return any(_parse(pod.released)[0] < NUDGES for pod in waiting)


def _nudge(pod: PodView, now: datetime) -> PodPatch:
    mark = f"{_parse(pod.released)[0] + 1} {now.isoformat()}"
    return PodPatch(pod, {"metadata": {"annotations": {RELEASE: mark}}})


def _parse(mark: str) -> tuple[int, datetime | None]:
    """`2 2026-01-01T00:00:00+00:00` -> (2, that time). A mark that somebody edited counts as none."""
    count, _, at = mark.partition(" ")
    try:
        return int(count), datetime.fromisoformat(at) if at else None
    except ValueError:
        return 0, None

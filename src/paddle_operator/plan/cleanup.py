"""After the end: who is stopped, who is deleted, whose logs stay.

No survivor keeps its machine, whatever the policy says. Where the policy deletes, pods are deleted. Where it
keeps them, live ones get a deadline of one second: the kubelet stops their containers and the pod, with its
log, stays. A pod that was never given a node has no log worth keeping.
"""

from paddle_operator.api.words import CleanPodPolicy, Phase
from paddle_operator.plan.model import Job, Observed, PodPatch, PodView
from paddle_operator.plan.names import STOPPED

_DELETES = {
    Phase.COMPLETED: {CleanPodPolicy.UNSET, CleanPodPolicy.ALWAYS, CleanPodPolicy.ON_COMPLETION},
    Phase.FAILED: {CleanPodPolicy.ALWAYS, CleanPodPolicy.ON_FAILURE},
}


def pods_to_delete(job: Job, phase: Phase, seen: Observed) -> list[PodView]:
    everybody = job.clean_pod_policy in _DELETES[phase]
    return [
        pod
        for pod in seen.pods.values()
        if (everybody or (_live(pod) and not pod.node)) and not _going(pod, seen)
    ]


def pods_to_stop(job: Job, phase: Phase, seen: Observed) -> list[PodPatch]:
    if job.clean_pod_policy in _DELETES[phase]:
        return []
    body = {"metadata": {"annotations": {STOPPED: f"job {phase}"}}, "spec": {"activeDeadlineSeconds": 1}}
    live = (pod for pod in seen.pods.values() if _live(pod) and pod.node)
    return [PodPatch(pod, body) for pod in live if not pod.stopped and not _going(pod, seen)]


def _live(pod: PodView) -> bool:
    return not pod.over


def _going(pod: PodView, seen: Observed) -> bool:
    return pod.deleting or pod.uid in seen.removing

"""From what a user wrote to the internal job. A new kind of job is a new function here, no more."""

from paddle_operator.api.defaults import effective_clean_pod_policy
from paddle_operator.api.paddlejob import PaddleJob, roles_of
from paddle_operator.api.unused import unused_fields
from paddle_operator.api.words import Mode, RoleName
from paddle_operator.plan.model import Job, Role
from paddle_operator.plan.names import PORT

CLUSTER_PORT = 2379  # every pod has an address of its own there, so one constant serves all jobs


def from_paddlejob(job: PaddleJob) -> Job:
    meta = job.metadata
    return Job(
        api_version=job.api_version,
        kind=job.kind,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        generation=meta.generation,
        deleting=meta.deletion_timestamp is not None,
        mode=mode_of(job),
        roles=tuple(Role(name, role.replicas, role.template) for name, role in roles_of(job).items()),
        with_gloo=job.spec.with_gloo or 0,
        clean_pod_policy=effective_clean_pod_policy(job.spec),
        port=_port(meta.annotations.get(PORT, "")),
        last=job.status,
        unused=tuple(str(problem) for problem in unused_fields(job)),
    )


def mode_of(job: PaddleJob) -> Mode:
    """Upstream's rule: any `ps` makes it PS, even one of 0 replicas."""
    roles = roles_of(job)
    if RoleName.PS in roles:
        return Mode.PS
    return Mode.COLLECTIVE if roles[RoleName.WORKER].replicas > 1 else Mode.SINGLE


def _port(text: str) -> int:
    """An annotation that somebody edited into nonsense counts as none."""
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 65_516 else CLUSTER_PORT

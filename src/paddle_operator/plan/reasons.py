"""Every reason a condition or an event can carry, with the sentence that goes with it.

Reasons are for programs and never change; sentences are for people.
"""

from enum import StrEnum


class Kind(StrEnum):
    """Types of conditions, named as the phases: `kubectl wait --for=condition=Completed` works."""

    CREATED = "Created"
    RUNNING = "Running"
    COMPLETED = "Completed"
    FAILED = "Failed"


class Reason(StrEnum):
    PODS_CREATED = "PodsCreated"
    CREATING_PODS = "CreatingPods"
    REFUSED = "Refused"
    ALL_RUNNING = "AllMembersRunning"
    NOT_ALL_RUNNING = "NotAllMembersRunning"
    FINISHED = "Finished"
    SUCCEEDED = "WorkersSucceeded"
    MEMBER_FAILED = "MemberFailed"
    MEMBER_LOST = "MemberLost"
    INVALID = "Invalid"
    NOT_SUPPORTED = "NotSupported"


def pods_created(count: int) -> str:
    return f"all {count} pods exist"


def creating(missing: int, count: int) -> str:
    return f"{missing} of {count} pods are still to be created"


def all_running(count: int) -> str:
    return f"all {count} members run"


def not_all_running(running: int, count: int) -> str:
    return f"{running} of {count} members run"


def succeeded(members: str) -> str:
    return f"all {members} succeeded"


def member_failed(*, member: str, container: str, code: int, why: str, log_end: str) -> str:
    """`why` is what the kubelet says where it says more than "it ended"."""
    text = (
        f"{member} failed: container {container} exited with code {code}" if container else f"{member} failed"
    )
    text += f" ({why})" if why else ""
    return f"{text}; its log ends:\n{log_end.rstrip()}" if log_end.strip() else text


def member_lost(member: str) -> str:
    return f"the pod of {member} is gone although the job had started; somebody or its node removed it"

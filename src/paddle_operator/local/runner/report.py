"""The documents that tell the API server how a pod is: the words and fields of a kubelet. Pure."""

from datetime import datetime
from typing import Any

Status = dict[str, Any]

SIGKILLED = 137


def timestamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def waiting(container: str, *, ip: str, started: str, reason: str, message: str = "") -> Status:
    state = {"waiting": {"reason": reason, "message": message}}
    return _status("Pending", container, ip=ip, started=started, state=state)


def running(container: str, *, ip: str, started: str, now: datetime) -> Status:
    state = {"running": {"startedAt": timestamp(now)}}
    return _status("Running", container, ip=ip, started=started, state=state, ready=True)


def ended(
    container: str, *, ip: str, started: str, now: datetime, code: int, message: str, reason: str = ""
) -> Status:
    """`reason` where it is more than success or error: the container never started, say."""
    terminated = {
        "exitCode": code,
        "reason": reason or ("Error" if code else "Completed"),
        "message": message,
        "finishedAt": timestamp(now),
    }
    phase = "Failed" if code else "Succeeded"
    return _status(phase, container, ip=ip, started=started, state={"terminated": terminated})


def failed(status: Status, *, reason: str, message: str) -> Status:
    """The pod as a whole failed, whatever its container says."""
    return {**status, "phase": "Failed", "reason": reason, "message": message}


def _status(
    phase: str, container: str, *, ip: str, started: str, state: dict[str, Any], ready: bool = False
) -> Status:
    return {
        "phase": phase,
        "podIP": ip,
        "hostIP": ip,
        "startTime": started,
        "containerStatuses": [{"name": container, "ready": ready, "restartCount": 0, "state": _only(state)}],
    }


def _only(state: dict[str, Any]) -> dict[str, Any]:
    """A merge patch keeps what it does not name, so the states that are no longer so are named."""
    return {**dict.fromkeys(("waiting", "running", "terminated")), **state}

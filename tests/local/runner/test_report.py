"""The status documents use the words and fields of a kubelet."""

from datetime import UTC, datetime
from typing import Any

import pytest

from paddle_operator.local.runner import report

NOW = datetime(2026, 3, 4, 5, 6, 7, 890_000, tzinfo=UTC)
SINCE = "2026-03-04T05:06:00Z"


def state(status: dict[str, Any]) -> dict[str, Any]:
    (container,) = status["containerStatuses"]
    return {key: value for key, value in container["state"].items() if value is not None}


def end(code: int, message: str = "", reason: str = "") -> dict[str, Any]:
    return report.ended(
        "main", ip="1.2.3.4", started=SINCE, now=NOW, code=code, message=message, reason=reason
    )


def test_a_time_is_written_in_utc_to_the_second() -> None:
    assert report.timestamp(NOW) == "2026-03-04T05:06:07Z"


def test_a_pod_that_waits_is_pending_has_an_address_and_says_why() -> None:
    status = report.waiting("main", ip="1.2.3.4", started=SINCE, reason="Because", message="of that")
    assert status["phase"] == "Pending"
    assert (status["podIP"], status["hostIP"], status["startTime"]) == ("1.2.3.4", "1.2.3.4", SINCE)
    assert state(status) == {"waiting": {"reason": "Because", "message": "of that"}}
    assert status["containerStatuses"][0]["ready"] is False


def test_a_pod_that_runs_is_ready() -> None:
    status = report.running("main", ip="1.2.3.4", started=SINCE, now=NOW)
    assert status["phase"] == "Running"
    assert status["containerStatuses"][0]["ready"] is True
    assert status["containerStatuses"][0]["name"] == "main"
    assert state(status) == {"running": {"startedAt": "2026-03-04T05:06:07Z"}}


@pytest.mark.parametrize(
    ("code", "phase", "reason"),
    [(0, "Succeeded", "Completed"), (1, "Failed", "Error"), (137, "Failed", "Error")],
)
def test_an_exit_code_decides_how_a_pod_ended(code: int, phase: str, reason: str) -> None:
    status = end(code, "last words")
    assert status["phase"] == phase
    assert status["containerStatuses"][0]["ready"] is False
    assert state(status) == {
        "terminated": {
            "exitCode": code,
            "reason": reason,
            "message": "last words",
            "finishedAt": "2026-03-04T05:06:07Z",
        }
    }


def test_a_reason_that_says_more_takes_the_place_of_the_usual_one() -> None:
    assert state(end(128, reason="StartError"))["terminated"]["reason"] == "StartError"


def test_the_states_that_are_no_longer_so_are_taken_off_by_the_patch() -> None:
    (container,) = end(0)["containerStatuses"]
    assert container["state"]["waiting"] is None
    assert container["state"]["running"] is None


def test_a_pod_can_fail_as_a_whole_whatever_its_container_says() -> None:
    status = report.failed(end(0), reason="DeadlineExceeded", message="too late")
    assert (status["phase"], status["reason"], status["message"]) == (
        "Failed",
        "DeadlineExceeded",
        "too late",
    )
    assert state(status)["terminated"]["exitCode"] == 0

"""What is accepted and does nothing yet is said, and a run that would train something else does not start."""

from pathlib import Path
from typing import Any

import pytest

from paddle_operator.api.unused import harmful_fields, unused_fields
from paddle_operator.api.validation import parse_job
from support.bad_objects import job, role
from support.pdj import run_pdj, shell_role, write_job

HARMFUL: dict[str, Any] = {
    "intranet": "Service",
    "heter": role(),
    "elastic": 0,
    "sampleSetRef": {"name": "a", "mountPath": "/data"},
}


def test_a_job_of_fields_that_work_has_none_unused() -> None:
    spec: dict[str, Any] = {
        "withGloo": 1,
        "cleanPodPolicy": "Never",
        "cleanPolicy": "Never",
        "intranet": "PodIP",
    }
    assert unused_fields(parse_job(job(worker=role(), ps=role(), **spec))) == []


@pytest.mark.parametrize("field", HARMFUL)
def test_a_field_that_changes_what_is_trained_is_both_unused_and_harmful(field: str) -> None:
    parsed = parse_job(job(worker=role(), **{field: HARMFUL[field]}))
    (problem,) = unused_fields(parsed)
    assert problem.field == f"spec.{field}"
    assert problem.message.startswith("not supported yet; ")
    assert harmful_fields(parsed) == [problem]


@pytest.mark.parametrize("intranet", ["Service", "Host"])
def test_the_way_members_meet_is_named_by_its_word(intranet: str) -> None:
    (problem,) = unused_fields(parse_job(job(worker=role(), intranet=intranet)))
    assert str(problem) == (
        f"spec.intranet: not supported yet; members would meet as with PodIP, not with {intranet}"
    )


def test_a_policy_for_a_scheduler_is_unused_and_harmless() -> None:
    parsed = parse_job(job(worker=role(), schedulingPolicy={"queue": "a"}))
    assert [problem.field for problem in unused_fields(parsed)] == ["spec.schedulingPolicy"]
    assert harmful_fields(parsed) == []


def test_requests_and_limits_are_named_in_every_role_that_has_them() -> None:
    bounds = {"requests": 0, "limits": 4}
    parsed = parse_job(job(worker={**role(), **bounds}, ps={**role(), "limits": 1}))
    assert [problem.field for problem in unused_fields(parsed)] == [
        "spec.ps.limits",
        "spec.worker.requests",
        "spec.worker.limits",
    ]
    assert harmful_fields(parsed) == []


@pytest.mark.parametrize("field", HARMFUL)
def test_pdj_run_does_not_start_a_job_that_would_train_something_else(tmp_path: Path, field: str) -> None:
    spec = {"worker": shell_role(1, "touch started"), **HARMFUL}
    file = write_job(tmp_path, worker=spec["worker"], **{field: spec[field]})
    result = run_pdj("run", file.name, cwd=tmp_path)
    assert result.code == 2
    assert f"spec.{field}: not supported yet; " in result.err
    assert not (tmp_path / "started").exists()


def test_pdj_run_starts_a_job_whose_unused_fields_do_no_harm(tmp_path: Path) -> None:
    worker = {**shell_role(1, "true"), "limits": 3}
    file = write_job(tmp_path, worker=worker, schedulingPolicy={"queue": "a"})
    assert run_pdj("run", file.name, cwd=tmp_path).code == 0

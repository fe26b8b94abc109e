"""Fields that are accepted, because upstream has them, and that do nothing here yet.

Some may be left out and the job still trains what it should (`unused_fields` names them all). Others change
what is trained, or on which data: who has somebody in front of him must not ignore those (`harmful_fields`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from paddle_operator.api.paddlejob import PaddleJob, PaddleJobSpec
from paddle_operator.api.problems import Path, Problem
from paddle_operator.api.rules import written_roles
from paddle_operator.api.words import Intranet


class _Gap(NamedTuple):
    path: Path
    instead: str
    harmful: bool


def unused_fields(job: PaddleJob) -> list[Problem]:
    """Each field the user set that has no effect yet."""
    return [_problem(gap) for gap in _gaps(job.spec)]


def harmful_fields(job: PaddleJob) -> list[Problem]:
    """Those of them without which the job would train something else than its author wanted."""
    return [_problem(gap) for gap in _gaps(job.spec) if gap.harmful]


def _problem(gap: _Gap) -> Problem:
    return Problem(("spec", *gap.path), f"not supported yet; {gap.instead}")


def _gaps(spec: PaddleJobSpec) -> Iterator[_Gap]:
    if spec.intranet in (Intranet.SERVICE, Intranet.HOST):
        yield _Gap(("intranet",), f"members would meet as with PodIP, not with {spec.intranet}", harmful=True)
    if spec.heter is not None:
        yield _Gap(("heter",), "these members would not be started", harmful=True)
    if spec.elastic is not None:
        yield _Gap(("elastic",), "the number of workers would stay as it is", harmful=True)
    if spec.sample_set_ref is not None:
        yield _Gap(("sampleSetRef",), "no data would be mounted", harmful=True)
    if spec.scheduling_policy is not None:
        yield _Gap(("schedulingPolicy",), "pods are scheduled one by one", harmful=False)
    yield from _role_gaps(spec)


def _role_gaps(spec: PaddleJobSpec) -> Iterator[_Gap]:
    for name, role in written_roles(spec).items():
        for field in ("requests", "limits"):
            if getattr(role, field) is not None:
                yield _Gap(
                    (name, field), "there are always as many members as `replicas` says", harmful=False
                )

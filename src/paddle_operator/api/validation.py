"""From a raw document to a job, or to everything that is wrong with it.

Three stages, each only after the one before found nothing: is it a PaddleJob at all, have its fields the
right types (`shape.py`), does it keep the rules (`rules.py`).
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from paddle_operator.api.paddlejob import PaddleJob, PaddleJobStatus
from paddle_operator.api.problems import Problem
from paddle_operator.api.rules import broken_rules
from paddle_operator.api.shape import (
    DEEPEST,
    check_shape,
    describe,
    suggestion,
    too_deep,
    unknown_fields,
    without_nothings,
)
from paddle_operator.api.words import API_VERSION, KIND

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class InvalidJobError(ValueError):
    """The object cannot be run as it is; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


def parse_job(raw: Any) -> PaddleJob:
    """The job that an author wrote; InvalidJobError with every problem of the first stage that has any."""
    problems = check_identity(raw) or _depth(raw)
    problems = problems or [*unknown_fields(_written(raw), PaddleJob), *check_shape(_written(raw), PaddleJob)]
    if problems:
        raise InvalidJobError(problems)
    return _convert(raw)


def stored_job(raw: Any) -> PaddleJob:
    """The job as a server holds it, status included. Unknown fields are a newer version's, and left alone."""
    if problems := _depth(raw) or check_shape(_written(raw), PaddleJob):
        raise InvalidJobError(problems)
    return msgspec.structs.replace(_convert(raw), status=stored_status(raw))


def stored_status(raw: Mapping[str, Any]) -> PaddleJobStatus:
    """What status says, as far as it can be read: it is ours to write again, so nothing is refused here."""
    try:
        return msgspec.convert(without_nothings(raw.get("status") or {}), PaddleJobStatus)
    except msgspec.ValidationError:
        return PaddleJobStatus()


def check_identity(raw: Any) -> list[Problem]:
    """Is this a PaddleJob at all? Asked first, because nothing else makes sense otherwise."""
    if not isinstance(raw, Mapping):
        return [Problem((), f"must be a Kubernetes object (a mapping), found {describe(raw)}")]
    return [
        Problem((key,), f'must be "{want}", found {describe(raw.get(key))}{_near(raw.get(key), want)}')
        for key, want in (("apiVersion", API_VERSION), ("kind", KIND))
        if raw.get(key) != want
    ]


def check_rules(job: PaddleJob) -> list[Problem]:
    # A rule in the CRD has no need to ask for a name: the server gives or demands one first.
    nameless = [] if job.metadata.name else [Problem(("metadata", "name"), "is required")]
    return [*nameless, *_namespace_rule(job.metadata.namespace), *broken_rules(job)]


def _namespace_rule(namespace: str) -> list[Problem]:
    """The server looks at it in the path, before any rule."""
    if not namespace or _NAMESPACE.fullmatch(namespace):
        return []
    words = f"must be lower-case letters, digits and '-', found {describe(namespace)}"
    return [Problem(("metadata", "namespace"), words)]


def _depth(raw: Mapping[str, Any]) -> list[Problem]:
    deep = too_deep(_written(raw))
    return [Problem((), f"is nested more than {DEEPEST} levels deep")] if deep else []


def _convert(raw: Any) -> PaddleJob:
    job = msgspec.convert(without_nothings(_written(raw)), PaddleJob)
    if problems := check_rules(job):
        raise InvalidJobError(problems)
    return job


def _near(value: Any, want: str) -> str:
    return suggestion(value, [want]) if isinstance(value, str) else ""


def _written(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The user's part. Status is ours: what a file says of it is ignored, as the API server ignores it."""
    return {key: value for key, value in raw.items() if key != "status"}

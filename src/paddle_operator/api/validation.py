"""What a PaddleJob must hold beyond its shape. Pure: returns problems, raises nothing.

The order of work is: shape first (`check`), because the rules below assume it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from paddle_operator.api.paddlejob import PaddleJob, PaddleJobStatus, RoleSpec
from paddle_operator.api.problems import Path, Problem
from paddle_operator.api.shape import check_shape, describe, suggestion, unknown_fields, without_nothings
from paddle_operator.api.words import API_VERSION, KIND, RoleName

LONGEST_HOST_NAME = 63
_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


class InvalidJobError(ValueError):
    """The object cannot be run as it is; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


def parse_job(raw: Any) -> PaddleJob:
    """The job that an author wrote; InvalidJobError with every problem of the first stage that has any."""
    problems = check_identity(raw) or [*unknown_fields(_written(raw), PaddleJob), *_shape(raw)]
    if problems:
        raise InvalidJobError(problems)
    return _convert(raw)


def stored_job(raw: Any) -> PaddleJob:
    """The job as a server holds it, status included. Unknown fields are a newer version's, and left alone."""
    if problems := _shape(raw):
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
    return list(_rules(job))


def longest_job_name(job: PaddleJob) -> int:
    """Pods are called `<job>-<role>-<index>`, and that is also their host name."""
    tails = (len(f"-{name}-{max(role.replicas - 1, 0)}") for name, role in roles_of(job).items())
    return LONGEST_HOST_NAME - max(tails, default=0)


def roles_of(job: PaddleJob) -> dict[RoleName, RoleSpec]:
    """The roles the user wrote, in the order of `RoleName`."""
    written = {RoleName.PS: job.spec.ps, RoleName.WORKER: job.spec.worker}
    return {name: role for name, role in written.items() if role is not None}


def _shape(raw: Any) -> list[Problem]:
    return check_shape(_written(raw), PaddleJob)


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


def _rules(job: PaddleJob) -> Iterator[Problem]:
    yield from _name_rules(job)
    roles = roles_of(job)
    if not roles:
        yield Problem(("spec",), f"must have at least one role: {', '.join(RoleName)}")
    for name, role in roles.items():
        yield from _role_rules(role, ("spec", str(name)))
    if roles and all(role.replicas == 0 for role in roles.values()):
        yield Problem(("spec",), "must have at least one member: all replicas are 0")
    if job.spec.with_gloo not in (None, 0, 1, 2):
        yield Problem(("spec", "withGloo"), f"must be 0, 1 or 2, found {describe(job.spec.with_gloo)}")


def _name_rules(job: PaddleJob) -> Iterator[Problem]:
    name, longest = job.metadata.name, longest_job_name(job)
    if not name:
        yield Problem(("metadata", "name"), "is required")
    elif not _DNS_LABEL.fullmatch(name):
        yield Problem(
            ("metadata", "name"),
            "must be lower-case letters, digits and '-', begin with a letter and end with a letter or digit, "
            f"because pods take their host names from it; found {describe(name)}",
        )
    elif len(name) > longest:
        yield Problem(
            ("metadata", "name"),
            f"must be at most {longest} characters for this job, because <job>-<role>-<index> "
            f"is a host name; it has {len(name)}",
        )


def _role_rules(role: RoleSpec, path: Path) -> Iterator[Problem]:
    if role.replicas < 0:
        yield Problem((*path, "replicas"), f"must be 0 or more, found {role.replicas}")
    yield from _template_rules(role.template, (*path, "template"))


def _template_rules(template: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    spec = template.get("spec", {})
    metadata = template.get("metadata", {})
    for key, value in (("spec", spec), ("metadata", metadata)):
        if not isinstance(value, Mapping):
            yield Problem((*path, key), f"must be a mapping, found {describe(value)}")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    if not isinstance(containers, list) or not containers:
        yield Problem(
            (*path, "spec", "containers"),
            f"must list at least one container, found {describe(containers or None)}",
        )
        return
    for number, container in enumerate(containers):
        yield from _container_rules(container, (*path, "spec", "containers", number))


def _container_rules(container: Any, path: Path) -> Iterator[Problem]:
    if not isinstance(container, Mapping):
        yield Problem(path, f"must be a mapping, found {describe(container)}")
        return
    for key in ("name", "image"):
        value = container.get(key)
        if not isinstance(value, str) or not value:
            yield Problem((*path, key), f"must be text, found {describe(value)}")
    for key, kind, words in (
        ("command", str, "texts"),
        ("args", str, "texts"),
        ("env", Mapping, "mappings"),
        ("envFrom", Mapping, "mappings"),
    ):
        yield from _list_rules(container.get(key, []), (*path, key), kind, words)


def _list_rules(items: Any, path: Path, kind: type, words: str) -> Iterator[Problem]:
    if not isinstance(items, list):
        yield Problem(path, f"must be a list of {words}, found {describe(items)}")
        return
    for number, item in enumerate(items):
        if not isinstance(item, kind):
            yield Problem((*path, number), f"must be one of the {words} of this list, found {describe(item)}")

"""What a job must hold beyond the types of its fields: one table for the API server and for us.

Each rule is written twice, side by side: as CEL, which goes into the CRD, and as Python, for whoever has no
API server in front of him. Path and message are written once, so that a user reads the same sentence from
both. `self` in CEL is the value at the rule's place in the schema. A rule stands as deep as it can: the
server does not ask it again while nothing below that place has changed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from paddle_operator.api import cel
from paddle_operator.api.paddlejob import PaddleJob, PaddleJobSpec, RoleSpec
from paddle_operator.api.problems import Path, Problem
from paddle_operator.api.words import HETER, RoleName

LONGEST_HOST_NAME = 63
ROLE_FIELDS = (*map(str, RoleName), HETER)
_DNS_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    place: Path  # where it stands in the schema
    field: Path  # what it complains of, seen from there
    cel: str
    holds: Callable[[PaddleJob], bool]
    message: str
    exact_cel: str = ""  # the message with numbers, for servers that can
    exact: Callable[[PaddleJob], str] | None = None

    def problem(self, job: PaddleJob) -> Problem:
        return Problem((*self.place, *self.field), self.exact(job) if self.exact else self.message)


def broken_rules(job: PaddleJob) -> list[Problem]:
    return [rule.problem(job) for rule in RULES if not rule.holds(job)]


def written_roles(spec: PaddleJobSpec) -> dict[str, RoleSpec]:
    """Every role the user wrote, those included of which no plan is made yet."""
    written = {name: getattr(spec, name) for name in ROLE_FIELDS}
    return {name: role for name, role in written.items() if role is not None}


def longest_job_name(job: PaddleJob) -> int:
    """Pods are called `<job>-<role>-<index>`, and that is also their host name."""
    roles = written_roles(job.spec).items()
    tails = (len(f"-{name}-{max(role.replicas - 1, 0)}") for name, role in roles)
    return LONGEST_HOST_NAME - max(tails, default=0)


def _name_is_a_label(job: PaddleJob) -> bool:
    return not job.metadata.name or bool(re.fullmatch(_DNS_LABEL, job.metadata.name))


def _name_fits(job: PaddleJob) -> bool:
    return len(job.metadata.name) <= longest_job_name(job)


def _how_the_name_fits(job: PaddleJob) -> str:
    return (
        f"must be at most {longest_job_name(job)} characters for this job, because <job>-<role>-<index> "
        f"is a host name; it has {len(job.metadata.name)}"
    )


def _has_role(job: PaddleJob) -> bool:
    return job.spec.ps is not None or job.spec.worker is not None


def _has_member(job: PaddleJob) -> bool:
    roles = [role for role in (job.spec.ps, job.spec.worker) if role]
    return not roles or any(role.replicas for role in roles)


def _elastic_has_workers(job: PaddleJob) -> bool:
    return job.spec.elastic is None or job.spec.worker is not None


def _has_container(name: str) -> Callable[[PaddleJob], bool]:
    def holds(job: PaddleJob) -> bool:
        role = written_roles(job.spec).get(name)
        return role is None or bool((role.template.get("spec") or {}).get("containers"))

    return holds


_LONGEST = cel.longest_job_name(ROLE_FIELDS, LONGEST_HOST_NAME)

RULES = (
    Rule(
        place=(),
        field=("metadata", "name"),
        cel=f"{cel.IS_LEAVING} || self.metadata.name.matches('^{_DNS_LABEL}$')",
        holds=_name_is_a_label,
        message="must be lower-case letters, digits and '-', begin with a letter and end with a letter or "
        "digit, because pods take their host names from it",
    ),
    Rule(
        place=(),
        field=("metadata", "name"),
        cel=f"{cel.IS_LEAVING} || {cel.NAME_LENGTH} <= {_LONGEST}",
        holds=_name_fits,
        message=f"must be so short that <job>-<role>-<index>, which is a host name, has at most "
        f"{LONGEST_HOST_NAME} characters",
        exact_cel=f"'must be at most ' + {cel.number(_LONGEST, digits=2)} + ' characters for this job, "
        f"because <job>-<role>-<index> is a host name; it has ' + {cel.number(cel.NAME_LENGTH, digits=3)}",
        exact=_how_the_name_fits,
    ),
    Rule(
        place=("spec",),
        field=(),
        cel="has(self.ps) || has(self.worker)",
        holds=_has_role,
        message=f"must have at least one role: {', '.join(RoleName)}",
    ),
    Rule(
        place=("spec",),
        field=(),
        cel="!(has(self.ps) || has(self.worker)) || (has(self.ps) && self.ps.replicas != 0) "
        "|| (has(self.worker) && self.worker.replicas != 0)",
        holds=_has_member,
        message="must have at least one member: all replicas are 0",
    ),
    Rule(
        place=("spec",),
        field=("elastic",),
        cel="!has(self.elastic) || has(self.worker)",
        holds=_elastic_has_workers,
        message="needs the role worker: only workers may come and go",
    ),
    *(
        Rule(
            place=("spec", name),
            field=("template", "spec", "containers"),
            cel="has(self.template) && has(self.template.spec) && has(self.template.spec.containers) "
            "&& size(self.template.spec.containers) > 0",
            holds=_has_container(name),
            message="must list at least one container",
        )
        for name in ROLE_FIELDS
    ),
)

"""PaddleJobs that must be refused, each with the field that is complained of and a part of the sentence.

The same list is held against our own validation and against a real API server. `by` says who refuses there:
a rule of ours (same field, same sentence), the schema (same field, the server's words), or the server's look
for unknown fields, which `kubectl` asks for (the field stands in its sentence).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Raw = dict[str, Any]


class By(StrEnum):
    RULE = "rule"
    SCHEMA = "schema"
    STRICT = "strict"


@dataclass(frozen=True)
class Bad:
    name: str
    object: Raw
    field: str
    message: str
    by: By = By.RULE

    def __str__(self) -> str:
        return self.name


def role(replicas: Any = 1, **template: Any) -> Raw:
    spec = {"containers": [{"name": "paddle", "image": "img:1"}]}
    return {"replicas": replicas, "template": {"spec": spec, **template}}


def job(name: str = "demo", **spec: Any) -> Raw:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": spec,
    }


NO_ROLE = "must have at least one role: ps, worker"
NO_MEMBER = "must have at least one member: all replicas are 0"
NO_CONTAINER = "must list at least one container"
NO_WORKER = "needs the role worker: only workers may come and go"
NO_LABEL = (
    "must be lower-case letters, digits and '-', begin with a letter and end with a letter or digit, "
    "because pods take their host names from it"
)
CONTAINERS = "template.spec.containers"


def too_long(longest: int, length: int) -> str:
    return (
        f"must be at most {longest} characters for this job, because <job>-<role>-<index> is a host name; "
        f"it has {length}"
    )


ROLES = (
    Bad("no role", job(), "spec", NO_ROLE),
    Bad("heter alone", job(heter=role()), "spec", NO_ROLE),
    Bad("all roles empty", job(worker=role(0), ps=role(0)), "spec", NO_MEMBER),
    Bad("elastic without worker", job(ps=role(), elastic=1), "spec.elastic", NO_WORKER),
    Bad("elastic 0 without worker", job(ps=role(), elastic=0), "spec.elastic", NO_WORKER),
)

TEMPLATES = (
    Bad("no template", job(worker={"replicas": 1}), f"spec.worker.{CONTAINERS}", NO_CONTAINER),
    Bad("empty template", job(ps={"replicas": 1, "template": {}}), f"spec.ps.{CONTAINERS}", NO_CONTAINER),
    Bad("template without containers", job(worker=role(spec={})), f"spec.worker.{CONTAINERS}", NO_CONTAINER),
    Bad(
        "no container",
        job(worker=role(spec={"containers": []})),
        f"spec.worker.{CONTAINERS}",
        NO_CONTAINER,
    ),
    Bad(
        "heter without template",
        job(worker=role(), heter={"replicas": 1}),
        f"spec.heter.{CONTAINERS}",
        NO_CONTAINER,
    ),
    Bad(
        "container without image",
        job(worker=role(spec={"containers": [{"name": "a"}]})),
        f"spec.worker.{CONTAINERS}[0].image",
        "is required",
        By.SCHEMA,
    ),
    Bad(
        "command that is no list",
        job(worker=role(spec={"containers": [{"name": "a", "image": "b", "command": "c"}]})),
        f"spec.worker.{CONTAINERS}[0].command",
        "must be a list of texts",
        By.SCHEMA,
    ),
    Bad(
        "label that is no text",
        job(worker=role(metadata={"labels": {"version": 1}})),
        "spec.worker.template.metadata.labels.version",
        "must be text",
        By.SCHEMA,
    ),
)

NUMBERS = (
    Bad("negative replicas", job(worker=role(-1)), "spec.worker.replicas", "must be 0 or more", By.SCHEMA),
    Bad(
        "too many replicas",
        job("a", worker=role(2**31)),
        "spec.worker.replicas",
        "must be 2147483647 or less",
        By.SCHEMA,
    ),
    Bad(
        "no replicas",
        job(worker={"template": role()["template"]}),
        "spec.worker.replicas",
        "is required",
        By.SCHEMA,
    ),
    Bad(
        "replicas that are text",
        job(worker=role("2")),
        "spec.worker.replicas",
        "must be a whole number",
        By.SCHEMA,
    ),
    Bad("gloo 3", job(worker=role(), withGloo=3), "spec.withGloo", "must be 0, 1 or 2", By.SCHEMA),
    Bad("gloo -1", job(worker=role(), withGloo=-1), "spec.withGloo", "must be 0, 1 or 2", By.SCHEMA),
    Bad(
        "negative minimum",
        job(worker=role(), schedulingPolicy={"minAvailable": -1}),
        "spec.schedulingPolicy.minAvailable",
        "must be 0 or more",
        By.SCHEMA,
    ),
    Bad(
        "data without a place",
        job(worker=role(), sampleSetRef={"name": "a"}),
        "spec.sampleSetRef.mountPath",
        "is required",
        By.SCHEMA,
    ),
)

NAMES = (
    Bad("name one too long", job("a" * 55, worker=role()), "metadata.name", too_long(54, 55)),
    Bad("name too long for ten", job("a" * 54, worker=role(11)), "metadata.name", too_long(53, 54)),
    Bad("name too long for ps", job("a" * 59, ps=role()), "metadata.name", too_long(58, 59)),
    Bad(
        "name too long for heter",
        job("a" * 55, worker=role(), heter=role(11)),
        "metadata.name",
        too_long(54, 55),
    ),
    Bad("name of 253", job("a" * 253, worker=role(2**31 - 1)), "metadata.name", too_long(45, 253)),
    Bad("name with a digit first", job("1demo", worker=role()), "metadata.name", NO_LABEL),
    Bad("name with a dot", job("de.mo", worker=role()), "metadata.name", NO_LABEL),
    Bad("name in capitals", job("Demo", worker=role()), "metadata.name", NO_LABEL),
    Bad("name with a dash last", job("demo-", worker=role()), "metadata.name", NO_LABEL),
    Bad("name with a line end", job("demo\n", worker=role()), "metadata.name", NO_LABEL),
)

WORDS = tuple(
    Bad(f"{field} {word}", job(worker=role(), **{field: word}), f"spec.{field}", message, By.SCHEMA)
    for field, word, message in (
        ("cleanPodPolicy", "never", "must be one of Always, Never, OnFailure, OnCompletion, found"),
        ("cleanPolicy", "OnFail", "must be one of Always, Never, OnFailure, OnCompletion, found"),
        ("intranet", "HostNetwork", "must be one of PodIP, Service, Host, found"),
        ("intranet", "podip", "(did you mean PodIP?)"),
    )
)

MISSPELT = (
    Bad("role workers", job(workers=role(), ps=role()), "spec.workers", "unknown field", By.STRICT),
    Bad(
        "field replica",
        job(worker={**role(), "replica": 2}),
        "spec.worker.replica",
        "unknown field",
        By.STRICT,
    ),
    Bad(
        "field cleanpodpolicy",
        job(worker=role(), cleanpodpolicy="Never"),
        "spec.cleanpodpolicy",
        "unknown field",
        By.STRICT,
    ),
    Bad(
        "field minavailable",
        job(worker=role(), schedulingPolicy={"minavailable": 1}),
        "spec.schedulingPolicy.minavailable",
        "unknown field",
        By.STRICT,
    ),
)

BAD_OBJECTS = (*ROLES, *TEMPLATES, *NUMBERS, *NAMES, *WORDS, *MISSPELT)

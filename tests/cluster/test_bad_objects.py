"""Bad PaddleJobs get the same answer from a real API server, the one in memory, and our own validation.

The table of `support/bad_objects.py`, and hundreds of jobs made from good ones by one fault each.
"""

import asyncio
import copy
import json
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster.api import Api, ApiError
from paddle_operator.api.validation import InvalidJobError, parse_job
from paddle_operator.cli.local_cluster import paddle_jobs
from paddle_operator.kube.client import prepare
from paddle_operator.local.apiserver.server import ApiServer
from support.bad_objects import BAD_OBJECTS, Bad, By, job, role

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

JOBS = "/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs"
Raw = dict[str, Any]


class Verdict(NamedTuple):
    refused: bool
    fields: tuple[str, ...] = ()
    text: str = ""

    def names(self, field: str) -> bool:
        """As the field of a cause, or, with what stands in it, in the sentence of a strict refusal."""
        return field in self.fields or f'"{field}' in self.text


def of_the_real_server(api: Api, namespace: str, raw: Raw) -> Verdict:
    path = JOBS.format(namespace=namespace) + "?dryRun=All&fieldValidation=Strict"
    try:
        api.create(path, raw)
    except ApiError as error:
        return verdict(json.loads(str(error).partition(": ")[2]))
    return Verdict(refused=False)


def of_the_server_in_memory(raw: Raw) -> Verdict:
    async def ask() -> Verdict:
        path = JOBS.format(namespace="ns")
        server = ApiServer([paddle_jobs()])
        request = prepare("POST", path, body=raw, query={"fieldValidation": "Strict"})
        answer = await server.request(request)
        return verdict(json.loads(answer.body)) if answer.status >= 400 else Verdict(refused=False)

    return asyncio.run(ask())


def of_ourselves(raw: Raw) -> Verdict:
    try:
        parse_job(raw)
    except InvalidJobError as error:
        return Verdict(True, tuple(problem.field for problem in error.problems), str(error))
    return Verdict(refused=False)


def verdict(status: Raw) -> Verdict:
    causes = (status.get("details") or {}).get("causes") or []
    return Verdict(True, tuple(cause["field"] for cause in causes), status["message"])


@pytest.mark.parametrize("bad", BAD_OBJECTS, ids=str)
def test_a_bad_object_is_refused_by_all_three_at_the_same_field(bad: Bad, api: Api, namespace: str) -> None:
    real = of_the_real_server(api, namespace, bad.object)
    memory = of_the_server_in_memory(bad.object)
    ours = of_ourselves(bad.object)
    for one in (real, memory, ours):
        assert one.refused
        assert one.names(bad.field), one
    if bad.by is By.RULE:
        assert bad.message in real.text
        assert bad.message in memory.text
        assert bad.message in ours.text


def good() -> Raw:
    made = job(ps=role(2), worker=role(3), withGloo=1, intranet="PodIP", cleanPodPolicy="Never", elastic=1)
    made["metadata"]["labels"] = {"team": "a"}
    container = made["spec"]["worker"]["template"]["spec"]["containers"][0]
    container |= {"command": ["train"], "args": ["-v"], "env": [{"name": "A", "value": "1"}]}
    made["spec"]["schedulingPolicy"] = {"queue": "q", "minAvailable": 1}
    return made


CONTAINER = ("spec", "worker", "template", "spec", "containers", 0)
NUMBERS: dict[tuple[str | int, ...], list[Any]] = {
    ("spec", "worker", "replicas"): [-1, 2**31],
    ("spec", "ps", "replicas"): [-5],
    ("spec", "withGloo"): [3, -1],
    ("spec", "schedulingPolicy", "minAvailable"): [-1],
    ("spec", "elastic"): [],
}
WORDS: dict[tuple[str | int, ...], list[Any]] = {
    ("spec", "intranet"): ["host", "HostNetwork", "x"],
    ("spec", "cleanPodPolicy"): ["always", "Sometimes"],
    ("spec", "schedulingPolicy", "queue"): [],
    (*CONTAINER, "name"): [""],
    (*CONTAINER, "image"): [""],
    (*CONTAINER, "env", 0, "name"): ["", "A=B"],
    (*CONTAINER, "env", 0, "value"): [],
    (*CONTAINER, "command", 0): [],
    (*CONTAINER, "args", 0): [],
}
MAPPINGS: list[tuple[str | int, ...]] = [
    ("spec", "worker"),
    ("spec", "ps"),
    ("spec", "schedulingPolicy"),
    ("spec", "worker", "template"),
    ("spec", "worker", "template", "spec"),
    CONTAINER,
    (*CONTAINER, "env", 0),
]
LISTS: list[tuple[str | int, ...]] = [CONTAINER[:-1], (*CONTAINER, "command"), (*CONTAINER, "env")]
REQUIRED: list[tuple[str | int, ...]] = [
    ("spec", "worker", "replicas"),
    (*CONTAINER, "name"),
    (*CONTAINER, "image"),
    (*CONTAINER, "env", 0, "name"),
]
MISSPELT: list[tuple[str | int, ...]] = [("spec",), ("spec", "worker"), ("spec", "schedulingPolicy")]
Fault = tuple[str, tuple[str | int, ...], Any]


def faults() -> st.SearchStrategy[Fault]:
    """What, where, and with which value."""
    not_numbers = st.sampled_from(["1", True, [], {}, 1.5])
    not_words = st.sampled_from([1, True, [], {}, 1.5])
    not_mappings = st.sampled_from(["x", 1, True, [1]])
    not_lists = st.sampled_from(["x", 1, True, {"a": 1}])
    return st.one_of(
        *(
            st.tuples(st.just("set"), st.just(path), not_numbers | _of(values))
            for path, values in NUMBERS.items()
        ),
        *(
            st.tuples(st.just("set"), st.just(path), not_words | _of(values))
            for path, values in WORDS.items()
        ),
        st.tuples(st.just("set"), st.sampled_from(MAPPINGS), not_mappings),
        st.tuples(st.just("set"), st.sampled_from(LISTS), not_lists),
        st.tuples(st.just("drop"), st.sampled_from(REQUIRED), st.none()),
        st.tuples(st.just("add"), st.sampled_from(MISSPELT), st.from_regex("[a-z]{3,8}Xx", fullmatch=True)),
    )


def _of(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values) if values else st.nothing()


def with_fault(fault: Fault) -> tuple[Raw, str]:
    """The job, and the field that must be complained of."""
    what, path, value = fault
    raw = copy.deepcopy(good())
    *above, last = path
    place: Any = raw
    for part in above:
        place = place[part]
    if what == "drop":
        del place[last]
    elif what == "set":
        place[last] = value
    else:
        place[last][value] = 1
        path = (*path, value)
    return raw, "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fault=faults())
def test_one_fault_anywhere_is_refused_by_all_three_at_the_same_field(
    fault: Fault, api: Api, namespace: str
) -> None:
    raw, field = with_fault(fault)
    for one in (of_the_real_server(api, namespace, raw), of_the_server_in_memory(raw), of_ourselves(raw)):
        assert one.refused
        assert one.names(field), one


def test_without_a_fault_all_three_take_it(api: Api, namespace: str) -> None:
    assert not of_the_real_server(api, namespace, good()).refused
    assert not of_the_server_in_memory(good()).refused
    assert not of_ourselves(good()).refused

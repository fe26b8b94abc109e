"""What makes a PaddleJob one that can run, and what is said of one that cannot."""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from paddle_operator.api.paddlejob import PaddleJob, PaddleJobStatus, roles_of
from paddle_operator.api.rules import longest_job_name
from paddle_operator.api.validation import InvalidJobError, check_rules, parse_job, stored_job, stored_status
from paddle_operator.api.words import CleanPodPolicy, Intranet, Phase, RoleName

Raw = dict[str, Any]


def container(**fields: Any) -> Raw:
    return {"name": "main", "image": "img:1", **fields}


def role(replicas: Any = 1, **fields: Any) -> Raw:
    return {"replicas": replicas, "template": {"spec": {"containers": [container(**fields)]}}}


def job(name: str = "demo", **spec: Any) -> Raw:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": spec or {"worker": role(2)},
    }


def problems_of(raw: object, read: Callable[[Any], PaddleJob] = parse_job) -> list[str]:
    with pytest.raises(InvalidJobError) as caught:
        read(raw)
    return [str(problem) for problem in caught.value.problems]


def problems_of_container(**fields: Any) -> list[str]:
    return problems_of(job(worker=role(1, **fields)))


def test_a_small_job_gets_the_defaults_of_what_it_does_not_say() -> None:
    parsed = parse_job(job())
    assert parsed.metadata.name == "demo"
    assert parsed.spec.worker is not None
    assert parsed.spec.worker.replicas == 2
    assert parsed.spec.ps is None
    assert parsed.spec.intranet is Intranet.POD_IP
    assert parsed.spec.clean_pod_policy is CleanPodPolicy.UNSET
    assert parsed.spec.with_gloo is None


def test_roles_come_in_the_order_of_the_vocabulary_whatever_the_file_says() -> None:
    parsed = parse_job(job(worker=role(), ps=role()))
    assert list(roles_of(parsed)) == [RoleName.PS, RoleName.WORKER]


def test_unknown_fields_of_the_pod_template_survive() -> None:
    raw = job(worker=role(1, inventedIn2031={"a": [1]}))
    raw["spec"]["worker"]["template"]["alsoNew"] = True
    template = raw["spec"]["worker"]["template"]
    parsed = parse_job(raw)
    assert parsed.spec.worker is not None
    assert parsed.spec.worker.template == template


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": {"nmae": "x"}}, "metadata.nmae: unknown field (did you mean name?)"),
        ({"spec": {"workers": role()}}, "spec.workers: unknown field (did you mean worker?)"),
        (
            {"spec": {"worker": {"replica": 1, "template": {}}}},
            "spec.worker.replica: unknown field (did you mean replicas?)",
        ),
        (
            {"spec": {"worker": role(), "cleanPodpolicy": "Never"}},
            "spec.cleanPodpolicy: unknown field (did you mean cleanPodPolicy?)",
        ),
        ({"sepc": {}}, "sepc: unknown field (did you mean spec?)"),
    ],
)
def test_an_author_hears_of_a_misspelt_field(change: Raw, message: str) -> None:
    assert message in problems_of({**job(), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": "demo"}, 'metadata: must be a mapping, found the text "demo"'),
        ({"metadata": None}, "metadata: must not be empty"),
        ({"metadata": {"name": 5}}, "metadata.name: must be text, found the number 5"),
        (
            {"metadata": {"name": "a", "labels": {"b": 1}}},
            "metadata.labels.b: must be text, found the number 1",
        ),
        ({"spec": []}, "spec: must be a mapping, found a list"),
        (
            {"spec": {"worker": role("2")}},
            'spec.worker.replicas: must be a whole number, found the text "2"',
        ),
        (
            {"spec": {"worker": role(1.0)}},
            "spec.worker.replicas: must be a whole number, found the number 1.0",
        ),
        ({"spec": {"worker": role(None)}}, "spec.worker.replicas: must not be empty"),
        ({"spec": {"worker": {}}}, "spec.worker.replicas: is required"),
        ({"spec": {"worker": role(), "withGloo": True}}, "spec.withGloo: must be a whole number, found true"),
        (
            {"spec": {"worker": role(), "cleanPodPolicy": "never"}},
            (
                "spec.cleanPodPolicy: must be one of Always, Never, OnFailure, OnCompletion, "
                'found the text "never" (did you mean Never?)'
            ),
        ),
        (
            {"spec": {"worker": role(), "intranet": "HostNetwork"}},
            'spec.intranet: must be one of PodIP, Service, Host, found the text "HostNetwork"',
        ),
        (
            {"spec": {"worker": {"replicas": 1, "template": []}}},
            "spec.worker.template: must be a mapping, found a list",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(change: Raw, message: str) -> None:
    assert message in problems_of({**job(), **change})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "(document): must be a Kubernetes object (a mapping), found nothing"),
        ([1], "(document): must be a Kubernetes object (a mapping), found a list"),
        ({**job(), "kind": "Paddlejob"}, "(did you mean PaddleJob?)"),
        ({**job(), "kind": ["PaddleJob"]}, 'kind: must be "PaddleJob", found a list'),
        ({**job(), "apiVersion": "batch.paddlepaddle.org/v2"}, "(did you mean batch.paddlepaddle.org/v1?)"),
        ({}, 'apiVersion: must be "batch.paddlepaddle.org/v1", found nothing'),
    ],
)
def test_what_is_no_paddlejob_at_all_is_told_so_before_anything_else(raw: object, message: str) -> None:
    assert message in "\n".join(problems_of(raw))


def test_of_another_kind_only_the_kind_is_complained_of() -> None:
    raw = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": 3}}
    assert [text.partition(":")[0] for text in problems_of(raw)] == ["apiVersion", "kind"]


def test_problems_of_one_stage_come_together() -> None:
    raw = job(worker=role("x"), ps=role("y"), wiht=1)
    assert [text.partition(":")[0] for text in problems_of(raw)] == [
        "spec.wiht",
        "spec.worker.replicas",
        "spec.ps.replicas",
    ]


def test_a_job_needs_a_role() -> None:
    assert problems_of({**job(), "spec": {}}) == ["spec: must have at least one role: ps, worker"]


def test_a_role_set_to_null_is_no_role() -> None:
    assert problems_of(job(worker=None)) == ["spec: must have at least one role: ps, worker"]


def test_a_job_needs_a_member() -> None:
    assert problems_of(job(worker=role(0), ps=role(0))) == [
        "spec: must have at least one member: all replicas are 0"
    ]


def test_one_role_may_be_empty() -> None:
    assert parse_job(job(worker=role(1), ps=role(0))).spec.ps is not None


def test_replicas_must_not_be_negative() -> None:
    assert problems_of(job(worker=role(-1))) == ["spec.worker.replicas: must be 0 or more, found -1"]


@pytest.mark.parametrize("gloo", [0, 1, 2, None])
def test_with_gloo_takes_what_upstream_took(gloo: int | None) -> None:
    assert parse_job(job(worker=role(), withGloo=gloo)).spec.with_gloo == gloo


@pytest.mark.parametrize("gloo", [-1, 3])
def test_with_gloo_takes_nothing_else(gloo: int) -> None:
    assert problems_of(job(worker=role(), withGloo=gloo)) == [
        f"spec.withGloo: must be 0, 1 or 2, found the number {gloo}"
    ]


@pytest.mark.defect("upstream-21")
@pytest.mark.parametrize(("replicas", "longest"), [(1, 54), (10, 54), (11, 53), (101, 52), (0, 54)])
def test_the_longest_name_leaves_room_for_the_largest_index(replicas: int, longest: int) -> None:
    spec = {"worker": role(replicas), "ps": role(1)}
    assert longest_job_name(parse_job(job("a", **spec))) == longest
    assert parse_job(job("a" * longest, **spec)).metadata.name == "a" * longest
    (problem,) = problems_of(job("a" * (longest + 1), **spec))
    assert problem.startswith(f"metadata.name: must be at most {longest} characters for this job")
    assert problem.endswith(f"it has {longest + 1}")


@pytest.mark.parametrize("replicas", [1, 11, 150])
def test_the_longest_name_allowed_makes_host_names_of_at_most_63_characters(replicas: int) -> None:
    longest = longest_job_name(parse_job(job("a", worker=role(replicas))))
    assert len(f"{'a' * longest}-worker-{replicas - 1}") == 63


@pytest.mark.parametrize("name", ["Demo", "1demo", "-demo", "demo-", "de.mo", "de_mo", "dé", "demo\n", "a b"])
def test_a_name_that_cannot_be_a_host_name_is_refused(name: str) -> None:
    (problem,) = problems_of(job(name))
    assert problem.startswith("metadata.name: must be lower-case letters, digits and '-'")


@pytest.mark.parametrize("meta", [{}, {"name": ""}, {"name": None}, {"generateName": "a-"}])
def test_a_job_needs_a_name(meta: Raw) -> None:
    assert problems_of({**job(), "metadata": meta}) == ["metadata.name: is required"]


@pytest.mark.parametrize(
    "template",
    [{}, {"spec": {}}, {"spec": {"containers": []}}, {"spec": {"containers": None}}, {"spec": None}],
)
def test_a_template_needs_a_container(template: Raw) -> None:
    raw = job(worker={"replicas": 1, "template": template})
    assert problems_of(raw) == ["spec.worker.template.spec.containers: must list at least one container"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"spec": 3}, "spec.worker.template.spec: must be a mapping, found the number 3"),
        (
            {"spec": {}, "metadata": "x"},
            'spec.worker.template.metadata: must be a mapping, found the text "x"',
        ),
        (
            {"spec": {"containers": {"name": "a"}}},
            "spec.worker.template.spec.containers: must be a list of mappings, found a mapping",
        ),
        (
            {"spec": {"containers": ["a"]}},
            'spec.worker.template.spec.containers[0]: must be a mapping, found the text "a"',
        ),
    ],
)
def test_a_template_of_the_wrong_form_is_refused(template: Raw, message: str) -> None:
    assert message in problems_of(job(worker={"replicas": 1, "template": template}))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name: must not be empty"),
        ({"image": 3}, "image: must be text, found the number 3"),
        ({"command": "sh"}, 'command: must be a list of texts, found the text "sh"'),
        ({"command": ["sh", 3]}, "command[1]: must be one of the texts of this list, found the number 3"),
        ({"args": {"a": 1}}, "args: must be a list of texts, found a mapping"),
        ({"args": [True]}, "args[0]: must be one of the texts of this list, found true"),
        ({"env": {"A": "1"}}, "env: must be a list of mappings, found a mapping"),
        ({"env": ["A=1"]}, 'env[0]: must be a mapping, found the text "A=1"'),
        ({"envFrom": "x"}, 'envFrom: must be a list of mappings, found the text "x"'),
    ],
)
def test_a_container_of_the_wrong_form_is_refused(fields: Raw, message: str) -> None:
    assert problems_of_container(**fields) == [f"spec.worker.template.spec.containers[0].{message}"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"env": [{"value": "1"}]}, "env[0].name: is required"),
        ({"resources": ["a"]}, "resources: must be a mapping, found a list"),
        ({"resources": {"limits": ["a"]}}, "resources.limits: must be a mapping, found a list"),
    ],
)
def test_what_a_container_says_to_the_planner_has_its_form(fields: Raw, message: str) -> None:
    assert problems_of_container(**fields) == [f"spec.worker.template.spec.containers[0].{message}"]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"labels": ["a"]}, "labels: must be a mapping, found a list"),
        ({"labels": {"version": 1}}, "labels.version: must be text, found the number 1"),
        ({"annotations": {"version": 1}}, "annotations.version: must be text, found the number 1"),
        ({"finalizers": "a/b"}, 'finalizers: must be a list of texts, found the text "a/b"'),
    ],
)
def test_what_pods_take_over_from_the_metadata_has_its_form(metadata: Raw, message: str) -> None:
    template = {"metadata": metadata, "spec": {"containers": [container()]}}
    assert problems_of(job(worker={"replicas": 1, "template": template})) == [
        f"spec.worker.template.metadata.{message}"
    ]


def test_every_container_is_looked_at() -> None:
    raw = job(
        worker={"replicas": 1, "template": {"spec": {"containers": [container(), container(image="")]}}}
    )
    assert problems_of(raw) == ["spec.worker.template.spec.containers[1].image: must not be empty"]


def test_status_in_a_file_is_ignored() -> None:
    assert parse_job({**job(), "status": {"phase": "Completed"}}).status == PaddleJobStatus()
    assert parse_job({**job(), "status": "nonsense"}).status == PaddleJobStatus()


def test_a_stored_job_keeps_its_status() -> None:
    assert stored_job({**job(), "status": {"phase": "Running", "mode": "PS"}}).status.phase is Phase.RUNNING


def test_a_stored_job_may_hold_fields_of_a_newer_version() -> None:
    raw = {**job(), "new": 1, "status": {"phase": "Running", "alsoNew": {}}}
    raw["spec"]["newToo"] = []
    assert stored_job(raw).status.phase is Phase.RUNNING


@pytest.mark.parametrize("status", [None, "x", [], {"phase": "Resting"}, {"conditions": 3}])
def test_a_stored_status_that_cannot_be_read_counts_as_none(status: object) -> None:
    assert stored_job({**job(), "status": status}).status == PaddleJobStatus()
    assert stored_status({"status": status}) == PaddleJobStatus()


def test_a_stored_job_that_cannot_run_is_refused_with_its_problems() -> None:
    assert problems_of(job(worker=role("x")), stored_job) == [
        'spec.worker.replicas: must be a whole number, found the text "x"'
    ]
    assert problems_of(job(worker=role(0)), stored_job) == [
        "spec: must have at least one member: all replicas are 0"
    ]


def test_the_error_is_one_sentence_of_all_problems() -> None:
    with pytest.raises(InvalidJobError, match=r"^spec\.worker\.replicas: .*; spec\.withGloo: "):
        parse_job(job(worker=role(-1), withGloo=7))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    ["metadata", "spec", "name", "worker", "ps", "replicas", "template", "containers", "env"]
)
NEAR_JSON = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
)


def places(raw: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    return [path, *(place for key, value in below for place in places(value, (*path, key)))]


@st.composite
def spoilt_jobs(draw: st.DrawFn) -> Any:
    """A good job in which one place holds something else."""
    raw = copy.deepcopy(draw(good_jobs()))
    path = draw(st.sampled_from(places(raw)))
    if not path:
        return draw(NEAR_JSON)
    inner = raw
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = draw(NEAR_JSON)
    return raw


@st.composite
def good_jobs(draw: st.DrawFn) -> Raw:
    text = st.text(st.characters(exclude_characters="\0=", codec="utf-8"), min_size=1, max_size=5)
    fields = st.fixed_dictionaries(
        {"name": text, "image": text},
        optional={
            "command": st.lists(text, max_size=3),
            "args": st.lists(text, max_size=3),
            "env": st.lists(st.fixed_dictionaries({"name": text, "value": text}), max_size=2),
            "envFrom": st.just([{"configMapRef": {"name": "a"}}]),
        },
    )
    template = st.fixed_dictionaries(
        {"spec": st.fixed_dictionaries({"containers": st.lists(fields, min_size=1, max_size=2)})},
        optional={"metadata": st.fixed_dictionaries({"labels": st.dictionaries(text, text, max_size=2)})},
    )
    roles = st.fixed_dictionaries({"replicas": st.integers(1, 300), "template": template})
    spec = st.fixed_dictionaries(
        {"worker": roles},
        optional={
            "ps": roles,
            "withGloo": st.sampled_from([0, 1, 2, None]),
            "cleanPodPolicy": st.sampled_from(["", "Always", "Never", "OnFailure", "OnCompletion"]),
            "intranet": st.sampled_from(["", "PodIP", "Service", "Host"]),
        },
    )
    name = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
    meta = st.fixed_dictionaries(
        {"name": name},
        optional={"labels": st.dictionaries(text, text, max_size=2), "namespace": st.just("default")},
    )
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": draw(meta),
        "spec": draw(spec),
    }


@pytest.mark.parametrize("read", [parse_job, stored_job])
@given(raw=NEAR_JSON | spoilt_jobs())
def test_whatever_is_given_the_answer_is_a_job_or_the_problems(
    read: Callable[[Any], PaddleJob], raw: Any
) -> None:
    if read is stored_job and not isinstance(raw, dict):
        return  # a server stores objects only
    try:
        problems = check_rules(read(raw))
    except InvalidJobError as error:
        problems = error.problems
        event("refused")
        good = bool(problems and str(error))
    else:
        event("taken")
        good = not problems
    assert good


@given(raw=good_jobs())
def test_a_good_job_survives_being_written_and_read_again(raw: Raw) -> None:
    parsed = parse_job(raw)
    assert msgspec.json.decode(msgspec.json.encode(parsed), type=PaddleJob) == parsed
    assert msgspec.convert(msgspec.to_builtins(parsed), PaddleJob) == parsed


@given(raw=good_jobs())
def test_reading_a_job_does_not_change_the_document(raw: Raw) -> None:
    before = copy.deepcopy(raw)
    parse_job(raw)
    assert raw == before


@pytest.mark.parametrize(
    "raw",
    [
        {**job(), "metadata": {"name": "a", "labels": {1: "x"}}},
        job(worker={**role(), "template": {**role()["template"], 2: "x"}}),
    ],
    ids=["labels", "template"],
)
def test_a_key_that_is_not_text_is_a_problem_too(raw: Raw) -> None:
    assert "must be text" in "".join(problems_of(raw))


@pytest.mark.parametrize("shape", ["deep", "endless"])
def test_a_template_deeper_than_any_sensible_one_is_a_problem(shape: str) -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    raw = job(worker=role(1, extra=deep))
    if shape == "endless":
        template = raw["spec"]["worker"]["template"]
        template["itself"] = template
    assert problems_of(raw)


@pytest.mark.parametrize(
    "fields",
    [
        {"env": [{"name": "A", "value": 1}]},
        {"env": [{"name": "A=B", "value": "1"}]},
        {"env": [{"name": "A", "value": "nul\0"}]},
        {"command": ["sh", "nul\0"]},
        {"envFrom": [{"configMapRef": "x"}]},
        {"workingDir": 5},
    ],
    ids=repr,
)
def test_a_container_that_no_cluster_takes_is_refused(fields: Raw) -> None:
    assert problems_of_container(**fields)


@pytest.mark.parametrize(
    "template",
    [
        {"spec": {"terminationGracePeriodSeconds": "30"}},
        {"spec": {"activeDeadlineSeconds": 1.5}},
        {"spec": {"restartPolicy": ["Never"]}},
    ],
    ids=repr,
)
def test_a_pod_that_no_cluster_takes_is_refused(template: Raw) -> None:
    spec = {"containers": [container()], **template.get("spec", {})}
    assert problems_of(job(worker={"replicas": 1, "template": {**template, "spec": spec}}))


def test_more_replicas_than_kubernetes_can_say_are_refused() -> None:
    assert problems_of(job("a", worker=role(2**31))) == [
        "spec.worker.replicas: must be 2147483647 or less, found 2147483648"
    ]

"""The CRDs: what they say of fields follows from the types, and the files in deploy/ are what they are."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec import inspect

from paddle_operator.api.crd import crd_v1, crd_v1beta1, files, main, stale, write
from paddle_operator.api.paddlejob import PaddleJobSpec, PaddleJobStatus
from paddle_operator.api.rules import RULES
from paddle_operator.api.validation import parse_job
from paddle_operator.api.words import CleanPodPolicy, Intranet, Phase
from support.bad_objects import BAD_OBJECTS, Bad, By
from support.structural import misfits

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.yaml"))
Raw = dict[str, Any]


def schema_v1() -> Raw:
    (version,) = crd_v1()["spec"]["versions"]
    schema: Raw = version["schema"]["openAPIV3Schema"]
    return schema


def schema_v1beta1() -> Raw:
    schema: Raw = crd_v1beta1()["spec"]["validation"]["openAPIV3Schema"]
    return schema


BOTH = pytest.mark.parametrize("schema", [schema_v1(), schema_v1beta1()], ids=["v1", "v1beta1"])


def of_kind_paddlejob(file: Path) -> list[Raw]:
    documents = yaml.safe_load_all(file.read_text("utf-8"))
    return [one for one in documents if one["kind"] == "PaddleJob"]


def node_at(schema: Raw, path: str) -> Raw:
    for name in path.split("."):
        schema = schema["properties"][name]
    return schema


def nodes(schema: Any) -> Iterator[Raw]:
    if isinstance(schema, dict):
        yield schema
        for inner in schema.values():
            yield from nodes(inner)


@pytest.mark.parametrize("crd", [crd_v1(), crd_v1beta1()], ids=["v1", "v1beta1"])
def test_the_names_are_upstreams(crd: Raw) -> None:
    assert crd["metadata"]["name"] == "paddlejobs.batch.paddlepaddle.org"
    assert crd["spec"]["group"] == "batch.paddlepaddle.org"
    assert crd["spec"]["scope"] == "Namespaced"
    assert crd["spec"]["names"] == {
        "kind": "PaddleJob",
        "listKind": "PaddleJobList",
        "plural": "paddlejobs",
        "singular": "paddlejob",
        "shortNames": ["pdj"],
    }
    (version,) = crd["spec"]["versions"]
    assert (version["name"], version["served"], version["storage"]) == ("v1", True, True)


def test_the_first_columns_are_upstreams_and_old_servers_get_the_same_ones() -> None:
    new = crd_v1()["spec"]["versions"][0]["additionalPrinterColumns"]
    old = crd_v1beta1()["spec"]["additionalPrinterColumns"]
    assert [(column["name"], column["type"], column["jsonPath"]) for column in new[:3]] == [
        ("Status", "string", ".status.phase"),
        ("Mode", "string", ".status.mode"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ]
    assert old == [
        {"JSONPath" if key == "jsonPath" else key: column[key] for key in column} for column in new
    ]


def test_every_column_and_every_scale_path_is_a_field() -> None:
    version = crd_v1()["spec"]["versions"][0]
    columns = [column["jsonPath"] for column in version["additionalPrinterColumns"]]
    scale = version["subresources"]["scale"]
    for path in (*columns, scale["specReplicasPath"], scale["statusReplicasPath"]):
        field, _, _ = path.partition("[?")
        if field != ".metadata.creationTimestamp":
            assert node_at(schema_v1(), field.lstrip("."))


@BOTH
@pytest.mark.parametrize(("part", "type_"), [("spec", PaddleJobSpec), ("status", PaddleJobStatus)])
def test_spec_and_status_have_the_fields_of_their_types_and_no_others(
    schema: Raw, part: str, type_: type
) -> None:
    info = inspect.type_info(type_)
    assert isinstance(info, inspect.StructType)
    assert list(node_at(schema, part)["properties"]) == [field.encode_name for field in info.fields]


@BOTH
def test_types_are_those_that_clients_of_upstream_expect(schema: Raw) -> None:
    types = {
        "spec.withGloo": "integer",
        "spec.elastic": "integer",
        "spec.schedulingPolicy.minAvailable": "integer",
        "spec.schedulingPolicy.minResources": "object",
        "spec.sampleSetRef.mountPath": "string",
        "spec.heter.replicas": "integer",
        "spec.worker.requests": "integer",
        "spec.worker.limits": "integer",
        "status.elastic": "string",
        "status.observedGeneration": "integer",
        "status.heter.unknown": "integer",
        "status.startTime": "string",
    }
    assert {path: node_at(schema, path)["type"] for path in types} == types


@BOTH
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("spec.cleanPodPolicy", CleanPodPolicy),
        ("spec.cleanPolicy", CleanPodPolicy),
        ("spec.intranet", Intranet),
        ("status.phase", Phase),
    ],
)
def test_every_word_that_is_accepted_is_in_the_schema(schema: Raw, path: str, words: type[Phase]) -> None:
    assert node_at(schema, path)["enum"] == [str(word) for word in words]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_examples_of_upstreams_guides_are_accepted_and_nothing_of_them_is_dropped(file: Path) -> None:
    (raw,) = of_kind_paddlejob(file)
    assert parse_job(raw).metadata.name == raw["metadata"]["name"]
    assert list(misfits(raw, schema_v1())) == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 7


def test_what_the_skeleton_of_a_pod_does_not_know_is_kept_at_every_depth() -> None:
    (raw,) = of_kind_paddlejob(EXAMPLES[0])
    template = raw["spec"]["worker"]["template"]
    for place in (template, template["spec"], template["spec"]["containers"][0]):
        place["inventedIn2031"] = {"a": [1]}
    template["metadata"] = {"inventedToo": 1}
    template["spec"]["containers"][0]["env"] = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]
    template["spec"]["containers"][0]["resources"] = {"claims": [{"name": "x"}], "limits": {"cpu": 0.5}}
    assert list(misfits(raw, schema_v1())) == []


@pytest.mark.parametrize("bad", [bad for bad in BAD_OBJECTS if bad.by is not By.RULE], ids=str)
def test_what_the_schema_alone_must_refuse_does_not_fit_it(bad: Bad) -> None:
    assert bad.field in list(misfits(bad.object, schema_v1()))


@pytest.mark.parametrize("bad", [bad for bad in BAD_OBJECTS if bad.by is By.RULE], ids=str)
def test_what_a_rule_refuses_fits_the_schema_so_that_the_server_gets_to_the_rule(bad: Bad) -> None:
    """But for `containers: []`, of which old servers must hear from the schema."""
    assert set(misfits(bad.object, schema_v1())) <= {"spec.worker.template.spec.containers"}


def test_every_rule_stands_at_its_place_and_points_at_a_field_of_the_schema() -> None:
    standing = []
    for rule in RULES:
        node = node_at(schema_v1(), ".".join(map(str, rule.place))) if rule.place else schema_v1()
        assert rule.cel in [validation["rule"] for validation in node["x-kubernetes-validations"]]
        assert not rule.field or node_at(node, ".".join(map(str, rule.field)))
        standing.append(rule.cel)
    written = [
        validation
        for node in nodes(schema_v1())
        for validation in node.get("x-kubernetes-validations", [])
        if isinstance(node.get("type"), str)
    ]
    assert len(written) == len(standing)


def test_messages_keep_to_one_line_as_the_server_wants_them() -> None:
    assert not [rule for rule in RULES if "\n" in rule.message + rule.cel + rule.exact_cel]


def test_old_servers_get_nothing_they_do_not_know() -> None:
    assert "x-kubernetes" not in json.dumps(crd_v1beta1())


def test_old_servers_get_the_same_fields() -> None:
    def without_extensions(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        items = schema.items()
        return {key: without_extensions(value) for key, value in items if not key.startswith("x-kubernetes-")}

    assert schema_v1beta1() == without_extensions(schema_v1())


@pytest.mark.defect("peer-13")
@pytest.mark.parametrize("crd", [crd_v1(), crd_v1beta1()], ids=["v1", "v1beta1"])
def test_a_crd_fits_into_the_annotation_that_kubectl_apply_makes_of_it(crd: Raw) -> None:
    assert len(json.dumps(crd, separators=(",", ":"))) < 262_144


@pytest.mark.parametrize(("path", "crd"), [("v1/crd.yaml", crd_v1()), ("v1beta1/crd.yaml", crd_v1beta1())])
def test_the_file_is_yaml_of_the_crd_and_says_who_made_it(path: str, crd: Raw) -> None:
    text = files()[path]
    assert yaml.safe_load(text) == crd
    assert text.startswith("# Generated by `make crd`")
    assert "&id" not in text


def test_the_files_in_deploy_are_not_stale() -> None:
    assert stale(ROOT / "deploy") == []


def test_a_changed_or_missing_file_is_stale_until_it_is_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path), "--check"]) == 0
    (tmp_path / "v1beta1" / "crd.yaml").unlink()
    crd = tmp_path / "v1" / "crd.yaml"
    crd.write_text(crd.read_text("utf-8").replace("minimum: 0", "minimum: 1"), "utf-8")
    assert main([str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{crd} is stale: make crd",
        f"{tmp_path / 'v1beta1' / 'crd.yaml'} is stale: make crd",
    ]
    write(tmp_path)
    assert stale(tmp_path) == []


def test_a_change_of_a_type_makes_the_files_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema is asked for anew each time: a new field of the spec shows without a word written here."""

    class Newer(PaddleJobSpec, frozen=True):
        suspend: str = ""

    class Job(msgspec.Struct, rename="camel"):
        spec: Newer
        api_version: str = ""
        kind: str = ""
        status: PaddleJobStatus = PaddleJobStatus()

    monkeypatch.setattr("paddle_operator.api.crd.PaddleJob", Job)
    assert stale(ROOT / "deploy") == [ROOT / "deploy/v1/crd.yaml", ROOT / "deploy/v1beta1/crd.yaml"]


def test_making_the_crds_twice_gives_the_same_text() -> None:
    first = copy.deepcopy(files())
    assert files() == first

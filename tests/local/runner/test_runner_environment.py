"""The environment of a container is what a kubelet would make of the same pod."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_operator.local.runner.environment import (
    NotReadyError,
    expand,
    names_of_config_maps,
    resolve_env,
)
from paddle_operator.local.runner.pods import ConfigMap, Pod, decode_config_map

IP = "127.7.0.9"


def make_pod(**container: Any) -> Pod:
    raw = {
        "metadata": {
            "name": "demo-worker-0",
            "namespace": "ns",
            "uid": "u-1",
            "labels": {"app.kubernetes.io/name": "x", "a": "b"},
            "annotations": {"note": "hello"},
        },
        "spec": {"nodeName": "here", "containers": [{"name": "main", **container}]},
    }
    return msgspec.convert(raw, Pod)


def config(name: str, **data: str) -> ConfigMap:
    return decode_config_map({"metadata": {"name": name}, "data": data})


def resolve(*maps: ConfigMap, **container: Any) -> dict[str, str]:
    pod = make_pod(**container)
    return resolve_env(pod, pod.main, ip=IP, config_maps={one.metadata.name: one for one in maps})


def from_map(name: str, **fields: Any) -> dict[str, Any]:
    return {"configMapRef": {"name": name}, **fields}


def key_of(name: str, key: str, **fields: Any) -> dict[str, Any]:
    return {"configMapKeyRef": {"name": name, "key": key, **fields}}


def test_env_from_brings_every_key_of_a_config_map() -> None:
    assert resolve(config("c", A="1", B="2"), envFrom=[from_map("c")]) == {"A": "1", "B": "2"}


def test_of_two_sources_the_later_wins() -> None:
    maps = (config("one", A="1", B="1"), config("two", B="2"))
    assert resolve(*maps, envFrom=[from_map("one"), from_map("two")]) == {"A": "1", "B": "2"}
    assert resolve(*maps, envFrom=[from_map("two"), from_map("one")]) == {"A": "1", "B": "1"}


def test_a_prefix_is_put_before_every_key_of_its_source() -> None:
    assert resolve(config("c", A="1"), envFrom=[from_map("c", prefix="P_"), from_map("c")]) == {
        "P_A": "1",
        "A": "1",
    }


def test_env_wins_over_env_from() -> None:
    env = [{"name": "A", "value": "mine"}]
    assert resolve(config("c", A="theirs"), env=env, envFrom=[from_map("c")]) == {"A": "mine"}


def test_of_two_entries_of_one_name_the_later_wins_and_sees_the_earlier() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]
    assert resolve(env=env) == {"A": "12"}


def test_a_reference_sees_earlier_entries_only() -> None:
    env = [
        {"name": "EARLY", "value": "[$(LATE)]"},
        {"name": "LATE", "value": "x"},
        {"name": "LAST", "value": "[$(LATE)]"},
    ]
    assert resolve(env=env) == {"EARLY": "[$(LATE)]", "LATE": "x", "LAST": "[x]"}


def test_a_reference_does_not_see_what_env_from_brought() -> None:
    env = [{"name": "B", "value": "$(A)"}]
    assert resolve(config("c", A="1"), env=env, envFrom=[from_map("c")]) == {"A": "1", "B": "$(A)"}


def test_what_env_from_brings_is_not_expanded() -> None:
    assert resolve(config("c", A="$(B) $$"), envFrom=[from_map("c")]) == {"A": "$(B) $$"}


def test_what_a_reference_brought_is_not_expanded_again() -> None:
    env = [{"name": "A", "value": "$$(B)"}, {"name": "B", "value": "b"}, {"name": "C", "value": "$(A)"}]
    assert resolve(env=env)["C"] == "$(B)"


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)", "1"),
        ("x$(A)y$(B)z", "x1y22z"),
        ("$(NOBODY)", "$(NOBODY)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$$$$", "$$"),
        ("$A ${A}", "$A ${A}"),
        ("$(A", "$(A"),
        ("$()", "$()"),
        ("$(A b)", "$(A b)"),
        ("100$", "100$"),
        ("", ""),
    ],
)
def test_references_are_replaced_as_the_kubelet_does(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "22"}) == expanded


@given(text=st.text(alphabet="ab ()\n{}"))
def test_text_without_a_dollar_stays_as_it_is(text: str) -> None:
    assert expand(text, {"a": "1"}) == text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "demo-worker-0"),
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u-1"),
        ("metadata.labels['a']", "b"),
        ("metadata.labels['app.kubernetes.io/name']", "x"),
        ("metadata.labels['nobody']", ""),
        ("metadata.annotations['note']", "hello"),
        ("spec.nodeName", "here"),
        ("spec.serviceAccountName", "default"),
        ("status.podIP", IP),
        ("status.podIPs", IP),
        ("status.hostIP", IP),
    ],
)
def test_a_field_of_the_pod_can_be_read(path: str, value: str) -> None:
    env = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}}]
    assert resolve(env=env) == {"A": value}


def test_a_field_that_cannot_be_read_is_named_with_those_that_can() -> None:
    env = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.phase"}}}]
    with pytest.raises(NotReadyError, match=r"fieldPath status\.phase .* known are metadata\.name, "):
        resolve(env=env)


def test_a_reference_sees_what_a_field_brought() -> None:
    env = [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "ENDPOINT", "value": "$(POD_IP):20000"},
    ]
    assert resolve(env=env)["ENDPOINT"] == f"{IP}:20000"


def test_a_key_of_a_config_map_can_be_read_and_referred_to() -> None:
    env = [{"name": "A", "valueFrom": key_of("c", "k")}, {"name": "B", "value": "<$(A)>"}]
    assert resolve(config("c", k="v"), env=env) == {"A": "v", "B": "<v>"}


def test_a_missing_config_map_is_waited_for_by_name() -> None:
    with pytest.raises(NotReadyError, match=r'^configmap "gang" not found$'):
        resolve(envFrom=[from_map("gang")])
    with pytest.raises(NotReadyError, match=r'^configmap "gang" not found$'):
        resolve(env=[{"name": "A", "valueFrom": key_of("gang", "k")}])


def test_a_missing_key_is_waited_for_by_name() -> None:
    with pytest.raises(NotReadyError, match=r'^configmap "c" has no key "other"$'):
        resolve(config("c", k="v"), env=[{"name": "A", "valueFrom": key_of("c", "other")}])


def test_what_is_optional_is_not_waited_for_and_sets_nothing() -> None:
    optional = {"configMapRef": {"name": "gone", "optional": True}}
    env = [
        {"name": "A", "valueFrom": key_of("gone", "k", optional=True)},
        {"name": "B", "valueFrom": key_of("c", "other", optional=True)},
    ]
    assert resolve(config("c", k="v"), env=env, envFrom=[optional]) == {}


def test_every_config_map_that_is_named_is_known_beforehand() -> None:
    pod = make_pod(
        envFrom=[from_map("one"), {"prefix": "x"}],
        env=[
            {"name": "A", "valueFrom": key_of("two", "k")},
            {"name": "B", "value": "1"},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
    )
    assert names_of_config_maps(pod.main) == {"one", "two"}

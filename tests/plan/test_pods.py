"""The pod of a member: the user's template plus what the job needs."""

import copy
from typing import Any

import pytest

from paddle_operator.api.validation import stored_job
from paddle_operator.api.words import RoleName
from paddle_operator.plan.model import Job, Member
from paddle_operator.plan.pods import build_pod
from paddle_operator.plan.translate import from_paddlejob
from support.build import UID, document, job


def built(model: Job, member: str = "worker-1", *, released: bool = False) -> dict[str, Any]:
    name, _, index = member.partition("-")
    role = model.role(RoleName(name))
    assert role is not None
    return build_pod(model, role, Member(RoleName(name), int(index)), released=released)


def with_template(template: dict[str, Any]) -> Job:
    raw = document(worker=2)
    raw["metadata"] |= {"uid": UID}
    raw["spec"]["worker"]["template"] = template
    return from_paddlejob(stored_job(raw))


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "paddle", "image": "img:1", **fields}


@pytest.mark.defect("upstream-32")
def test_upstreams_names_and_labels_are_kept() -> None:
    meta = built(job(ps=1), "ps-0")["metadata"]
    assert meta["name"] == "demo-ps-0"
    assert meta["labels"]["paddle-res-name"] == "demo-ps-0"
    assert meta["labels"]["paddle-res-type"] == "ps"
    assert meta["annotations"]["paddle-resource"] == "ps"


def test_the_owner_is_the_job_by_uid() -> None:
    assert built(job())["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "batch.paddlepaddle.org/v1",
            "kind": "PaddleJob",
            "name": "demo",
            "uid": UID,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_users_labels_annotations_and_finalizers_survive() -> None:
    theirs = {"labels": {"team": "a"}, "annotations": {"x": "y"}, "finalizers": ["f/g"]}
    meta = built(with_template({"metadata": theirs, "spec": {"containers": [container()]}}))["metadata"]
    assert meta["labels"]["team"] == "a"
    assert meta["annotations"]["x"] == "y"
    assert meta["finalizers"] == ["f/g"]


def test_a_field_newer_than_us_survives() -> None:
    spec = {"containers": [container(resizePolicy=[{"a": 1}])], "schedulingGates": [{"name": "g"}]}
    got = built(with_template({"spec": spec}))["spec"]
    assert got["schedulingGates"] == [{"name": "g"}]
    assert got["containers"][0]["resizePolicy"] == [{"a": 1}]


def test_host_name_and_subdomain_are_the_pods_name() -> None:
    spec = built(job())["spec"]
    assert spec["hostname"] == spec["subdomain"] == "demo-worker-1"


def test_our_environment_comes_last_and_so_wins() -> None:
    env = [{"name": "PADDLE_TRAINER_ID", "value": "99"}]
    got = built(with_template({"spec": {"containers": [container(env=env)]}}))["spec"]["containers"][0]["env"]
    assert [entry["value"] for entry in got if entry["name"] == "PADDLE_TRAINER_ID"] == ["99", "1"]


def test_a_log_directory_the_user_chose_is_left_alone() -> None:
    env = [{"name": "PADDLE_LOG_DIR", "value": "/logs"}]
    got = built(with_template({"spec": {"containers": [container(env=env)]}}))["spec"]["containers"][0]["env"]
    assert [entry["value"] for entry in got if entry["name"] == "PADDLE_LOG_DIR"] == ["/logs"]


def test_collective_members_log_into_directories_of_their_own() -> None:
    dirs = {
        entry["value"]
        for member in ("worker-0", "worker-1")
        for entry in built(job(), member)["spec"]["containers"][0]["env"]
        if entry["name"] == "PADDLE_LOG_DIR"
    }
    assert len(dirs) == 2


def test_the_container_waits_for_the_jobs_config_map_after_the_users_own_sources() -> None:
    source = {"secretRef": {"name": "s"}}
    got = built(with_template({"spec": {"containers": [container(envFrom=[source])]}}))
    assert got["spec"]["containers"][0]["envFrom"] == [source, {"configMapRef": {"name": "demo"}}]


def test_only_the_first_container_is_told() -> None:
    spec = {"containers": [container(), container(name="sidecar")]}
    assert "env" not in built(with_template({"spec": spec}))["spec"]["containers"][1]


def test_paddle_is_not_process_1_unless_the_user_says_so() -> None:
    assert built(job())["spec"]["shareProcessNamespace"] is True
    explicit = {"shareProcessNamespace": False, "containers": [container()]}
    assert built(with_template({"spec": explicit}))["spec"]["shareProcessNamespace"] is False
    host = {"hostPID": True, "containers": [container()]}
    assert "shareProcessNamespace" not in built(with_template({"spec": host}))["spec"]


def test_pods_are_not_restarted_in_place_unless_the_user_says_so() -> None:
    assert built(job())["spec"]["restartPolicy"] == "Never"
    spec = {"restartPolicy": "OnFailure", "containers": [container()]}
    assert built(with_template({"spec": spec}))["spec"]["restartPolicy"] == "OnFailure"


def test_the_end_of_the_log_is_asked_for_unless_the_user_chose() -> None:
    assert built(job())["spec"]["containers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"
    spec = {"containers": [container(terminationMessagePolicy="File")]}
    assert built(with_template({"spec": spec}))["spec"]["containers"][0]["terminationMessagePolicy"] == "File"


def test_a_pod_made_after_the_release_carries_the_mark() -> None:
    mark = "batch.paddlepaddle.org/release"
    assert mark not in built(job())["metadata"]["annotations"]
    assert built(job(), released=True)["metadata"]["annotations"][mark] == "0"


def test_building_changes_nothing_of_the_template() -> None:
    model = with_template({"spec": {"containers": [container(env=[])]}})
    before = copy.deepcopy(model.roles[0].template)
    built(model)
    assert model.roles[0].template == before

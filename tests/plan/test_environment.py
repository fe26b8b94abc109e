"""What each member is told, by mode."""

import dataclasses
from typing import Any

import pytest

from paddle_operator.api.words import RoleName
from paddle_operator.plan.environment import endpoint, gang_env, member_env, wants_accelerator
from paddle_operator.plan.model import Job, Member, Role
from support.build import job, role


def told(model: Job) -> dict[str, str]:
    """The gang's environment with addresses s0, s1, w0, w1, ..."""
    return gang_env(model, {member: f"{member.role[0]}{member.index}" for member in model.members()})


def own(model: Job, member: str) -> dict[str, Any]:
    name, _, index = member.partition("-")
    entries = member_env(model, Member(RoleName(name), int(index)))
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in entries}


def test_a_server_list_is_in_the_order_of_indexes() -> None:
    want = ",".join(f"p{index}:2379" for index in range(12))
    assert told(job(ps=12, worker=1))["PADDLE_PSERVERS_IP_PORT_LIST"] == want


@pytest.mark.defect("peer-10")
def test_ps_members_know_servers_and_trainers() -> None:
    env = told(job(ps=2, worker=2))
    assert env == {
        "TRAINER_PORTS_NUM": "20",
        "PADDLE_PORT": "2379",
        "PYTHONUNBUFFERED": "1",
        "PADDLE_PSERVERS_IP_PORT_LIST": "p0:2379,p1:2379",
        "PADDLE_TRAINER_ENDPOINTS": "w0:2379,w1:2379",
        "PADDLE_TRAINERS": "w0,w1",
        "PADDLE_TRAINERS_NUM": "2",
    }


@pytest.mark.defect("upstream-5")
@pytest.mark.parametrize("gloo", [1, 2])
def test_gloo_has_a_port_of_its_own_beside_server_0(gloo: int) -> None:
    env = told(job(ps=2, withGloo=gloo))
    assert env["PADDLE_WITH_GLOO"] == str(gloo)
    assert env["PADDLE_GLOO_RENDEZVOUS"] == "3"
    assert env["PADDLE_GLOO_HTTP_ENDPOINT"] == "p0:2397"


@pytest.mark.parametrize(
    "spec", [{"ps": 1}, {"ps": 1, "withGloo": 0}, {"withGloo": 1}, {"ps": 0, "withGloo": 1}]
)
def test_no_gloo_where_it_is_off_or_no_server_could_serve_it(spec: dict[str, Any]) -> None:
    assert not [key for key in told(job(**spec)) if "GLOO" in key]


def test_a_role_of_no_members_is_not_mentioned() -> None:
    assert "PADDLE_PSERVERS_IP_PORT_LIST" not in told(job(ps=0, worker=1))
    assert "PADDLE_TRAINERS_NUM" not in told(job(ps=1, worker=0))


def test_collective_members_build_their_group_with_gloo_on_a_cpu() -> None:
    assert told(job(worker=2))["PADDLE_DISTRI_BACKEND"] == "gloo"
    assert "PADDLE_DISTRI_BACKEND" not in told(job(ps=1, worker=2))


@pytest.mark.parametrize("kind", ["limits", "requests"])
def test_collective_members_with_an_accelerator_choose_for_themselves(kind: str) -> None:
    template = role(2, resources={kind: {"nvidia.com/gpu": 1}})["template"]
    assert wants_accelerator(Role(RoleName.WORKER, 2, template))
    model = dataclasses.replace(job(worker=2), roles=(Role(RoleName.WORKER, 2, template),))
    assert "PADDLE_DISTRI_BACKEND" not in told(model)


def test_the_current_endpoint_is_spelt_with_the_pods_own_address() -> None:
    assert own(job(worker=2), "worker-1")["PADDLE_CURRENT_ENDPOINT"] == "$(POD_IP):2379"


def test_ps_members_have_no_current_endpoint() -> None:
    assert "PADDLE_CURRENT_ENDPOINT" not in own(job(ps=1), "ps-0")


@pytest.mark.parametrize(("member", "want"), [("ps-1", "PSERVER"), ("worker-1", "TRAINER")])
def test_role_and_index_stand_in_the_members_own_environment(member: str, want: str) -> None:
    env = own(job(ps=2), member)
    assert env["TRAINING_ROLE"] == env["PADDLE_TRAINING_ROLE"] == want
    assert env["PADDLE_TRAINER_ID"] == "1"
    assert env["POD_IP"] == {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}


@pytest.mark.defect("upstream-4")
def test_every_port_is_the_same_one() -> None:
    raw_port = {"batch.paddlepaddle.org/port": "23460"}
    model = job(ps=1, withGloo=1, annotations=raw_port)
    env = told(model)
    assert env["PADDLE_PORT"] == "23460"
    assert env["PADDLE_PSERVERS_IP_PORT_LIST"] == "p0:23460"
    assert env["PADDLE_TRAINER_ENDPOINTS"] == "w0:23460,w1:23460"
    assert env["PADDLE_GLOO_HTTP_ENDPOINT"] == "p0:23478"


def test_an_ipv6_address_is_put_in_brackets() -> None:
    assert endpoint("fd00::1", 80) == "[fd00::1]:80"

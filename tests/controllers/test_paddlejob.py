"""The controller against an API server in memory, in virtual time."""

import asyncio
from typing import Any

import pytest

from paddle_operator.controllers.observe import PADDLE_JOBS
from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from paddle_operator.kube.transport import Request, Response
from support import virtual_time
from support.build import document
from support.world import Recorder, World, any_job


def conditions(job: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["type"]: one for one in job["status"]["conditions"]}


def test_a_ps_job_runs_to_completed_and_its_servers_are_stopped() -> None:
    async def main() -> None:
        world = World()
        async with world.running():
            world.start_controller()
            await world.submit(document(ps=2, withGloo=1, cleanPodPolicy="Never"))
            job = await world.until_settled()
            assert job["status"]["phase"] == "Completed"
            assert job["status"]["mode"] == "PS"
            assert job["status"]["ps"]["succeeded"] == job["status"]["worker"]["succeeded"] == 2
            server = await world.pod("demo-ps-0")
            assert server is not None
            assert server["status"]["reason"] == "DeadlineExceeded"

    virtual_time.run(main())


@pytest.mark.defect("peer-6")
def test_nobody_runs_before_the_config_map_is_there() -> None:
    async def main() -> None:
        world = World()
        async with world.running():
            world.start_controller()
            await world.submit(document(ps=1))
            await world.until_settled()
            history = world.server._store.since(0)
            released = next(one.version for one in history if one.kind.plural == "configmaps")
            phases = [(one.version, (one.new or {}).get("status", {}).get("phase")) for one in history]
            ran = [version for version, phase in phases if phase == "Running"]
            assert min(ran) > released

    virtual_time.run(main())


@pytest.mark.defect("upstream-25")
@pytest.mark.defect("peer-7")
@pytest.mark.parametrize(("spec", "members"), [({"ps": 2}, 4), ({"worker": 16}, 16)])
def test_a_job_of_n_pods_costs_at_most_2n_and_6_writes(spec: dict[str, Any], members: int) -> None:
    """Not counting server stops, clean-up and the counters written once a second."""

    async def main() -> None:
        world = World()
        async with world.running():
            controller = Recorder(world.server)
            world.start_controller(controller)
            await world.submit(document(cleanPodPolicy="Never", **spec))
            await world.until_settled()
            stops = sum(b"activeDeadlineSeconds" in (one.body or b"") for one in controller.writes)
            assert len(controller.writes) - stops <= 2 * members + 6
            assert controller.reads == 0, "what there is comes with the watches"

    virtual_time.run(main())


@pytest.mark.defect("peer-5")
def test_an_unchanged_job_costs_no_request() -> None:
    async def main() -> None:
        world = World(run_for=10_000.0)
        async with world.running():
            controller = Recorder(world.server)
            world.start_controller(controller)
            await world.submit(document(ps=1))

            async def runs() -> bool:
                return bool((await world.job()).get("status", {}).get("phase") == "Running")

            await world.until(runs)
            await asyncio.sleep(10.0)
            before = len(controller.writes), controller.reads
            await asyncio.sleep(1000.0)
            assert (len(controller.writes), controller.reads) == before

    virtual_time.run(main())


@pytest.mark.defect("peer-2")
@pytest.mark.defect("upstream-1")
@pytest.mark.parametrize(
    "worker",
    [
        {"replicas": 1},
        {"replicas": 1, "template": {"spec": {"containers": []}}},
        {"replicas": -1, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}},
        {"replicas": "many", "template": 7},
        None,
    ],
)
def test_a_bad_job_says_so_and_stops_nobody_else(worker: Any) -> None:
    async def main() -> None:
        world = World(jobs=any_job())
        async with world.running():
            world.start_controller()
            bad = document(name="bad")
            bad["spec"]["worker"] = worker
            await world.submit(bad)
            await world.submit(document())
            assert (await world.until_settled())["status"]["phase"] == "Completed"
            failed = conditions(await world.job("bad"))["Failed"]
            assert (failed["status"], failed["reason"]) == ("True", "Invalid")
            assert failed["message"].startswith("spec")

    virtual_time.run(main())


def test_a_pod_of_that_name_that_is_not_ours_is_left_alone_and_named() -> None:
    async def main() -> None:
        world = World()
        async with world.running():
            foreign = {"metadata": {"name": "demo-worker-0"}, "spec": {"containers": [{"name": "x"}]}}
            made = await world.client.create(PODS, "ns", foreign)
            world.start_controller()
            await world.submit(document())
            await asyncio.sleep(30.0)
            created = conditions(await world.job())["Created"]
            assert (created["status"], created["reason"]) == ("False", "Refused")
            assert "demo-worker-0 exists already and belongs to somebody else" in created["message"]
            there = await world.pod("demo-worker-0")
            assert there is not None
            assert there["metadata"]["uid"] == made["metadata"]["uid"]
            await world.client.delete(PODS, "ns", "demo-worker-0", grace=0)
            assert (await world.until_settled())["status"]["phase"] == "Completed"

    virtual_time.run(main())


@pytest.mark.defect("upstream-15")
@pytest.mark.defect("peer-9")
def test_a_job_made_again_under_its_name_gets_pods_and_addresses_of_its_own() -> None:
    async def main() -> None:
        world = World(run_for=60.0)
        async with world.running():
            world.start_controller()
            first = await world.submit(document(cleanPodPolicy="Never"))
            await asyncio.sleep(5.0)
            await world.client.delete(PADDLE_JOBS, "ns", "demo")
            second = await world.submit(document(cleanPodPolicy="Never"))
            job = await world.until_settled()
            assert job["status"]["phase"] == "Completed"
            owners = {one["metadata"]["ownerReferences"][0]["uid"] for one in await world.pods()}
            assert owners == {second["metadata"]["uid"]}
            assert first["metadata"]["uid"] not in owners
            config = await world.client.get(CONFIG_MAPS, "ns", "demo")
            addresses = {one["status"]["podIP"] for one in await world.pods()}
            assert set(config["data"]["PADDLE_TRAINERS"].split(",")) == addresses

    virtual_time.run(main())


def test_a_member_that_somebody_deletes_fails_the_job_and_stops_the_others() -> None:
    async def main() -> None:
        world = World(run_for=1000.0)
        async with world.running():
            world.start_controller()
            await world.submit(document(worker=3))
            await asyncio.sleep(5.0)
            await world.client.delete(PODS, "ns", "demo-worker-1", grace=0)
            job = await world.until_settled()
            assert job["status"]["phase"] == "Failed"
            assert conditions(job)["Failed"]["reason"] == "MemberLost"
            assert await world.pod("demo-worker-1") is None, "nobody could have taken its place"

    virtual_time.run(main())


def test_a_pod_deleted_before_the_release_is_made_again() -> None:
    async def main() -> None:
        world = World()
        async with world.running():
            await world.submit(document(worker=1, ps=1))
            controller = world.start_controller(_WithoutConfigMaps(world.server))
            await asyncio.sleep(5.0)
            await world.client.delete(PODS, "ns", "demo-worker-0", grace=0)
            await asyncio.sleep(5.0)
            assert world.created()["demo-worker-0"] == 2
            controller.cancel()
            world.start_controller()
            assert (await world.until_settled())["status"]["phase"] == "Completed"

    virtual_time.run(main())


@pytest.mark.defect("peer-8")
def test_a_field_that_has_no_effect_yet_is_named_in_an_event_once() -> None:
    async def main() -> None:
        world = World()
        async with world.running():
            world.start_controller()
            await world.submit(document(worker=2, schedulingPolicy={"queue": "q"}))
            await world.until_settled()
            events = await world.listed("events")
            assert [one["reason"] for one in events] == ["NotSupported"]
            (event,) = events
            assert (event["type"], event["count"]) == ("Warning", 1)
            assert event["message"].startswith("spec.schedulingPolicy: not supported yet")
            assert event["involvedObject"]["name"] == "demo"

    virtual_time.run(main())


class _WithoutConfigMaps(Recorder):
    """A server that is not well: it takes no ConfigMap."""

    async def request(self, request: Request) -> Response:
        if request.method == "POST" and request.path.endswith("/configmaps"):
            return Response(status=503, body=b"not now")
        return await super().request(request)

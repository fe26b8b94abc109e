"""A node with a real API server in memory and real processes: what happens to a pod, seen through the API."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import NotFound
from paddle_operator.kube.resources import CONFIG_MAPS, PODS
from paddle_operator.local.apiserver import kinds
from paddle_operator.local.apiserver.server import ApiServer
from paddle_operator.local.runner.command import Command
from paddle_operator.local.runner.image import Image
from paddle_operator.local.runner.life import Machine
from paddle_operator.local.runner.node import Node
from paddle_operator.local.runner.pods import Pod
from paddle_operator.local.runner.process import Process
from support.processes import BOUND, EVERY, eventually, marked, new_marker

NS = "ns"
FOREVER = "trap '' TERM; echo ready; while :; do sleep 3600; done"
TOLD = "trap 'echo told; exit 9' TERM; echo ready; while :; do sleep 0.02; done"
WAITS: dict[str, Any] = {"envFrom": [{"configMapRef": {"name": "gang"}}]}


class Bench:
    """One node and the API it serves; time can be moved on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.marker = folder, new_marker()
        self.client = Client(ApiServer([kinds.pods(), kinds.CONFIG_MAPS]))
        self.later = timedelta()
        self.images: dict[str, Image] = {}
        self.start: Callable[[Command, Path], Awaitable[Process]] = Process.start
        self.node = Node(
            "here",
            Machine(
                client=self.client,
                images=self.images,
                base_env={"PATH": "/usr/bin:/bin", "MARKER": self.marker},
                cwd=folder,
                log_of=self.log_of,
                now=lambda: datetime.now(UTC) + self.later,
                start=self._start,
            ),
        )

    async def _start(self, command: Command, log: Path) -> Process:
        return await self.start(command, log)

    def log_of(self, pod: Pod) -> Path:
        return self.folder / "logs" / f"{pod.metadata.name}.log"

    def log(self, name: str = "one") -> str:
        path = self.folder / "logs" / f"{name}.log"
        return path.read_text() if path.exists() else ""

    @property
    def living(self) -> list[int]:
        return marked(self.marker)

    async def pod(
        self, script: str = "exit 0", *, name: str = "one", node: str = "here", **fields: Any
    ) -> Object:
        """`spec` holds fields of the pod; all others are the container's."""
        spec = {"nodeName": node, "restartPolicy": "Never", **fields.pop("spec", {})}
        container = {"name": "main", "image": "img", "command": ["sh", "-c", script], **fields}
        body = {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}
        return await self.client.create(PODS, NS, body)

    async def get(self, name: str = "one") -> Object | None:
        try:
            return await self.client.get(PODS, NS, name)
        except NotFound:
            return None

    async def until(self, so: Callable[[Object], object], name: str = "one", within: float = BOUND) -> Object:
        """The pod, as soon as it is as wanted."""
        pod: Object | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                while True:
                    pod = await self.get(name)
                    if pod and so(pod):
                        return pod
                    await asyncio.sleep(EVERY)
        raise AssertionError(f"the pod never became as wanted; last seen: {pod}")

    async def phase(self, phase: str, name: str = "one") -> Object:
        return await self.until(lambda pod: pod["status"]["phase"] == phase, name)

    async def waiting(self, reason: str = "CreateContainerConfigError", name: str = "one") -> Object:
        return await self.until(lambda pod: state(pod).get("waiting", {}).get("reason") == reason, name)

    async def gone(self, name: str = "one", within: float = BOUND) -> None:
        async with asyncio.timeout(within):
            while await self.get(name):  # noqa: ASYNC110 - the object is in the server, not in our hands
                await asyncio.sleep(EVERY)

    async def says(self, text: str, name: str = "one") -> None:
        await eventually(lambda: text in self.log(name), f"{text!r} in the log of {name}")

    async def touch(self, name: str = "one") -> None:
        await self.client.patch(PODS, NS, name, {"metadata": {"annotations": {"touched": "1"}}})

    async def config(self, name: str = "gang", **data: str) -> None:
        await self.client.create(CONFIG_MAPS, NS, {"metadata": {"name": name}, "data": data})

    async def delete(self, name: str = "one", grace: int | None = None) -> None:
        await self.client.delete(PODS, NS, name, grace=grace)


def state(pod: Object) -> dict[str, Any]:
    statuses = pod["status"].get("containerStatuses", [{"state": {}}])
    return {key: value for key, value in statuses[0]["state"].items() if value is not None}


def ended(pod: Object) -> dict[str, Any]:
    end: dict[str, Any] = state(pod)["terminated"]
    return end


async def end_of(running: "asyncio.Task[None]", within: float = BOUND) -> None:
    """By one cancellation, as whoever runs a node ends it."""
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=within)
    running.cancel()  # a second one clears up after a failure
    assert done, "it goes on although it was cancelled"


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """Whatever a test leaves running must end with the node: that, too, is a promise."""
    one = Bench(tmp_path)
    running = asyncio.create_task(one.node.run())
    yield one
    await end_of(running)
    assert one.living == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("script", "phase", "code", "reason"),
    [
        ("exit 0", "Succeeded", 0, "Completed"),
        ("exit 3", "Failed", 3, "Error"),
        ("kill -9 $$$$", "Failed", 137, "Error"),
        ("kill -11 $$$$", "Failed", 139, "Error"),
    ],
)
async def test_the_exit_code_decides_how_the_pod_ended(
    bench: Bench, script: str, phase: str, code: int, reason: str
) -> None:
    """In a command `$$` is one `$`, as on a cluster; so the shell's own pid is `$$$$`."""
    await bench.pod(script)
    end = ended(await bench.phase(phase))
    assert (end["exitCode"], end["reason"], end["message"]) == (code, reason, "")


@pytest.mark.asyncio
async def test_a_pod_that_runs_says_so_and_has_an_address(bench: Bench) -> None:
    await bench.pod(FOREVER)
    pod = await bench.phase("Running")
    assert pod["status"]["podIP"].startswith("127.7.")
    assert pod["status"]["containerStatuses"][0]["ready"] is True
    assert list(state(pod)) == ["running"]
    assert bench.living


@pytest.mark.asyncio
async def test_pods_have_different_addresses_and_each_knows_its_own(bench: Bench) -> None:
    env = [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    for name in ("one", "two", "three"):
        await bench.pod("echo $POD_IP $HOSTNAME", name=name, env=env)
    told = {
        name: (await bench.phase("Succeeded", name))["status"]["podIP"] for name in ("one", "two", "three")
    }
    assert len(set(told.values())) == 3
    for name, ip in told.items():
        assert bench.log(name) == f"{ip} {name}\n"


@pytest.mark.asyncio
async def test_a_pod_of_another_node_is_left_alone(bench: Bench) -> None:
    await bench.pod(name="theirs", node="there")
    await bench.pod(name="ours")
    await bench.phase("Succeeded", "ours")
    pod = await bench.get("theirs")
    assert pod
    assert pod["status"] == {"phase": "Pending"}


@pytest.mark.asyncio
async def test_a_pod_without_a_node_is_begun_once_it_is_given_one(bench: Bench) -> None:
    await bench.pod(node="")
    await bench.client.patch(PODS, NS, "one", {"spec": {"nodeName": "here"}})
    await bench.phase("Succeeded")


@pytest.mark.asyncio
async def test_a_pod_waits_with_an_address_for_a_config_map_that_is_missing(bench: Bench) -> None:
    await bench.pod("echo started", **WAITS)
    pod = await bench.waiting()
    assert pod["status"]["phase"] == "Pending"
    assert pod["status"]["podIP"].startswith("127.7.")
    assert state(pod)["waiting"]["message"] == 'configmap "gang" not found'
    assert bench.living == []


@pytest.mark.asyncio
async def test_a_waiting_pod_starts_when_the_config_map_is_there_and_the_pod_is_touched(bench: Bench) -> None:
    await bench.pod("echo $A", **WAITS)
    await bench.waiting()
    await bench.config(A="from the map")
    await bench.touch()
    await bench.phase("Succeeded")
    assert bench.log() == "from the map\n"


@pytest.mark.asyncio
async def test_a_touch_before_the_config_map_is_there_starts_nothing(bench: Bench) -> None:
    await bench.pod("echo started", **WAITS)
    before = await bench.waiting()
    await bench.touch()
    await bench.pod(name="other")
    await bench.phase("Succeeded", "other")
    after = await bench.waiting()
    assert after["status"] == before["status"]
    assert bench.log() == ""


@pytest.mark.asyncio
async def test_a_waiting_pod_looks_by_itself_from_time_to_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle_operator.local.runner.life.LOOK_AGAIN", 0.05)
    await bench.pod("echo $A", **WAITS)
    await bench.waiting()
    await bench.config(A="found")
    await bench.phase("Succeeded")
    assert bench.log() == "found\n"


@pytest.mark.asyncio
async def test_a_config_map_that_is_there_already_is_not_waited_for(bench: Bench) -> None:
    await bench.config(A="early")
    await bench.pod("echo $A", **WAITS)
    await bench.phase("Succeeded")
    assert bench.log() == "early\n"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"terminationMessagePolicy": "FallbackToLogsOnError"}, "to stdout\nto stderr\n"),
        ({"terminationMessagePolicy": "File"}, ""),
        ({}, ""),
    ],
)
async def test_a_failure_tells_the_end_of_its_log_where_the_policy_says_so(
    bench: Bench, fields: dict[str, Any], message: str
) -> None:
    await bench.pod("echo to stdout; echo to stderr >&2; exit 3", **fields)
    assert ended(await bench.phase("Failed"))["message"] == message


@pytest.mark.asyncio
async def test_a_success_tells_nothing_of_its_log(bench: Bench) -> None:
    await bench.pod("echo fine", terminationMessagePolicy="FallbackToLogsOnError")
    assert ended(await bench.phase("Succeeded"))["message"] == ""


@pytest.mark.asyncio
@pytest.mark.parametrize("script", ["seq 1 1000; exit 1", "seq -f '%060g' 1 1000; exit 1"])
async def test_of_a_long_log_the_last_80_lines_or_2048_bytes_are_told(bench: Bench, script: str) -> None:
    await bench.pod(script, terminationMessagePolicy="FallbackToLogsOnError")
    message = ended(await bench.phase("Failed"))["message"]
    assert message.endswith("1000\n")
    assert len(message.encode()) <= 2048
    assert len(message.splitlines()) <= 80
    assert len(message) > 200


@pytest.mark.asyncio
async def test_a_log_that_is_not_text_can_be_told_too(bench: Bench) -> None:
    await bench.pod(r"printf '\377\376 boom'; exit 1", terminationMessagePolicy="FallbackToLogsOnError")
    assert ended(await bench.phase("Failed"))["message"].endswith(" boom")


@pytest.mark.asyncio
async def test_a_deleted_pod_is_asked_to_end_and_then_goes(bench: Bench) -> None:
    await bench.pod(TOLD)
    await bench.says("ready")
    await bench.delete()
    await bench.gone()
    assert bench.log() == "ready\ntold\n"
    assert bench.living == []


@pytest.mark.asyncio
async def test_a_deleted_pod_that_does_not_listen_is_killed_after_its_grace_period(bench: Bench) -> None:
    await bench.pod(FOREVER)
    await bench.says("ready")
    await bench.delete(grace=1)
    await bench.gone()
    assert bench.living == []


@pytest.mark.asyncio
async def test_the_end_of_a_deleted_pod_is_reported_before_it_goes(bench: Bench) -> None:
    await bench.pod("trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done")
    await bench.says("ready")
    # A finalizer keeps the object, so that its last status can be read.
    await bench.client.patch(PODS, NS, "one", {"metadata": {"finalizers": ["example.org/keep"]}})
    await bench.delete()
    assert ended(await bench.phase("Failed"))["exitCode"] == 9
    await bench.client.patch(PODS, NS, "one", {"metadata": {"finalizers": None}})
    await bench.gone()


@pytest.mark.asyncio
async def test_the_process_of_a_force_deleted_pod_dies(bench: Bench) -> None:
    await bench.pod(FOREVER)
    await bench.says("ready")
    await bench.delete(grace=0)
    assert await bench.get() is None
    await eventually(lambda: not bench.living, "the end of the process")


@pytest.mark.asyncio
async def test_a_later_pod_of_the_same_name_is_another_one(bench: Bench) -> None:
    await bench.pod(FOREVER)
    await bench.says("ready")
    await bench.delete(grace=0)
    await bench.pod("echo second")
    await bench.phase("Succeeded")
    await bench.says("second")
    await eventually(lambda: not bench.living, "the end of the first process")


@pytest.mark.asyncio
async def test_a_pod_deleted_while_it_waits_goes_at_once_and_never_starts(bench: Bench) -> None:
    await bench.pod("echo started", **WAITS)
    await bench.waiting()
    await bench.delete()
    await bench.gone()
    assert bench.log() == ""


@pytest.mark.asyncio
async def test_a_pod_that_is_over_stays_until_it_is_deleted(bench: Bench) -> None:
    await bench.pod()
    await bench.phase("Succeeded")
    await bench.pod(name="later")
    await bench.phase("Succeeded", "later")
    assert await bench.get()
    await bench.delete()
    await bench.gone()


@pytest.mark.asyncio
async def test_a_pod_that_is_active_too_long_fails_by_itself(bench: Bench) -> None:
    await bench.pod(TOLD, spec={"activeDeadlineSeconds": 1})
    pod = await bench.phase("Failed")
    assert pod["status"]["reason"] == "DeadlineExceeded"
    assert ended(pod)["exitCode"] == 9
    assert bench.log() == "ready\ntold\n"
    assert bench.living == []


@pytest.mark.asyncio
async def test_a_deadline_that_is_set_while_the_pod_runs_counts_from_its_start(bench: Bench) -> None:
    await bench.pod(TOLD)
    await bench.says("ready")
    bench.later = timedelta(hours=1)
    await bench.client.patch(PODS, NS, "one", {"spec": {"activeDeadlineSeconds": 60}})
    assert (await bench.phase("Failed"))["status"]["reason"] == "DeadlineExceeded"
    assert bench.living == []


@pytest.mark.asyncio
async def test_a_pod_that_never_got_its_configuration_fails_at_its_deadline_too(bench: Bench) -> None:
    await bench.pod("echo started", spec={"activeDeadlineSeconds": 1}, **WAITS)
    await bench.waiting()
    pod = await bench.phase("Failed")
    assert pod["status"]["reason"] == "DeadlineExceeded"
    assert bench.log() == ""
    assert await bench.get()


@pytest.mark.asyncio
async def test_a_pod_that_succeeded_in_time_stays_succeeded(bench: Bench) -> None:
    await bench.pod(spec={"activeDeadlineSeconds": 1000})
    await bench.phase("Succeeded")
    bench.later = timedelta(hours=1)
    await bench.touch()
    await bench.pod(name="later")
    await bench.phase("Succeeded", "later")
    assert (await bench.phase("Succeeded"))["status"].get("reason") is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"spec": {"initContainers": [{"name": "a"}]}}, "init containers"),
        ({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}, "more than one container"),
        ({"spec": {"restartPolicy": "OnFailure"}}, "restartPolicy OnFailure"),
        ({"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, "volume mounts"),
        ({"resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 1}}}, "devices (nvidia.com/gpu)"),
        ({"envFrom": [{"secretRef": {"name": "a"}}]}, "secrets in the environment"),
        (
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]},
            "secrets in the environment",
        ),
        (
            {"volumeMounts": [{}], "resources": {"limits": {"x/y": "1"}}},
            "volume mounts and devices (x/y)",
        ),
    ],
)
async def test_what_this_machine_cannot_give_is_refused_and_named(
    bench: Bench, fields: dict[str, Any], what: str
) -> None:
    await bench.pod("echo started", **fields)
    end = ended(await bench.phase("Failed"))
    assert (end["exitCode"], end["reason"]) == (128, "StartError")
    assert end["message"] == f"one needs {what}, which a run on this machine cannot give yet"
    assert bench.log() == ""


@pytest.mark.asyncio
async def test_what_every_machine_has_is_given_and_so_are_no_devices(bench: Bench) -> None:
    await bench.pod(resources={"limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": "0"}})
    await bench.phase("Succeeded")


@pytest.mark.asyncio
async def test_a_command_that_is_not_there_is_a_start_error(bench: Bench) -> None:
    await bench.pod(command=["no-such-program"])
    end = ended(await bench.phase("Failed"))
    assert (end["exitCode"], end["reason"]) == (128, "StartError")
    assert end["message"] == 'exec: "no-such-program": no such program on this machine'


@pytest.mark.asyncio
async def test_a_mapped_image_says_what_runs(bench: Bench) -> None:
    bench.images["img"] = Image(entrypoint=("echo", "from", "the image"), env={"A": "1"})
    await bench.pod(command=[])
    await bench.phase("Succeeded")
    assert bench.log() == "from the image\n"


@pytest.mark.asyncio
async def test_a_log_of_an_earlier_pod_of_that_name_is_begun_anew(bench: Bench) -> None:
    (bench.folder / "logs").mkdir()
    (bench.folder / "logs" / "one.log").write_text("old\n" * 100)
    await bench.pod("echo new")
    await bench.phase("Succeeded")
    assert bench.log() == "new\n"


@pytest.mark.asyncio
async def test_stopping_asks_everything_that_runs_to_end(bench: Bench) -> None:
    await bench.pod(TOLD, name="one")
    await bench.pod(TOLD, name="two")
    for name in ("one", "two"):
        await bench.says("ready", name)
        await bench.phase("Running", name)
    await bench.node.stop_processes(most=BOUND)
    assert bench.living == []
    assert bench.log("one") == bench.log("two") == "ready\ntold\n"


@pytest.mark.asyncio
async def test_stopping_without_patience_kills(bench: Bench) -> None:
    await bench.pod(TOLD)
    await bench.says("ready")
    await bench.phase("Running")
    await bench.node.stop_processes(most=0)
    assert bench.living == []
    assert bench.log() == "ready\n"
    assert ended(await bench.phase("Failed"))["exitCode"] == 128 + signal.SIGKILL


@pytest.mark.asyncio
async def test_what_waits_does_not_begin_any_more_once_everything_stops(bench: Bench) -> None:
    await bench.pod("echo started", **WAITS)
    await bench.waiting()
    await bench.node.stop_processes(most=0)
    await bench.config()
    await bench.pod(name="other")
    await bench.phase("Succeeded", "other")
    assert bench.log() == ""


@pytest.mark.asyncio
async def test_a_node_that_ends_takes_its_processes_along(tmp_path: Path) -> None:
    one = Bench(tmp_path)
    running = asyncio.create_task(one.node.run())
    await one.pod(FOREVER)
    await one.says("ready")
    await end_of(running)
    assert one.living == []


@pytest.mark.asyncio
async def test_a_node_that_is_ended_just_as_news_arrive_ends(tmp_path: Path) -> None:
    for turns in range(6):
        one = Bench(tmp_path)
        running = asyncio.create_task(one.node.run())
        await one.pod()
        await one.phase("Succeeded")
        await one.touch()
        for _ in range(turns):
            await asyncio.sleep(0)
        await end_of(running, within=1)


@pytest.mark.asyncio
@pytest.mark.parametrize("turns", range(6))
async def test_a_start_that_is_cancelled_halfway_leaves_no_process(tmp_path: Path, turns: int) -> None:
    marker = new_marker()
    command = Command(("sh", "-c", FOREVER), tmp_path, {"PATH": "/usr/bin:/bin", "MARKER": marker})
    starting = asyncio.create_task(Process.start(command, tmp_path / "log"))
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await (await starting).kill()  # it was faster than we were
    left = marked(marker)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


@pytest.mark.asyncio
@pytest.mark.filterwarnings("ignore")
async def test_a_process_that_the_system_refuses_fails_its_pod(bench: Bench) -> None:
    async def refuse(_: Command, __: Path) -> Process:
        await asyncio.sleep(0)
        raise OSError(7, "Argument list too long")

    bench.start = refuse
    await bench.pod()
    await bench.until(lambda pod: pod["status"]["phase"] == "Failed", within=2)


@pytest.mark.asyncio
async def test_a_grace_period_can_be_made_shorter(bench: Bench) -> None:
    await bench.pod("trap 'echo told' TERM; echo ready; while :; do sleep 0.02; done")
    await bench.says("ready")
    await bench.delete(grace=1000)
    await bench.says("told")
    await bench.delete(grace=1)
    await bench.gone(within=3)

"""`pdj run` as people run it: real processes, real signals, and nobody left behind."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.pdj import PDJ, Run, run_pdj, shell_role, write_job
from support.processes import BOUND, wait_until

STUBBORN = "trap '' TERM INT HUP; echo ready; while :; do sleep 3600; done"
OBEDIENT = "trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.02; done"
ENDLESS = "echo ready; sleep 3600"
NEVER_THERE = {"envFrom": [{"configMapRef": {"name": "never-there"}}]}
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


class Start:
    """Writes a job and starts `pdj run` with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: list[Run] = []

    def __call__(
        self, *options: str | Path, name: str = "demo", env: dict[str, str] | None = None, **spec: Any
    ) -> Run:
        file = write_job(self.folder, name, **spec)
        run = Run(self.folder, "run", file.name, *options, env=env)
        self._runs.append(run)
        return run

    def clear(self) -> None:
        for run in self._runs:
            with run:
                pass


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    starter = Start(tmp_path)
    yield starter
    starter.clear()


def environment(run: Run, member: str) -> dict[str, str]:
    lines = run.log(member).splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_a_job_that_succeeds_exits_0_and_keeps_its_logs(start: Start) -> None:
    run = start(worker=shell_role(2, "echo hello from $HOSTNAME; echo an error >&2"))
    result = run.result()
    assert result.code == 0
    assert result.err == ""
    assert "demo: Completed after" in result.out
    assert "all 2 worker(s) succeeded" in result.out
    assert "logs: .pdj/demo/0/" in result.out
    for member in ("worker-0", "worker-1"):
        assert run.log(member) == f"hello from demo-{member}\nan error\n"
    assert run.members == []


def test_what_happens_is_told_as_it_happens(start: Start) -> None:
    run = start(worker=shell_role(1, "echo ready; while [ ! -e go ]; do sleep 0.02; done"))
    run.wait_for_log("worker-0", "ready")
    run.wait_for_out("Running")
    (run.cwd / "go").touch()
    told = [line.split()[1:] for line in run.result().out.splitlines() if "s  worker-0" in line]
    assert told == [["worker-0", "Pending"], ["worker-0", "Running"], ["worker-0", "Succeeded"]]


def test_members_run_where_pdj_was_started(start: Start) -> None:
    run = start(worker=shell_role(1, "pwd; touch trace"))
    assert run.result().code == 0
    assert run.log("worker-0") == f"{run.cwd}\n"
    assert (run.cwd / "trace").exists()


@pytest.mark.parametrize("policy", [{}, {"cleanPodPolicy": "Never"}, {"cleanPodPolicy": "OnFailure"}])
def test_servers_that_never_end_are_stopped_once_the_workers_succeeded(
    start: Start, policy: dict[str, Any]
) -> None:
    run = start(
        ps=shell_role(2, OBEDIENT),
        worker=shell_role(2, "while ! grep -sq ready .pdj/demo/0/ps-1.log; do sleep 0.02; done"),
        **policy,
    )
    result = run.result()
    assert result.code == 0
    assert "demo: Completed after" in result.out
    assert run.log("ps-1") == "ready\ntold\n"
    assert run.members == []


def test_servers_that_left_for_a_session_of_their_own_are_stopped_too(start: Start) -> None:
    run = start(
        ps=shell_role(1, "setsid sh -c 'echo ready; trap \"\" TERM; sleep 3600' & wait"),
        worker=shell_role(1, "while ! grep -sq ready .pdj/demo/0/ps-0.log; do sleep 0.02; done"),
    )
    assert run.result().code == 0
    assert run.members == []


@pytest.mark.parametrize("policy", [{}, {"cleanPodPolicy": "Always"}])
def test_a_worker_that_fails_fails_the_job_with_its_name_its_code_and_its_last_words(
    start: Start, policy: dict[str, Any]
) -> None:
    script = (
        "case $HOSTNAME in *-1) while ! grep -sq ready .pdj/demo/0/worker-2.log; do sleep 0.02; done; "
        "echo the very reason; exit 3;; *) echo ready; sleep 3600;; esac"
    )
    run = start(ps=shell_role(1, ENDLESS), worker=shell_role(3, script), **policy)
    result = run.result()
    assert result.code == 1
    assert "demo: Failed after" in result.out
    assert (
        "worker-1 failed: container main exited with code 3; its log ends:\nthe very reason\n" in result.out
    )
    assert run.members == []
    assert run.log("worker-1") == "the very reason\n"


def test_a_server_that_fails_fails_the_job_too(start: Start) -> None:
    run = start(ps=shell_role(1, "exit 5"), worker=shell_role(1, ENDLESS))
    result = run.result()
    assert result.code == 1
    assert "ps-0 failed: container main exited with code 5" in result.out
    assert run.members == []


@pytest.mark.parametrize(
    ("container", "says"),
    [
        ({"command": ["no-such-program"]}, 'exec: "no-such-program": no such program on this machine'),
        (
            {"workingDir": "/not/here"},
            "the working directory /not/here of container main is not on this machine",
        ),
        ({"resources": {"limits": {"nvidia.com/gpu": 1}}}, "devices (nvidia.com/gpu)"),
    ],
)
def test_what_cannot_be_started_fails_the_job_with_the_reason(
    start: Start, container: dict[str, Any], says: str
) -> None:
    result = start(worker=shell_role(2, "true", **container)).result()
    assert result.code == 1
    assert says in result.out
    assert "Traceback" not in result.err


def test_members_learn_each_others_addresses(start: Start) -> None:
    until_served = "env; while [ ! -e served ]; do sleep 0.02; done"
    run = start(
        ps=shell_role(1, f"env; touch served; {ENDLESS}"), worker=shell_role(2, until_served), withGloo=1
    )
    assert run.result().code == 0
    one, two = environment(run, "worker-0"), environment(run, "worker-1")
    server = environment(run, "ps-0")
    port = one["PADDLE_PORT"]
    addresses = [one["POD_IP"], two["POD_IP"]]
    for env in (one, two, server):
        assert env["PADDLE_TRAINER_ENDPOINTS"] == ",".join(f"{ip}:{port}" for ip in addresses)
        assert env["PADDLE_PSERVERS_IP_PORT_LIST"] == f"{server['POD_IP']}:{port}"
        assert env["PADDLE_GLOO_HTTP_ENDPOINT"] == f"{server['POD_IP']}:{int(port) + 18}"
        assert env["PADDLE_TRAINERS_NUM"] == "2"
    assert [env["PADDLE_TRAINER_ID"] for env in (one, two, server)] == ["0", "1", "0"]
    assert [env["TRAINING_ROLE"] for env in (one, two, server)] == ["TRAINER", "TRAINER", "PSERVER"]
    assert [env["HOSTNAME"] for env in (one, server)] == ["demo-worker-0", "demo-ps-0"]


def test_members_of_a_collective_job_share_a_low_port_and_differ_in_address(start: Start) -> None:
    run = start(worker=shell_role(2, "env"))
    assert run.result().code == 0
    endpoints = [environment(run, f"worker-{index}")["PADDLE_CURRENT_ENDPOINT"] for index in (0, 1)]
    (one, port), (two, same) = (endpoint.split(":") for endpoint in endpoints)
    assert one != two
    assert port == same
    assert int(port) + 20 < 32768
    assert not {one, two} & {"127.0.0.1", "127.0.1.1"}
    assert environment(run, "worker-0")["PADDLE_TRAINER_ENDPOINTS"] == ",".join(endpoints)


def test_what_a_shell_says_of_another_job_does_not_leak_in(start: Start) -> None:
    leaks = {
        "PADDLE_TRAINERS_NUM": "99",
        "PADDLE_ELASTIC_SERVER": "x",
        "PADDLE_TRAINER_ENDPOINTS": "9.9.9.9:1",
        "TRAINER_PORTS_NUM": "99",
        "TRAINING_ROLE": "NOBODY",
        "POD_IP": "9.9.9.9",
    }
    run = start(worker=shell_role(1, "env"), env={**leaks, "MINE": "stays"})
    assert run.result().code == 0
    env = environment(run, "worker-0")
    assert env["MINE"] == "stays"
    assert not [key for key, value in leaks.items() if env.get(key) == value]


def test_the_jobs_own_variables_win_over_the_shells(start: Start) -> None:
    container = {"env": [{"name": "A", "value": "job"}, {"name": "B", "value": "$(A)-$(POD_IP)-$$(A)"}]}
    run = start(worker=shell_role(1, "env", **container), env={"A": "shell"})
    assert run.result().code == 0
    env = environment(run, "worker-0")
    assert (env["A"], env["B"]) == ("job", "job-$(POD_IP)-$(A)")


def test_python_means_the_given_interpreter(start: Start) -> None:
    script = "python -c 'import sys; print(sys.prefix)'; python3 -c 'import sys; print(sys.prefix)'"
    run = start("--python", sys.executable, worker=shell_role(1, script))
    assert run.result().code == 0
    assert run.log("worker-0") == f"{sys.prefix}\n" * 2


def test_an_image_runs_what_its_dockerfile_says_where_it_says(start: Start, tmp_path: Path) -> None:
    source = tmp_path / "build" / "src"
    source.mkdir(parents=True)
    (source / "hello.sh").write_text('echo "$GREETING $1 from $PWD"\n')
    (tmp_path / "build" / "Dockerfile").write_text(
        'FROM scratch\nCOPY src /app\nWORKDIR /app\nENV GREETING="good day"\n'
        'ENTRYPOINT ["sh", "/app/hello.sh"]\nCMD ["you"]\n'
    )
    role = shell_role(1, "")
    del role["template"]["spec"]["containers"][0]["command"]
    run = start("--image", "img:1=build", worker=role)
    assert run.result().code == 0
    assert run.log("worker-0") == f"good day you from {source}\n"


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_before_the_job_is_even_read_ends_it(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """A pipe that nobody writes to holds it at the place where the file is read."""
    os.mkfifo(tmp_path / "job.yaml")
    with Run(tmp_path, "run", "job.yaml") as run:
        run.answers_signals()
        run.send(number)
        assert run.process.wait(BOUND) == code
        assert run.err == ""


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_right_after_the_start_ends_it(start: Start, number: signal.Signals, code: int) -> None:
    run = start(worker=shell_role(2, STUBBORN))
    run.answers_signals()
    run.send(number)
    # It may have come so late that members run already; they do not listen, so they are killed.
    wait_until(lambda: run.process.poll() is not None or "stopping all members" in run.err, "an answer")
    run.send(number)
    result = run.result()
    assert result.code == code
    assert "Traceback" not in result.err
    assert run.members == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_while_the_members_wait_ends_it(start: Start, number: signal.Signals, code: int) -> None:
    run = start(worker=shell_role(2, "echo started", **NEVER_THERE))
    run.wait_for_out("worker-1    Pending")
    run.send(number)
    result = run.result()
    assert result.code == code
    assert "Traceback" not in result.err
    assert run.log("worker-0") == ""
    assert run.members == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_while_the_members_run_lets_them_finish_what_they_do(
    start: Start, number: signal.Signals, code: int
) -> None:
    run = start(ps=shell_role(1, OBEDIENT), worker=shell_role(2, OBEDIENT))
    for member in ("ps-0", "worker-0", "worker-1"):
        run.wait_for_log(member, "ready")
    run.send(number)
    result = run.result()
    assert result.code == code
    assert f"{number.name}: stopping all members" in result.err
    assert "interrupted; everything it started has ended" in result.out
    for member in ("ps-0", "worker-0", "worker-1"):
        assert run.log(member) == "ready\ntold\n"
    assert run.members == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_members_that_do_not_listen_are_killed_by_a_second_signal(
    start: Start, number: signal.Signals, code: int, second: signal.Signals
) -> None:
    run = start(worker=shell_role(2, STUBBORN))
    for member in ("worker-0", "worker-1"):
        run.wait_for_log(member, "ready")
    run.send(number)
    run.wait_for_err("once more to kill them")
    assert run.process.poll() is None
    assert run.members
    run.send(second)
    assert run.result().code == code
    assert run.members == []


def test_ctrl_c_at_the_terminal_reaches_the_members_as_sigterm_only(start: Start) -> None:
    """The terminal signals its whole process group; members that share it would hear of it twice."""
    script = f"trap 'echo interrupted' INT; {OBEDIENT}"
    run = start(worker=shell_role(1, script))
    run.wait_for_log("worker-0", "ready")
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.result().code == 130
    assert run.log("worker-0") == "ready\ntold\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGQUIT])
def test_nobody_outlives_a_pdj_that_dies(start: Start, number: signal.Signals) -> None:
    away = "(setsid sh -c \"trap '' TERM HUP; echo away; sleep 3600\" &)"
    run = start(worker=shell_role(2, f"{away}; {STUBBORN}"))
    for member in ("worker-0", "worker-1"):
        run.wait_for_log(member, "ready")
        run.wait_for_log(member, "away")
    assert len(run.members) >= 6
    run.send(number)
    assert run.process.wait(BOUND) == -number
    wait_until(lambda: not run.members, "the end of everybody")


def test_nobody_outlives_a_supervisor_that_dies(start: Start) -> None:
    run = start(worker=shell_role(1, STUBBORN))
    run.wait_for_log("worker-0", "ready")
    supervisors = [
        pid for pid in run.members if "supervisor" in Path("/proc", str(pid), "cmdline").read_text()
    ]
    for pid in supervisors:
        os.kill(pid, signal.SIGKILL)
    assert len(supervisors) == 1
    result = run.result()
    assert result.code == 1
    assert "worker-0 failed" in result.out
    assert run.members == []


def test_when_nobody_reads_the_output_any_more_everything_ends(tmp_path: Path) -> None:
    file = write_job(tmp_path, worker=shell_role(1, "while [ ! -e go ]; do sleep 0.02; done; exit 0"))
    with Run(tmp_path, "--version") as run:  # only for its marker, which the shell's processes carry too
        script = f'{{ "{PDJ}" run {file.name}; echo $? > code; }} | head -n 1 > first; touch go'
        env = {**os.environ, "MARKER": run.marker}
        assert os.spawnvpe(os.P_WAIT, "sh", ["sh", "-c", f"cd {tmp_path} && {script}"], env) == 0
        wait_until(lambda: (tmp_path / "code").exists() and (tmp_path / "code").read_text(), "its end")
        assert (tmp_path / "code").read_text() == "1\n"
        assert run.members == []


def test_a_second_run_of_the_same_name_is_refused_while_the_first_goes_on(start: Start) -> None:
    first = start(worker=shell_role(1, "echo ready; while [ ! -e go ]; do sleep 0.02; done"))
    first.wait_for_log("worker-0", "ready")
    second = run_pdj("run", "demo.yaml", cwd=first.cwd)
    assert second.code == 2
    assert second.err == (
        ".pdj/demo: a job of this name is running here; wait for it, or give this one another name\n"
    )
    assert first.log("worker-0") == "ready\n"
    (first.cwd / "go").touch()
    assert first.result().code == 0


def test_two_jobs_of_different_names_run_side_by_side(start: Start) -> None:
    script = "env; while [ ! -e go ]; do sleep 0.02; done"
    runs = [start(name=name, worker=shell_role(2, script)) for name in ("one", "two")]
    for run, name in zip(runs, ("one", "two"), strict=True):
        run.wait_for_log("worker-1", "PADDLE_PORT=", job=name)
    (runs[0].cwd / "go").touch()
    assert [run.result().code for run in runs] == [0, 0]


@pytest.mark.parametrize("before", ["a run that ended", "a run that was killed"])
def test_the_same_name_can_run_again(start: Start, before: str) -> None:
    if before == "a run that ended":
        assert start(worker=shell_role(2, "echo first")).result().code == 0
    else:
        killed = start(worker=shell_role(1, STUBBORN))
        killed.wait_for_log("worker-0", "ready")
        killed.send(signal.SIGKILL)
        killed.process.wait(BOUND)
        wait_until(lambda: not killed.members, "the end of everybody")
    again = start(worker=shell_role(1, "echo again"))
    assert again.result().code == 0
    assert again.log("worker-0") == "again\n"


def test_logs_are_those_of_the_last_run_only(start: Start) -> None:
    assert start(worker=shell_role(2, "echo first")).result().code == 0
    again = start(worker=shell_role(1, "echo again"))
    assert again.result().code == 0
    assert again.log("worker-1") == ""


def test_a_pod_that_cannot_be_read_ends_the_run_with_what_is_wrong(start: Start) -> None:
    role = shell_role(1, "true")
    role["template"]["spec"]["serviceAccountName"] = 7
    result = start(worker=role).result()
    assert result.code == 1
    assert "Refused" in result.out
    assert "Expected `str`, got `int`" in result.out

"""Real training with real Paddle processes, through every layer, as a person would start it."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest

from support.processes import wait_until

pytestmark = [pytest.mark.paddle, pytest.mark.timeout(300)]

ROOT = Path(__file__).parent.parent.parent
PDJ = Path(sys.executable).parent / "pdj"
SAMPLE = ROOT / "samples/paddlejob/wide_and_deep"
IMAGE = "registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1"
COIN = 0.6931  # the loss of a worker whose parameters stayed zero

COLLECTIVE = """
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec:
  cleanPodPolicy: Never
  worker:
    replicas: {workers}
    template:
      spec:
        containers:
          - name: paddle
            image: paddle
            command: [{command}]
            args: [{script}]
"""


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """In a directory of its own: what Paddle leaves in its working directory stays out of the repository."""
    return subprocess.run(
        [PDJ, "run", *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=240
    )


def losses(log: Path) -> list[float]:
    return [
        float(text) for text in re.findall(r"^step \d+/\d+ loss ([\d.]+)$", log.read_text(), re.MULTILINE)
    ]


def still_running(marker: str) -> list[str]:
    """Processes of this machine whose command line or environment carries the marker."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if marker.encode() in text:
            found.append(folder.name)
    return found


def test_wide_and_deep_learns_on_parameter_servers_and_leaves_nothing(
    ps_python: Path, tmp_path: Path
) -> None:
    file = SAMPLE / "wide_and_deep.yaml"
    done = run(file, "--image", f"{IMAGE}={SAMPLE}", "--python", ps_python, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"wide-ande-deep: Completed after", done.stdout)
    assert len(re.findall(r"ps-\d +stopped", done.stdout)) == 2
    for worker in (0, 1):
        learned = losses(tmp_path / f".pdj/wide-ande-deep/0/worker-{worker}.log")
        tenth = len(learned) // 10
        assert mean(learned[-tenth:]) < 0.9 * mean(learned[:tenth])
        assert not all(abs(loss - COIN) < 0.001 for loss in learned)
    assert not still_running(str(tmp_path))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("command", ["python", "python, -m, paddle.distributed.launch"])
def test_collective_and_single_jobs_train_on_the_newest_paddle(
    collective_python: Path, tmp_path: Path, workers: int, command: str
) -> None:
    script = Path(__file__).parent / "collective.py"
    job = tmp_path / "job.yaml"
    job.write_text(COLLECTIVE.format(name="dp", workers=workers, command=command, script=script))
    done = run(job, "--python", collective_python, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [(tmp_path / f".pdj/dp/0/worker-{index}.log").read_text() for index in range(workers)]
    assert [f"world {workers}" in log for log in logs] == [True] * workers
    ranks = {int(rank) for log in logs for rank in re.findall(r"rank (\d+) finished", log)}
    assert ranks == set(range(workers))
    assert len({re.findall(r"weights ([0-9a-f]+)", log)[-1] for log in logs}) == 1, "one model, not several"
    assert not still_running(str(tmp_path))


def test_a_worker_that_dies_fails_the_job_and_its_peers_are_stopped(
    collective_python: Path, tmp_path: Path
) -> None:
    script = Path(__file__).parent / "collective.py"
    job = tmp_path / "job.yaml"
    job.write_text(COLLECTIVE.format(name="dies", workers=2, command="env, DIE=1, python", script=script))
    done = run(job, "--python", collective_python, cwd=tmp_path)
    assert done.returncode == 1
    assert re.search(
        r"dies: Failed after .*worker-1 failed: container paddle exited with code 3", done.stdout
    )
    assert "rank 1 dies on purpose" in done.stdout
    assert not still_running(str(tmp_path))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_is_left_of_an_interrupted_job_whose_launchers_left_their_sessions(
    collective_python: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """`launch` puts each trainer into a session of its own, so that no signal to a group reaches it."""
    script = Path(__file__).parent / "collective.py"
    job = tmp_path / "job.yaml"
    command = "env, WAIT=1, python, -m, paddle.distributed.launch"
    job.write_text(COLLECTIVE.format(name="waits", workers=2, command=command, script=script))
    with (tmp_path / "out").open("wb") as out:
        pdj = subprocess.Popen(
            [PDJ, "run", job, "--python", collective_python], cwd=tmp_path, stdout=out, stderr=out
        )
    log = tmp_path / ".pdj/waits/0/worker-0.log"
    wait_until(lambda: log.exists() and "step 1/" in log.read_text(), "the first step", within=100)
    pdj.send_signal(number)
    assert pdj.wait(60) == code
    wait_until(lambda: not still_running(str(tmp_path)), "the end of everybody")

"""Measures our runtime beside two other libraries on one real API server, and prints what came out.

    python -m bench.runtime --kubernetes PATH --peers PYTHON [--small] [--check]

PATH is what scripts/kubelab.py prints; PYTHON is an interpreter that has requirements/bench.txt installed.
Every library runs in that one, in a process of its own. In each round all take their turn, in another order
each time. `make bench` does it all.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.runtime import report
from bench.runtime.cluster import NAMESPACE, Cluster, running

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "bench" / "results" / "runtime.json"
LIBRARIES = ("bare", "ours", "kubernetes-asyncio", "lightkube")
PATIENCE = 300.0  # seconds for any one answer of a worker

Measured = dict[str, Any]


class Size(NamedTuple):
    pods: int = 10_000
    updates: int = 5_000
    creates: int = 1_000
    watch_rounds: int = 3
    create_rounds: int = 9


SMALL = Size(pods=500, updates=200, creates=100, watch_rounds=1, create_rounds=3)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.runtime", description=__doc__)
    parser.add_argument("--kubernetes", required=True, type=Path, help="what scripts/kubelab.py prints")
    parser.add_argument("--peers", required=True, help="a Python with requirements/bench.txt")
    parser.add_argument("--small", action="store_true", help="quick, and less exact")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a bound is not held")
    options = parser.parse_args()
    result = asyncio.run(Bench(options.kubernetes, options.peers, SMALL if options.small else Size()).run())
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")
    print(report.table(result))
    return 1 if options.check and not all(bound["held"] for bound in result["bounds"]) else 0


class Bench:
    def __init__(self, kubernetes: Path, python: str, size: Size) -> None:
        self._kubernetes, self._python, self._size = kubernetes.resolve(), python, size
        self._found: dict[str, list[Measured]] = {name: [] for name in LIBRARIES}
        self._libraries: dict[str, Measured] = {}

    async def run(self) -> Measured:
        async with running(self._kubernetes, self._size.pods) as cluster:
            for number in range(self._size.create_rounds):
                for name in in_turn(LIBRARIES, number):
                    await self._create(cluster, name)
            tell(f"filling the server with {self._size.pods} pods")
            pod_bytes = await cluster.fill()
            for number in range(self._size.watch_rounds):
                for name in in_turn(LIBRARIES, number):
                    await self._watch(cluster, name)
            setting = {
                "cores": len(os.sched_getaffinity(0)),
                "kubernetes": cluster.kubernetes(),
                "pod_bytes": pod_bytes,
                **self._size._asdict(),
            }
        return report.result(setting, self._libraries, self._found)

    async def _create(self, cluster: Cluster, name: str) -> None:
        namespace, file = cluster.to_create(self._size.creates)
        async with self._worker(cluster, "create", name, namespace, str(file)) as worker:
            measured = await heard(worker)
        self._keep(name, measured)

    async def _watch(self, cluster: Cluster, name: str) -> None:
        events = self._size.updates
        async with self._worker(cluster, "watch", name, NAMESPACE, str(events)) as worker:
            measured = await heard(worker)
            expected = await cluster.change(events + 1)  # the first one only opens the account
            measured |= await heard(worker)
        ready = measured.pop("ready")
        if ready is None:  # it keeps no pods, so its memory says nothing
            del measured["resident"], measured["peak"]
        elif ready != expected:
            raise SystemExit(f"{name} sees {ready} ready pods, and there are {expected}")
        self._keep(name, measured)

    @contextlib.asynccontextmanager
    async def _worker(
        self, cluster: Cluster, part: str, name: str, namespace: str, what: str
    ) -> AsyncIterator[Process]:
        """Ends with it, however it ends."""
        command = ["-m", "bench.runtime.worker", part, name, str(cluster.kubeconfig), namespace, what]
        home = str(cluster.kubeconfig.parent)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": str(ROOT / "src")}
        process = await asyncio.create_subprocess_exec(
            self._python, *command, stdout=PIPE, cwd=ROOT, env=environment
        )
        try:
            self._libraries[name] = await heard(process)
            yield process
            await asyncio.wait_for(process.wait(), PATIENCE)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _keep(self, name: str, measured: Measured) -> None:
        tell(f"{name}: {', '.join(f'{key} {value:.6g}' for key, value in measured.items())}")
        self._found[name].append(measured)


async def heard(worker: Process) -> Measured:
    assert worker.stdout
    line = await asyncio.wait_for(worker.stdout.readline(), PATIENCE)
    if not line:
        raise SystemExit("a worker ended without an answer; what it said is above")
    answer: Measured = json.loads(line)
    return answer


def in_turn(names: Sequence[str], number: int) -> list[str]:
    """Each begins once, and every second round goes backwards: nobody always comes after the same one."""
    first = number % len(names)
    turned = [*names[first:], *names[:first]]
    return turned[::-1] if number % 2 else turned


def tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

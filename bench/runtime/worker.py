"""One library in a process of its own, which is measured by itself.

    worker.py watch LIBRARY KUBECONFIG NAMESPACE EVENTS     fills a cache, says so, follows so many changes
    worker.py create LIBRARY KUBECONFIG NAMESPACE FILE      creates the pods of a file

What it measured goes to standard output, one JSON object a line.
"""

import asyncio
import gc
import importlib
import importlib.metadata
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from bench.runtime.account import IN_FLIGHT, Account, Library

MODULES = {
    "ours": "bench.runtime.ours",
    "kubernetes-asyncio": "bench.runtime.kubernetes_asyncio_",
    "lightkube": "bench.runtime.lightkube_",
    "bare": "bench.runtime.bare",
}


def say(**measured: object) -> None:
    print(json.dumps(measured), flush=True)


def resident() -> int:
    """Bytes in memory, without what only waits to be collected."""
    for _ in range(3):
        gc.collect()
    return memory("VmRSS")


def memory(name: str) -> int:
    """As the kernel counts it; what getrusage says of the highest may be that of the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


async def watch(library: Library, namespace: str, events: int) -> None:
    await library.hello()
    before, began, clock = resident(), time.process_time(), time.perf_counter()
    await library.fill(namespace)
    cpu, seconds = time.process_time() - began, time.perf_counter() - clock
    peak = memory("VmHWM") - before
    say(cpu=cpu, seconds=seconds, resident=resident() - before, peak=peak)
    account = Account(events)
    await library.follow(account)
    say(cpu_per_event=account.cpu / events, ready=library.ready())


async def create(library: Library, namespace: str, bodies: list[dict[str, Any]]) -> None:
    """The first ones open the connections."""
    pods = library.prepare(namespace, bodies)
    await library.hello()
    await library.create(namespace, pods[:IN_FLIGHT])
    began, clock = time.process_time(), time.perf_counter()
    await library.create(namespace, pods[IN_FLIGHT:])
    count, seconds = len(pods) - IN_FLIGHT, time.perf_counter() - clock
    say(rate=count / seconds, cpu_per_create=(time.process_time() - began) / count)


def read(file: str) -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = json.loads(Path(file).read_bytes())
    return bodies


async def main(part: str, name: str, kubeconfig: str, namespace: str, what: str) -> None:
    library: Library = importlib.import_module(MODULES[name]).Library(Path(kubeconfig))
    packages = {package: importlib.metadata.version(package) for package in library.stands_on}
    say(python=platform.python_version(), packages=packages)
    try:
        if part == "watch":
            await watch(library, namespace, int(what))
        else:
            await create(library, namespace, read(what))
    finally:
        await library.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

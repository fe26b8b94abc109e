"""The process above those of a control plane. Started as a program of its own: standard library only.

    keeper.py FOLDER      stdin: one request per line; stdout: one answer per line; all JSON

    {"start": "etcd", "command": [...]}    -> its process id; what it says goes to FOLDER/etcd.log
    {"ask": "etcd"}                        -> its exit code, null while it runs
    {"stop": "etcd"}                       -> its exit code

At the end of stdin, which also comes when whoever started us dies by whatever means, everything is stopped,
the last started first, and FOLDER is removed. It runs in a session of its own: Ctrl-C does not reach it.
"""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

PATIENCE = 10  # seconds between SIGTERM and SIGKILL

Processes = dict[str, subprocess.Popen[bytes]]


def main(folder: Path) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    running: Processes = {}
    try:
        for line in sys.stdin:
            print(json.dumps(obey(json.loads(line), folder, running)), flush=True)  # noqa: T201
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for name in reversed(list(running)):
            stop(running.pop(name))
        shutil.rmtree(folder, ignore_errors=True)


def obey(request: dict[str, Any], folder: Path, running: Processes) -> int | None:
    match request:
        case {"start": str(name), "command": list(command)}:
            running[name] = start(command, folder, name)
            return running[name].pid
        case {"ask": str(name)}:
            return running[name].poll()
        case {"stop": str(name)}:
            return stop(running.pop(name))
    raise ValueError(request)


def start(command: list[str], folder: Path, name: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)


def stop(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

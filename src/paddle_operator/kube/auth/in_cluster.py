"""Access from inside a pod: the service account that the kubelet mounts, and two environment variables."""

from collections.abc import Mapping
from pathlib import Path

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.content import File
from paddle_operator.kube.auth.credentials import Given
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.tls import Tls

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def why_not_in_cluster(environ: Mapping[str, str], folder: Path) -> str:
    """What is missing, or nothing."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        if not environ.get(name):
            return f"{name} is not set"
    if not (folder / "token").exists():
        return f"{folder}/token is not there (is automountServiceAccountToken false?)"
    return ""


def in_cluster(environ: Mapping[str, str], folder: Path = FOLDER) -> Access:
    missing = why_not_in_cluster(environ, folder)
    if missing:
        raise AccessError(f"not in a cluster: {missing}")
    what = "service account"
    tls = Tls(ca=File(folder / "ca.crt", what), what=f"{folder}/ca.crt")
    credentials = Given(token=File(folder / "token", what), what=f"{folder}/token")
    tls.context(credentials.now().certificate)  # what is wrong is said now, not at the first request
    return Access(
        server=_address(environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]),
        tls=tls,
        credentials=credentials,
        origin="the service account of this pod",
        namespace=_namespace(folder / "namespace"),
    )


def _address(host: str, port: str) -> str:
    bare = ":" in host and not host.startswith("[")
    return f"https://[{host}]:{port}" if bare else f"https://{host}:{port}"


def _namespace(file: Path) -> str:
    return file.read_text().strip() if file.exists() else "default"

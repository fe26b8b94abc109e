"""What we and a credential plugin say to each other: ExecCredential of client.authentication.k8s.io.

We ask through the environment (KUBERNETES_EXEC_INFO), it answers on its standard output. The versions v1 and
v1beta1 have the same fields; the answer must come in the version that was asked for.
"""

import base64
from datetime import datetime
from typing import Any

import msgspec

from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.kubeconfig import Cluster

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
EXTENSION = "client.authentication.k8s.io/exec"  # of the cluster: settings that only the plugin understands


class Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""  # PEM, not base64
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: Status | None = None


def cluster_info(cluster: Cluster, *, ca: bytes) -> dict[str, Any]:
    info = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(ca).decode(),
        "proxy-url": cluster.proxy_url,
        "config": next((one.extension for one in cluster.extensions if one.name == EXTENSION), None),
    }
    return {key: value for key, value in info.items() if value}


def question(api_version: str, *, interactive: bool, cluster: dict[str, Any] | None) -> str:
    spec: dict[str, Any] = {"interactive": interactive}
    if cluster is not None:
        spec["cluster"] = cluster
    asked = {"apiVersion": api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(asked).decode()


def parse_answer(output: bytes, *, api_version: str, what: str) -> Status:
    try:
        answer = msgspec.json.decode(output, type=Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise AccessError(f"{what} did not answer with an ExecCredential: {error}") from error
    if (answer.kind, answer.api_version) != ("ExecCredential", api_version):
        raise AccessError(
            f"{what} answered with {answer.kind or 'no kind'} of {answer.api_version or 'no apiVersion'}; "
            f"expected ExecCredential of {api_version}: set apiVersion of the user to what the command speaks"
        )
    return _complete(answer.status, what)


def _complete(status: Status | None, what: str) -> Status:
    if status is None or not (status.token or status.client_certificate_data):
        raise AccessError(f"{what} gave neither a token nor a client certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise AccessError(f"{what} gave only one of clientCertificateData and clientKeyData")
    expires = status.expiration_timestamp
    if expires and expires.tzinfo is None:
        raise AccessError(f"{what} gave an expirationTimestamp without a time zone: {expires.isoformat()}")
    return status

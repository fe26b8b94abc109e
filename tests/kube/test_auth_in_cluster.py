"""Access from inside a pod, with the files where the kubelet puts them."""

import os
from pathlib import Path

import pytest

from paddle_operator.kube.auth.credentials import Given
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.in_cluster import in_cluster
from support.http_certificates import papers

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As a mounted secret looks: links to a folder that is exchanged as a whole."""
    (tmp_path / "..1").mkdir()
    (tmp_path / "..1" / "token").write_text("first\n")
    (tmp_path / "..1" / "ca.crt").write_bytes(papers().authority.certificate.read_bytes())
    (tmp_path / "..1" / "namespace").write_text("team")
    (tmp_path / "..data").symlink_to("..1")
    for name in ("token", "ca.crt", "namespace"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    return tmp_path


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("10.96.0.1", "https://10.96.0.1:443"),
        ("fd00::1", "https://[fd00::1]:443"),
        ("[fd00::1]", "https://[fd00::1]:443"),
        ("kubernetes.default.svc", "https://kubernetes.default.svc:443"),
    ],
)
def test_the_address_is_made_of_the_environment(folder: Path, host: str, want: str) -> None:
    assert in_cluster({**ENVIRON, "KUBERNETES_SERVICE_HOST": host}, folder).server == want


def test_namespace_authority_and_token_are_those_of_the_service_account(folder: Path) -> None:
    access = in_cluster(ENVIRON, folder)
    assert access.namespace == "team"
    assert access.tls.ca is not None
    assert access.tls.ca.read() == papers().authority.certificate.read_bytes()
    assert isinstance(access.credentials, Given)
    assert access.credentials.now().headers == (("Authorization", "Bearer first"),)


@pytest.mark.asyncio
async def test_the_token_is_read_again_when_the_kubelet_exchanges_it(folder: Path) -> None:
    access = in_cluster(ENVIRON, folder)
    (folder / "..2").mkdir()
    (folder / "..2" / "token").write_text("other\n")
    (folder / "..new").symlink_to("..2")
    (folder / "..new").replace(folder / "..data")
    assert (await access.credentials.identity()).headers == (("Authorization", "Bearer other"),)


@pytest.mark.asyncio
async def test_while_the_token_is_away_or_empty_the_last_one_counts(folder: Path) -> None:
    access = in_cluster(ENVIRON, folder)
    token = folder / "..1" / "token"
    token.write_text("")
    assert (await access.credentials.identity()).headers == (("Authorization", "Bearer first"),)
    token.unlink()
    assert (await access.credentials.identity()).headers == (("Authorization", "Bearer first"),)


@pytest.mark.asyncio
async def test_a_refused_token_is_worth_another_try_only_if_the_file_has_another(folder: Path) -> None:
    access = in_cluster(ENVIRON, folder)
    refused = await access.credentials.identity()
    assert not await access.credentials.refresh(refused)
    (folder / "..1" / "token").write_text("other\n")
    assert await access.credentials.refresh(refused)


@pytest.mark.asyncio
async def test_a_refused_token_is_looked_at_again_though_its_file_seems_unchanged(folder: Path) -> None:
    access, token = in_cluster(ENVIRON, folder), folder / "..1" / "token"
    refused, stat = await access.credentials.identity(), token.stat()
    token.write_text("other\n")
    os.utime(
        token, ns=(stat.st_atime_ns, stat.st_mtime_ns)
    )  # as two writes within one tick of a coarse clock
    assert await access.credentials.refresh(refused)


@pytest.mark.parametrize("name", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
def test_outside_of_a_cluster_it_says_what_is_missing(folder: Path, name: str) -> None:
    with pytest.raises(AccessError, match=f"not in a cluster: {name} is not set"):
        in_cluster({**ENVIRON, name: ""}, folder)


def test_a_pod_without_a_token_is_told_why(folder: Path) -> None:
    (folder / "token").unlink()
    with pytest.raises(AccessError, match="automountServiceAccountToken"):
        in_cluster(ENVIRON, folder)


def test_a_pod_without_an_authority_is_not_silently_trusting(folder: Path) -> None:
    (folder / "ca.crt").unlink()
    with pytest.raises(AccessError, match=r"ca\.crt: No such file"):
        in_cluster(ENVIRON, folder)


def test_an_authority_that_is_none_is_refused(folder: Path) -> None:
    (folder / "..1" / "ca.crt").write_text("hello")
    with pytest.raises(AccessError, match="not a PEM certificate"):
        in_cluster(ENVIRON, folder)


def test_without_a_namespace_file_it_is_default(folder: Path) -> None:
    (folder / "namespace").unlink()
    assert in_cluster(ENVIRON, folder).namespace == "default"

"""What a kubeconfig means: merged as kubectl does it, and refused with a sentence where it means nothing."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.credentials import Given, Identity
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.kubeconfig import read_kubeconfig
from paddle_operator.kube.auth.kubeconfig_access import access_from
from support.http_certificates import papers

SERVER = "https://10.0.0.1:6443"


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def config(
    *, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **context: str
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "main",
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "main", "context": {"cluster": "c", "user": "u", **context}}],
    }


def write(file: Path, document: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return file


def load(*files: Path, context: str = "") -> Access:
    return access_from(read_kubeconfig(files), context)


def identity(access: Access) -> Identity:
    assert isinstance(access.credentials, Given)
    return access.credentials.now()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config"


def refused(file: Path, document: Any, context: str = "") -> str:
    with pytest.raises(AccessError) as caught:
        load(write(file, document), context=context)
    assert str(file) in str(caught.value)
    return str(caught.value)


def test_the_current_context_says_where_and_who(file: Path) -> None:
    access = load(write(file, config(user={"token": "t"}, namespace="team")))
    assert (access.server, access.namespace) == (SERVER, "team")
    assert identity(access).headers == (("Authorization", "Bearer t"),)


def test_a_context_that_is_named_counts_more_than_the_current_one(file: Path) -> None:
    document = config()
    document["clusters"].append({"name": "c2", "cluster": {"server": "https://other"}})
    document["contexts"].append({"name": "a/b:c", "context": {"cluster": "c2"}})
    access = load(write(file, document), context="a/b:c")
    assert (access.server, access.namespace) == ("https://other", "default")
    assert identity(access) == Identity()


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"username": "me", "password": "p:w"}, f"Basic {b64(b'me:p:w')}"),
        ({"token": " t\n"}, "Bearer t"),
        ({"token": "t", "exec": {"command": "no-such-command", "apiVersion": "?"}}, "Bearer t"),
    ],
    ids=["name and password", "token with a newline", "token instead of a command"],
)
def test_who_we_are_becomes_a_header(file: Path, user: dict[str, Any], header: str) -> None:
    access = load(write(file, config(user=user)))
    assert identity(access).headers == (("Authorization", header),)


def test_a_token_file_counts_more_than_a_token_and_is_read_again(file: Path) -> None:
    token = write(file.parent / "token", "first\n")
    access = load(write(file, config(user={"token": "t", "tokenFile": "token"})))
    assert identity(access).headers == (("Authorization", "Bearer first"),)
    write(token, "second-one\n")
    assert identity(access).headers == (("Authorization", "Bearer second-one"),)


def test_impersonation_is_not_dropped_in_silence(file: Path) -> None:
    user = {"token": "t", "as": "jane", "as-groups": ["a", "b"], "as-user-extra": {"scope": ["x"]}}
    assert identity(load(write(file, config(user=user)))).headers[1:] == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-scope", "x"),
    )


def test_certificates_may_stand_in_place(file: Path) -> None:
    client, ca = papers().client, papers().authority.certificate
    user = {
        "client-certificate-data": b64(client.certificate.read_bytes()),
        "client-key-data": b64(client.key.read_bytes()),
    }
    access = load(
        write(file, config(user=user, cluster={"certificate-authority-data": b64(ca.read_bytes())}))
    )
    shown = identity(access).certificate
    assert shown is not None
    assert (shown.chain, shown.key) == (client.certificate.read_bytes(), client.key.read_bytes())
    assert access.tls.ca is not None
    assert access.tls.ca.read() == ca.read_bytes()


def test_certificates_may_stand_in_files_beside_the_kubeconfig(file: Path) -> None:
    client, ca = papers().client, papers().authority.certificate
    for name, source in (("pem", client.certificate), ("key", client.key), ("ca", ca)):
        write(file.parent / "pki" / name, source.read_text())
    user = {"client-certificate": "pki/pem", "client-key": "./pki/key"}
    access = load(write(file, config(user=user, cluster={"certificate-authority": "pki/ca"})))
    shown = identity(access).certificate
    assert shown is not None
    assert shown.key == client.key.read_bytes()
    assert access.tls.ca is not None
    assert access.tls.ca.read() == ca.read_bytes()


def test_data_counts_more_than_a_file(file: Path) -> None:
    ca = papers().authority.certificate
    cluster = {"certificate-authority-data": b64(ca.read_bytes()), "certificate-authority": "no-such-file"}
    access = load(write(file, config(cluster=cluster)))
    assert access.tls.ca is not None
    assert access.tls.ca.read() == ca.read_bytes()


def test_what_a_cluster_says_of_tls_and_proxy_is_kept(file: Path) -> None:
    cluster = {"insecure-skip-tls-verify": True, "tls-server-name": "n", "proxy-url": "http://p:3128"}
    access = load(write(file, config(cluster=cluster)))
    assert (access.tls.insecure, access.tls.server_name, access.proxy) == (True, "n", "http://p:3128")


def test_null_is_nothing_and_what_we_do_not_know_is_left_alone(file: Path) -> None:
    document = config(user={"token": "t", "username": None, "auth-provider": None})
    document |= {"preferences": {}, "extensions": None, "x-new": [1]}
    assert load(write(file, document)).server == SERVER


def test_of_several_files_the_first_wins_each_name_whole(tmp_path: Path) -> None:
    first = {"users": [{"name": "u", "user": {"token": "first"}}]}
    second = config(user={"token": "second", "as": "jane"})
    access = load(write(tmp_path / "1", first), write(tmp_path / "2", second))
    assert identity(access).headers == (("Authorization", "Bearer first"),)


def test_the_first_file_that_has_a_current_context_sets_it(tmp_path: Path) -> None:
    first = write(tmp_path / "1", {"current-context": "", "contexts": []})
    second = write(tmp_path / "2", config(namespace="two"))
    third = write(tmp_path / "3", {**config(namespace="three"), "current-context": "other"})
    assert load(first, second, third).namespace == "two"


def test_a_path_is_relative_to_the_file_it_stands_in(tmp_path: Path) -> None:
    write(tmp_path / "b" / "token", "of-b")
    user = {"name": "u", "user": {"tokenFile": "token"}}
    first = config()
    del first["users"]
    access = load(
        write(tmp_path / "a" / "config", first), write(tmp_path / "b" / "config", {"users": [user]})
    )
    assert identity(access).headers == (("Authorization", "Bearer of-b"),)


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ({"current-context": ""}, "no current-context; choose one of its contexts: main"),
        ({"current-context": "gone"}, "no context 'gone'; there are: main"),
        ({"clusters": []}, "names cluster 'c', which is not there; there are: none"),
        ({"users": [{"name": "v"}]}, "names user 'u', which is not there; there are: v"),
        ({"clusters": {"c": {}}}, "not a kubeconfig: Expected `array`, got `object` - at `$.clusters`"),
    ],
)
def test_a_name_that_leads_nowhere_is_named(file: Path, change: dict[str, Any], want: str) -> None:
    assert want in refused(file, {**config(), **change})


@pytest.mark.parametrize(
    ("cluster", "want"),
    [
        ({"server": ""}, "cluster 'c': server: expected https://HOST:PORT, got ''"),
        ({"server": "10.0.0.1:6443"}, "got '10.0.0.1:6443'"),
        ({"server": "https://host:port"}, "got 'https://host:port'"),
        ({"proxy-url": "socks5://p:1"}, "proxy-url: expected http://HOST:PORT"),
        ({"certificate-authority": "gone"}, "/gone: No such file or directory"),
        ({"certificate-authority-data": "%%%"}, "certificate-authority-data: is not base64"),
        ({"certificate-authority-data": b64(b"no")}, "cluster 'c': the certificate authority is not a PEM"),
        (
            {"certificate-authority-data": b64(b"x"), "insecure-skip-tls-verify": True},
            "contradict each other",
        ),
        ({"insecure-skip-tls-verify": "yes"}, "Expected `bool`, got `str`"),
    ],
)
def test_a_cluster_that_cannot_be_reached_so_is_refused(
    file: Path, cluster: dict[str, Any], want: str
) -> None:
    assert want in refused(file, config(cluster=cluster))


@pytest.mark.parametrize(
    ("user", "want"),
    [
        ({"client-certificate-data": b64(b"x")}, "client-key is missing"),
        ({"client-key-data": b64(b"x")}, "client-certificate is missing"),
        (
            {"client-certificate-data": b64(b"x"), "client-key-data": b64(b"x")},
            "user 'u': the client certificate cannot be used",
        ),
        ({"tokenFile": "gone"}, "tokenFile: "),
        ({"tokenFile": "empty"}, "is empty"),
        ({"token": "two words"}, "characters that no token has"),
        ({"token": "line\nHeader:x"}, "characters that no token has"),
        ({"token": 12345}, "Expected `str`, got `int`"),
        ({"token": "t", "username": "u"}, "only one of them can be sent"),
        ({"auth-provider": {"name": "oidc"}}, "auth-provider 'oidc' is not supported"),
        ({"as-groups": ["admins"]}, "need `as`"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, "exec has no command"),
    ],
)
def test_a_user_that_cannot_be_is_refused(file: Path, user: dict[str, Any], want: str) -> None:
    write(file.parent / "empty", "\n")
    assert want in refused(file, config(user=user))


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_a_password(file: Path) -> None:
    client = papers().client
    user = {
        "client-certificate": str(client.certificate),
        "client-key": str(papers().authority.encrypt(client.key)),
    }
    assert "the client key is encrypted" in refused(file, config(user=user))


def test_a_certificate_and_the_key_of_another_are_refused(file: Path) -> None:
    user = {
        "client-certificate": str(papers().client.certificate),
        "client-key": str(papers().other.key),
    }
    assert "belong together" in refused(file, config(user=user))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: [1,\nb: }", ":2:4: not valid YAML"),
        ("- just\n- a list", "not a kubeconfig: Expected `object`, got `array`"),
        ("", "no current-context"),
        ("[" * 200 + "]" * 200, "nested more than 100 levels deep"),
        ("a: \x07", "not valid YAML"),
    ],
    ids=["syntax", "a list", "empty", "deep", "control character"],
)
def test_a_file_that_is_no_kubeconfig_is_refused(file: Path, text: str, want: str) -> None:
    assert want in refused(file, text)


def test_a_file_that_is_not_text_is_refused(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AccessError, match="not valid YAML"):
        load(file)


def test_a_file_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(AccessError, match="No such file or directory"):
        load(file)

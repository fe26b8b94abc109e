"""Credentials from a command: asked as the protocol says, kept while good, explained when they fail."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddle_operator.kube.auth import exec_plugin
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.exec_plugin import ExecCredentials
from paddle_operator.kube.auth.kubeconfig import Exec, Variable, read_kubeconfig
from paddle_operator.kube.auth.kubeconfig_access import access_from
from support.api import Clock

V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"


class Command:
    """A program that notes how it was called, then does what a test says."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "login"
        self.answers({"token": "t"})

    def does(self, code: str) -> None:
        calls = self.folder / "calls"
        self.path.write_text(
            f"#!{sys.executable}\nimport json, os, sys, time\n"
            f"with open({str(calls)!r}, 'a') as file:\n"
            "    file.write(json.dumps([sys.argv[1:], dict(os.environ)]) + '\\n')\n"
            f"{code}\n"
        )
        self.path.chmod(0o755)

    def answers(self, status: Any, *, version: str = V1, kind: str = "ExecCredential") -> None:
        self.does(f"print({json.dumps({'apiVersion': version, 'kind': kind, 'status': status})!r})")

    @property
    def calls(self) -> list[tuple[list[str], dict[str, str]]]:
        calls = self.folder / "calls"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def credentials(self, now: Callable[[], datetime] | None = None, **spec: Any) -> ExecCredentials:
        return ExecCredentials(
            self.spec(**spec), folder=self.folder, what="config: user 'u'", now=now or Clock(), patience=30
        )

    def spec(self, **spec: Any) -> Exec:
        return Exec(**{"api_version": V1, "command": "./login", "interactive_mode": "Never"} | spec)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


async def failure(credentials: ExecCredentials) -> str:
    with pytest.raises(AccessError) as caught:
        await credentials.identity()
    assert "config: user 'u': the command './login'" in str(caught.value)
    return str(caught.value)


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_the_token_it_prints_is_ours(command: Command, version: str) -> None:
    command.answers({"token": "t"}, version=version)
    identity = await command.credentials(api_version=version).identity()
    assert identity.headers == (("Authorization", "Bearer t"),)


@pytest.mark.asyncio
async def test_the_certificate_it_prints_is_ours(command: Command) -> None:
    command.answers({"clientCertificateData": "chain", "clientKeyData": "key"})
    identity = await command.credentials().identity()
    assert identity.headers == ()
    assert identity.certificate is not None
    assert (identity.certificate.chain, identity.certificate.key) == (b"chain", b"key")


@pytest.mark.asyncio
async def test_it_gets_its_arguments_its_environment_and_ours(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "1")
    await command.credentials(args=["a", "b c"], env=[Variable("THEIRS", "2")]).identity()
    ((args, env),) = command.calls
    assert (args, env["OURS"], env["THEIRS"]) == (["a", "b c"], "1", "2")
    asked = {"apiVersion": V1, "kind": "ExecCredential", "spec": {"interactive": False}}
    assert json.loads(env["KUBERNETES_EXEC_INFO"]) == asked


@pytest.mark.asyncio
async def test_it_is_told_of_the_cluster_where_the_kubeconfig_wants_it(command: Command) -> None:
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {"server": "https://h:1", "tls-server-name": "n", "extensions": [extension]}
    spec = {"apiVersion": V1, "command": "./login", "interactiveMode": "Never", "provideClusterInfo": True}
    config = command.folder / "config"
    document = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"exec": spec, "as": "jane"}}],
    }
    config.write_bytes(msgspec.json.encode(document))
    identity = await access_from(read_kubeconfig([config])).credentials.identity()
    assert identity.headers == (("Authorization", "Bearer t"), ("Impersonate-User", "jane"))
    asked = json.loads(command.calls[0][1]["KUBERNETES_EXEC_INFO"])
    want = {"server": "https://h:1", "tls-server-name": "n", "config": {"audience": "x"}}
    assert asked["spec"]["cluster"] == want


@pytest.mark.asyncio
async def test_a_bare_name_is_looked_up_in_the_path(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(command.folder), prepend=os.pathsep)
    await command.credentials(command="login").identity()
    assert len(command.calls) == 1


@pytest.mark.asyncio
async def test_it_runs_once_however_many_ask(command: Command) -> None:
    credentials = command.credentials()
    await asyncio.gather(*(credentials.identity() for _ in range(10)))
    assert len(command.calls) == 1


@pytest.mark.asyncio
async def test_it_runs_again_a_minute_before_what_it_gave_expires(command: Command) -> None:
    clock = Clock()
    expires = (clock() + timedelta(seconds=600)).strftime("%Y-%m-%dT%H:%M:%SZ")
    command.answers({"token": "t", "expirationTimestamp": expires})
    credentials = command.credentials(clock)
    await credentials.identity()
    clock.forward(539)
    await credentials.identity()
    assert len(command.calls) == 1
    clock.forward(1)
    await credentials.identity()
    assert len(command.calls) == 2


@pytest.mark.asyncio
async def test_what_never_expires_is_kept(command: Command) -> None:
    clock = Clock()
    credentials = command.credentials(clock)
    first = await credentials.identity()
    clock.forward(10 * 365 * 86400)
    assert await credentials.identity() is first


@pytest.mark.asyncio
async def test_it_runs_again_once_when_many_were_refused(command: Command) -> None:
    credentials = command.credentials()
    refused = await credentials.identity()
    command.answers({"token": "new"})
    assert await credentials.refresh(refused)
    assert (await credentials.identity()).headers == (("Authorization", "Bearer new"),)
    assert await credentials.refresh(refused)
    await credentials.identity()
    assert len(command.calls) == 2


@pytest.mark.asyncio
async def test_a_failure_says_what_the_command_said_and_how_to_get_it(command: Command) -> None:
    command.does("sys.exit('not logged in')")
    said = await failure(command.credentials(install_hint="run: login first"))
    assert said.endswith("failed with exit code 1: not logged in; run: login first")


@pytest.mark.asyncio
async def test_after_a_failure_it_is_asked_again(command: Command) -> None:
    command.does("sys.exit(1)")
    credentials = command.credentials()
    assert "it said nothing" in await failure(credentials)
    command.answers({"token": "t"})
    assert (await credentials.identity()).headers == (("Authorization", "Bearer t"),)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("code", "want"),
    [
        ("print('hello')", "did not answer with an ExecCredential"),
        ("pass", "did not answer with an ExecCredential"),
        ("print('{}')", "answered with no kind of no apiVersion; expected ExecCredential of " + V1),
    ],
)
async def test_an_answer_that_is_none_is_refused(command: Command, code: str, want: str) -> None:
    command.does(code)
    assert want in await failure(command.credentials())


@pytest.mark.asyncio
async def test_an_answer_in_another_version_is_refused_with_both_named(command: Command) -> None:
    command.answers({"token": "t"}, version=V1BETA1)
    said = await failure(command.credentials())
    assert f"answered with ExecCredential of {V1BETA1}; expected ExecCredential of {V1}: set" in said


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("status", "want"),
    [
        (None, "neither a token nor a client certificate"),
        ({"token": ""}, "neither a token nor a client certificate"),
        ({"clientCertificateData": "x"}, "only one of"),
        ({"token": "t", "clientKeyData": "x"}, "only one of"),
        ({"token": "t", "expirationTimestamp": "soon"}, "did not answer with an ExecCredential"),
        ({"token": "t", "expirationTimestamp": "2026-01-01T00:00:00"}, "without a time zone"),
    ],
)
async def test_an_answer_that_is_incomplete_is_refused(command: Command, status: Any, want: str) -> None:
    command.answers(status)
    assert want in await failure(command.credentials())


@pytest.mark.asyncio
async def test_a_command_that_takes_too_long_is_a_failure(command: Command) -> None:
    command.does("time.sleep(30)")
    credentials = ExecCredentials(
        command.spec(), folder=command.folder, what="config: user 'u'", patience=0.1
    )
    assert "gave no answer within 0.1 s" in await failure(credentials)


@pytest.mark.asyncio
@pytest.mark.parametrize("when", ["while it starts", "while it runs"])
async def test_a_command_nobody_waits_for_any_more_is_ended_with_its_children(
    command: Command, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    may_go_on, start = asyncio.Event(), asyncio.create_subprocess_exec

    async def start_slowly(*args: Any, **kwargs: Any) -> Process:
        process = await start(*args, **kwargs)
        await may_go_on.wait()
        return process

    pipe = command.folder / "pipe"
    os.mkfifo(pipe)
    command.does(f"import subprocess; subprocess.run(['sh', '-c', 'exec 3>{pipe}; echo x >&3; sleep 30'])")
    if when == "while it starts":
        monkeypatch.setattr(asyncio, "create_subprocess_exec", start_slowly)
    asking = asyncio.create_task(command.credentials().identity())
    with await asyncio.to_thread(pipe.open, "rb") as reader:
        assert await asyncio.to_thread(reader.readline) == b"x\n"
        asking.cancel()
        await asyncio.sleep(0)
        may_go_on.set()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        async with asyncio.timeout(10):
            assert await asyncio.to_thread(reader.read) == b""  # its end: nobody holds it any more


@pytest.mark.parametrize("name", ["./no-such", "no-such-command-anywhere"])
def test_a_command_that_is_not_there_is_named_with_its_hint(command: Command, name: str) -> None:
    with pytest.raises(AccessError, match=f"{name}' is not there.*; get it from example.org"):
        command.credentials(command=name, install_hint="get it from example.org\n")


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"command": ""}, "exec has no command"),
        ({"api_version": "client.authentication.k8s.io/v1alpha1"}, f"expected {V1} or {V1BETA1}"),
        ({"interactive_mode": ""}, "expected one of Never, IfAvailable, Always"),
        ({"interactive_mode": "Sometimes"}, "interactiveMode 'Sometimes'"),
        ({"interactive_mode": "Always"}, "there is no terminal"),
    ],
)
def test_a_command_that_cannot_be_asked_is_refused(
    command: Command, monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any], want: str
) -> None:
    monkeypatch.setattr(exec_plugin, "_terminal", lambda: False)
    with pytest.raises(AccessError, match=want):
        command.credentials(**spec)


def test_v1beta1_may_leave_the_interactive_mode_out(command: Command) -> None:
    assert command.credentials(api_version=V1BETA1, interactive_mode="")


@pytest.mark.asyncio
async def test_at_a_terminal_the_command_is_told_that_it_may_ask(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_plugin, "_terminal", lambda: True)
    await command.credentials(interactive_mode="IfAvailable").identity()
    asked = json.loads(command.calls[0][1]["KUBERNETES_EXEC_INFO"])
    assert asked["spec"]["interactive"] is True


def test_the_clock_of_expiry_is_utc() -> None:
    assert exec_plugin._now().tzinfo is UTC

"""Kubeconfig files: their types, and how several become one.

As kubectl does it: the first file that has an entry of a name wins the whole entry, the first that names a
current context wins that. Each entry remembers its file, because its paths are relative to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import yaml

from paddle_operator.kube.auth.errors import AccessError

DEEPEST = 100  # levels; the C loader answers too deep a document by crashing


class _Kebab(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    pass


class Extension(msgspec.Struct, frozen=True):
    name: str
    extension: Any = None


class Cluster(_Kebab, frozen=True):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: list[Extension] = []


class Variable(msgspec.Struct, frozen=True):
    name: str
    value: str


class Exec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = ""
    command: str = ""
    args: list[str] = []
    env: list[Variable] = []
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class User(_Kebab, frozen=True):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: Exec | None = None
    auth_provider: dict[str, Any] = {}
    as_: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: list[str] = []
    as_user_extra: dict[str, list[str]] = {}


class Context(_Kebab, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(_Kebab, frozen=True):
    name: str
    cluster: Cluster = Cluster()


class _NamedUser(_Kebab, frozen=True):
    name: str
    user: User = User()


class _NamedContext(_Kebab, frozen=True):
    name: str
    context: Context = Context()


class _File(_Kebab, frozen=True):
    current_context: str = ""
    clusters: list[_NamedCluster] = []
    users: list[_NamedUser] = []
    contexts: list[_NamedContext] = []


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    name: str
    file: Path
    value: T

    def path(self, text: str) -> Path:
        return self.file.parent / text


@dataclass(slots=True)
class Kubeconfig:
    files: tuple[Path, ...]
    current_context: str = ""
    clusters: dict[str, Entry[Cluster]] = field(default_factory=dict)
    users: dict[str, Entry[User]] = field(default_factory=dict)
    contexts: dict[str, Entry[Context]] = field(default_factory=dict)


def read_kubeconfig(files: Iterable[Path]) -> Kubeconfig:
    merged = Kubeconfig(tuple(files))
    for file in merged.files:
        _merge(merged, file.absolute(), _read(file))
    return merged


def _merge(merged: Kubeconfig, file: Path, one: _File) -> None:
    merged.current_context = merged.current_context or one.current_context
    for cluster in one.clusters:
        merged.clusters.setdefault(cluster.name, Entry(cluster.name, file, cluster.cluster))
    for user in one.users:
        merged.users.setdefault(user.name, Entry(user.name, file, user.user))
    for context in one.contexts:
        merged.contexts.setdefault(context.name, Entry(context.name, file, context.context))


def _read(file: Path) -> _File:
    try:
        text = file.read_text(encoding="utf-8")
        _check_depth(text)
        document = yaml.load(text, Loader=yaml.CSafeLoader)
        return msgspec.convert(_without_nulls(document or {}), _File)
    except OSError as error:
        raise AccessError(f"{file}: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else str(file)
        raise AccessError(f"{where}: not valid YAML: {error.problem or error.context}") from error
    except msgspec.ValidationError as error:
        raise AccessError(f"{file}: not a kubeconfig: {error}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise AccessError(f"{file}: not valid YAML: {error}") from error


def _check_depth(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"nested more than {DEEPEST} levels deep")


def _without_nulls(value: Any) -> Any:
    """Tools write `token: null`, and mean that there is none."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value

"""The environment of a container, put together as the kubelet does it.

Image, then `envFrom` in order, then `env` in order; later wins. `$(NAME)` is replaced only where NAME was set
by an earlier entry of `env`: what `envFrom` brought is not seen, here as there.
"""

import re
from collections.abc import Mapping

from paddle_operator.local.runner.pods import ConfigMap, Container, EnvVar, Pod

_REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")
_MAP_PATH = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


class NotReadyError(Exception):
    """Something the container's configuration names does not exist; the kubelet would wait for it."""


def resolve_env(
    pod: Pod, container: Container, *, ip: str, config_maps: Mapping[str, ConfigMap]
) -> dict[str, str]:
    env: dict[str, str] = {}
    for source in container.env_from:
        if source.config_map_ref:
            data = _config_map(source.config_map_ref.name, source.config_map_ref.optional, config_maps)
            env |= {f"{source.prefix}{key}": value for key, value in data.items()}
    own: dict[str, str] = {}
    for entry in container.env:
        value = _value(entry, pod, ip, own, config_maps)
        if value is not None:
            own[entry.name] = value
    return env | own


def expand(text: str, env: Mapping[str, str]) -> str:
    """`$(A)` is replaced where A is known and stays where it is not; `$$` is one `$`."""

    def one(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        return env.get(match[2], match[0])

    return _REFERENCE.sub(one, text)


def names_of_config_maps(container: Container) -> set[str]:
    sources = {source.config_map_ref.name for source in container.env_from if source.config_map_ref}
    keys = {
        entry.value_from.config_map_key_ref.name
        for entry in container.env
        if entry.value_from and entry.value_from.config_map_key_ref
    }
    return sources | keys


def field(pod: Pod, path: str, ip: str) -> str:
    """The downward API: a field of the pod as text."""
    meta = pod.metadata
    if match := _MAP_PATH.fullmatch(path):
        return (meta.labels if match[1] == "labels" else meta.annotations).get(match[2], "")
    known = {
        "metadata.name": meta.name,
        "metadata.namespace": meta.namespace,
        "metadata.uid": meta.uid,
        "spec.nodeName": pod.spec.node_name,
        "spec.serviceAccountName": pod.spec.service_account_name,
        "status.podIP": ip,
        "status.podIPs": ip,
        "status.hostIP": ip,
        "status.hostIPs": ip,
    }
    if path not in known:
        raise NotReadyError(f"fieldPath {path} is not a field that can be read; known are {', '.join(known)}")
    return known[path]


def _value(
    entry: EnvVar, pod: Pod, ip: str, own: Mapping[str, str], config_maps: Mapping[str, ConfigMap]
) -> str | None:
    source = entry.value_from
    if source and source.field_ref:
        return field(pod, source.field_ref.field_path, ip)
    if source and source.config_map_key_ref:
        ref = source.config_map_key_ref
        data = _config_map(ref.name, ref.optional, config_maps)
        if ref.key not in data and not ref.optional:
            raise NotReadyError(f'configmap "{ref.name}" has no key "{ref.key}"')
        return data.get(ref.key)
    return expand(entry.value, own)


def _config_map(name: str, optional: bool, config_maps: Mapping[str, ConfigMap]) -> dict[str, str]:
    if name in config_maps:
        return config_maps[name].data
    if optional:
        return {}
    raise NotReadyError(f'configmap "{name}" not found')

"""From a path to what it names."""

from collections.abc import Iterable
from dataclasses import dataclass

from paddle_operator.local.apiserver.kinds import Kind
from paddle_operator.local.apiserver.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Target:
    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def find(kinds: Iterable[Kind], path: str) -> Target:
    """`ROOT[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]`."""
    for kind in kinds:
        if path.startswith(f"{kind.root}/"):
            target = _within(kind, path.removeprefix(f"{kind.root}/").split("/"))
            if target:
                return target
    raise Refusal(404, "NotFound", f"the server could not find the requested resource: {path}")


def _within(kind: Kind, parts: list[str]) -> Target | None:
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    name, subresource, *more = [*parts[1:], "", ""]
    known = subresource in ("", "status" if kind.has_status else "")
    return (
        Target(kind, namespace, name, subresource)
        if parts[0] == kind.plural and known and not any(more)
        else None
    )

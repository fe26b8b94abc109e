"""Structural schemas, as a CustomResourceDefinition carries them: prune, default, check.

In this order, as the real server does it: fields the schema does not know are dropped, nulls too, then
defaults are set, and what is left is checked. `x-kubernetes-preserve-unknown-fields` keeps what stands below
it.
"""

import re
from collections.abc import Iterator
from typing import Any

from paddle_operator.local.apiserver.kinds import Cause

Schema = dict[str, Any]

_ROOT = ("apiVersion", "kind", "metadata")  # every object has them, whatever its schema says
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def prepared(obj: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """The object as it is stored: pruned, with defaults."""
    known = {**schema, "properties": {**schema.get("properties", {}), **dict.fromkeys(_ROOT, _ANYTHING)}}
    result: dict[str, Any] = _prepare(obj, known)
    return result


def violations(obj: dict[str, Any], schema: Schema) -> list[Cause]:
    return list(_check(obj, schema, ""))


def unknown_fields(obj: dict[str, Any], schema: Schema) -> list[str]:
    """The paths of fields that `prepared` drops: what a client that asks for strictness is told of."""
    return list(_unknown(obj, prepared(obj, schema), ""))


def _unknown(value: Any, kept: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(kept, dict):
        for key, inner in value.items():
            if key in kept:
                yield from _unknown(inner, kept[key], _join(path, key))
            elif inner is not None:
                yield _join(path, key)
    elif isinstance(value, list) and isinstance(kept, list):
        for number, (inner, left) in enumerate(zip(value, kept, strict=True)):
            yield from _unknown(inner, left, f"{path}[{number}]")


_ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}


def _prepare(value: Any, schema: Schema) -> Any:
    if isinstance(value, dict):  # also in the place of a list: its keys are unknown fields first
        return _prepare_object(value, schema)
    if isinstance(value, list) and "items" in schema:
        return [_prepare(item, schema["items"]) for item in value]
    return value


def _prepare_object(value: dict[str, Any], schema: Schema) -> dict[str, Any]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties")
    result: dict[str, Any] = {}
    for key, inner in value.items():
        below = properties.get(key, others)
        if isinstance(below, dict):
            if inner is not None or below.get("nullable") or below is _ANYTHING:
                result[key] = _prepare(inner, below)
        elif below or schema.get("x-kubernetes-preserve-unknown-fields"):
            result[key] = inner
    for key, below in properties.items():
        if key not in result and "default" in below:
            result[key] = below["default"]
    return result


def _check(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    wanted = schema.get("type")
    if value is None and schema.get("nullable"):
        return
    if wanted and not _is(value, wanted):
        shown = "null" if value is None else _type_of(value)
        yield Cause(path, f'Invalid value: "{shown}": {path} in body must be of type {wanted}: "{shown}"')
        return
    if "enum" in schema and value not in schema["enum"]:
        values = ", ".join(f'"{one}"' for one in schema["enum"])
        yield Cause(path, f'Unsupported value: "{value}": supported values: {values}')
    yield from _check_sizes(value, schema, path)
    if isinstance(value, dict):
        yield from _check_object(value, schema, path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _check(item, schema.get("items", {}), f"{path}[{number}]")


def _check_object(value: dict[str, Any], schema: Schema, path: str) -> Iterator[Cause]:
    for key in schema.get("required", ()):
        if key not in value:
            yield Cause(_join(path, key), "Required value")
    properties, others = schema.get("properties", {}), schema.get("additionalProperties")
    for key, inner in value.items():
        below = properties.get(key, others)
        if isinstance(below, dict) and not (path == "" and key in _ROOT):
            yield from _check(inner, below, _join(path, key))


def _check_sizes(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            limit = schema["minimum"]
            yield Cause(
                path,
                f"Invalid value: {value}: {path} in body should be greater than or equal to {limit}",
                final=False,
            )
        if value > schema.get("maximum", value):
            limit = schema["maximum"]
            yield Cause(
                path,
                f"Invalid value: {value}: {path} in body should be less than or equal to {limit}",
                final=False,
            )
    if isinstance(value, str | list | dict):
        yield from _check_length(value, schema, path)
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield Cause(
            path,
            f"Invalid value: \"{value}\": {path} in body should match '{schema['pattern']}'",
            final=False,
        )


def _check_length(value: str | list[Any] | dict[str, Any], schema: Schema, path: str) -> Iterator[Cause]:
    noun = {str: "Length", list: "Items", dict: "Properties"}[type(value)]
    unit = {"Length": "chars long", "Items": "items", "Properties": "properties"}[noun]
    least, most = schema.get(f"min{noun}", 0), schema.get(f"max{noun}", len(value))
    if len(value) < least:
        yield Cause(
            path,
            f"Invalid value: {len(value)}: {path} in body should have at least {least} {unit}",
            final=False,
        )
    if len(value) > most:
        yield Cause(path, f"Too many: {len(value)}: must have at most {most} {unit}")


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES[wanted])


def _type_of(value: Any) -> str:
    return next(name for name, types in _TYPES.items() if _is(value, name) and types)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key

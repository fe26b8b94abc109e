"""From a type to the OpenAPI schema of a CRD, so that the two cannot say different things.

The result is structural, as `apiextensions.k8s.io/v1` wants it: each value has a type, or is kept as it is.
"""

from collections.abc import Callable
from typing import Any

from msgspec import inspect

from paddle_operator.api.base import Open

Schema = dict[str, Any]

KEPT: Schema = {"x-kubernetes-preserve-unknown-fields": True}


def schema_of(type_: type) -> Schema:
    return _schema(inspect.type_info(type_))


def _schema(info: inspect.Type) -> Schema:
    return _WRITERS[type(info)](info)


def _any(_: inspect.AnyType) -> Schema:
    return dict(KEPT)


def _text(info: inspect.StrType) -> Schema:
    return _bounded("string", minLength=info.min_length, pattern=info.pattern)


def _integer(info: inspect.IntType) -> Schema:
    return _bounded("integer", minimum=info.ge, maximum=info.le)


def _enum(info: inspect.EnumType) -> Schema:
    return {"type": "string", "enum": [member.value for member in info.cls]}


def _list(info: inspect.ListType) -> Schema:
    return _bounded("array", minItems=info.min_length) | {"items": _schema(info.item_type)}


def _bounded(type_: str, **bounds: float | str | None) -> Schema:
    return {"type": type_} | {word: value for word, value in bounds.items() if value is not None}


def _struct(info: inspect.StructType) -> Schema:
    schema: Schema = {"type": "object"}
    if required := [field.encode_name for field in info.fields if field.required]:
        schema["required"] = required
    schema["properties"] = {field.encode_name: _schema(field.type) for field in info.fields}
    return schema | (KEPT if issubclass(info.cls, Open) else {})


def _mapping(info: inspect.DictType) -> Schema:
    if isinstance(info.value_type, inspect.AnyType):
        return {"type": "object"} | KEPT
    return {"type": "object", "additionalProperties": _schema(info.value_type)}


def _union(info: inspect.UnionType) -> Schema:
    """What may be absent is just not required. A choice of scalars (a quantity) is left to who reads it."""
    members = [member for member in info.types if not isinstance(member, inspect.NoneType)]
    return _schema(members[0]) if len(members) == 1 else dict(KEPT)


def _annotated(info: inspect.Metadata) -> Schema:
    skeleton = (info.extra or {}).get("skeleton")
    return schema_of(skeleton) if skeleton else _schema(info.type)


_WRITERS: dict[type[inspect.Type], Callable[[Any], Schema]] = {
    inspect.AnyType: _any,
    inspect.StrType: _text,
    inspect.IntType: _integer,
    inspect.EnumType: _enum,
    inspect.ListType: _list,
    inspect.StructType: _struct,
    inspect.DictType: _mapping,
    inspect.UnionType: _union,
    inspect.Metadata: _annotated,
}

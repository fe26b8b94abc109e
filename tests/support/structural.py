"""Would an API server with this schema take this object? The few words of OpenAPI that our CRDs use.

A word that it does not know is an error: a schema that says more than is checked here must not look checked.
"""

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
}
WORDS = {
    "type",
    "properties",
    "additionalProperties",
    "items",
    "required",
    "enum",
    "minimum",
    "maximum",
    "minItems",
    "minLength",
    "pattern",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}


def misfits(raw: Any, schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Paths of what the schema refuses, or would drop."""
    assert set(schema) <= WORDS, set(schema) - WORDS
    if "type" not in schema:
        return
    if not isinstance(raw, TYPES[schema["type"]]) or (isinstance(raw, bool) and schema["type"] != "boolean"):
        yield path
    elif isinstance(raw, dict):
        yield from _object_misfits(raw, schema, path)
    elif isinstance(raw, list):
        if len(raw) < schema.get("minItems", 0):
            yield path
        for number, item in enumerate(raw):
            yield from misfits(item, schema["items"], f"{path}[{number}]")
    elif not _allowed(raw, schema):
        yield path


def _allowed(raw: Any, schema: dict[str, Any]) -> bool:
    if isinstance(raw, str):
        fits = len(raw) >= schema.get("minLength", 0) and re.search(schema.get("pattern", ""), raw)
        return bool(fits) and raw in schema.get("enum", [raw])
    return bool(schema.get("minimum", raw) <= raw <= schema.get("maximum", raw))


def _object_misfits(raw: dict[str, Any], schema: dict[str, Any], path: str) -> Iterator[str]:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties")
    yield from (f"{path}.{name}".lstrip(".") for name in schema.get("required", []) if name not in raw)
    for name, value in raw.items():
        inner = f"{path}.{name}".lstrip(".")
        if name in known or rest:
            yield from misfits(value, known.get(name, rest), inner)
        elif not schema.get("x-kubernetes-preserve-unknown-fields") and path != "metadata":
            yield inner

"""Does a raw document have the shape of a type? All problems at once, each with its path.

`msgspec.convert` stops at its first error and speaks of Python types. A person who wrote YAML wants every
error, in words of YAML, and "did you mean" for a misspelt field; so this walks the raw document beside the
types that `msgspec` knows.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import inspect

from paddle_operator.api.problems import Path, Problem

_EXPECTED: dict[type[inspect.Type], tuple[tuple[type, ...], str]] = {
    inspect.StrType: ((str,), "text"),
    inspect.IntType: ((int,), "a whole number"),
    inspect.BoolType: ((bool,), "true or false"),
}


def check_shape(raw: Any, type_: type) -> list[Problem]:
    return list(_check(raw, inspect.type_info(type_), ()))


def unknown_fields(raw: Any, type_: type) -> list[Problem]:
    """Fields the type does not have. The API server drops them, so only an author wants to hear of them."""
    return list(_unknown(raw, inspect.type_info(type_), ()))


def suggestion(word: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` when something close exists, compared without regard to case."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f" (did you mean {by_lower[close[0]]}?)" if close else ""


def _check(raw: Any, info: inspect.Type, path: Path) -> Iterator[Problem]:
    match info:
        case inspect.UnionType():
            yield from _check_union(raw, info, path)
        case inspect.StructType():
            yield from _check_struct(raw, info, path)
        case inspect.DictType():
            yield from _check_dict(raw, info, path)
        case inspect.ListType():
            yield from _check_list(raw, info, path)
        case inspect.EnumType():
            yield from _check_enum(raw, info, path)
        case inspect.AnyType():
            return
        case _:
            classes, words = _EXPECTED[type(info)]
            if not isinstance(raw, classes) or (isinstance(raw, bool) and bool not in classes):
                yield Problem(path, f"must be {words}, found {describe(raw)}")


def _check_union(raw: Any, info: inspect.UnionType, path: Path) -> Iterator[Problem]:
    if raw is not None:
        (member,) = (kind for kind in info.types if not isinstance(kind, inspect.NoneType))
        yield from _check(raw, member, path)


def _check_struct(raw: Any, info: inspect.StructType, path: Path) -> Iterator[Problem]:
    if not isinstance(raw, Mapping):
        yield Problem(path, f"must be a mapping, found {describe(raw)}")
        return
    fields = {field.encode_name: field for field in info.fields}
    for key, value in raw.items():
        if key not in fields:
            continue
        if value is None and fields[key].required:
            yield Problem((*path, key), "must not be empty")
        elif value is not None:
            yield from _check(value, fields[key].type, (*path, key))
    for name, field in fields.items():
        if field.required and name not in raw:
            yield Problem((*path, name), "is required")


def _unknown(raw: Any, info: inspect.Type, path: Path) -> Iterator[Problem]:
    match info:
        case inspect.UnionType():
            for member in info.types:
                yield from _unknown(raw, member, path)
        case inspect.StructType() if isinstance(raw, Mapping):
            fields = {field.encode_name: field for field in info.fields}
            for key, value in raw.items():
                if key in fields:
                    yield from _unknown(value, fields[key].type, (*path, key))
                else:
                    yield Problem((*path, str(key)), f"unknown field{suggestion(str(key), fields)}")


def _check_dict(raw: Any, info: inspect.DictType, path: Path) -> Iterator[Problem]:
    if not isinstance(raw, Mapping):
        yield Problem(path, f"must be a mapping, found {describe(raw)}")
        return
    for key, value in raw.items():
        yield from _check(value, info.value_type, (*path, str(key)))


def _check_list(raw: Any, info: inspect.ListType, path: Path) -> Iterator[Problem]:
    if isinstance(raw, str) or not isinstance(raw, Sequence):
        yield Problem(path, f"must be a list, found {describe(raw)}")
        return
    for number, item in enumerate(raw):
        yield from _check(item, info.item_type, (*path, number))


def _check_enum(raw: Any, info: inspect.EnumType, path: Path) -> Iterator[Problem]:
    known = [member.value for member in info.cls]
    if raw not in known:
        allowed = ", ".join(value for value in known if value)
        hint = suggestion(raw, known) if isinstance(raw, str) else ""
        yield Problem(path, f"must be one of {allowed}, found {describe(raw)}{hint}")


def describe(raw: Any) -> str:
    """A value as a person would name it in an error message."""
    match raw:
        case None:
            return "nothing"
        case bool():
            return str(raw).lower()
        case int() | float():
            return f"the number {raw}"
        case str():
            return f'the text "{raw}"' if len(raw) <= 40 else f'the text "{raw[:37]}..."'
        case Mapping():
            return "a mapping"
        case _:
            return "a list" if isinstance(raw, Sequence) else f"a {type(raw).__name__}"


def without_nothings(raw: Any) -> Any:
    """The document without fields set to null: to Kubernetes a null field is an absent one."""
    if isinstance(raw, dict):
        return {key: without_nothings(value) for key, value in raw.items() if value is not None}
    if isinstance(raw, list):
        return [without_nothings(item) for item in raw]
    return raw

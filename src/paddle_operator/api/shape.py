"""Does a raw document have the shape of a type? All problems at once, each with its path.

`msgspec.convert` stops at its first error and speaks of Python types. A person who wrote YAML wants every
error, in words of YAML, and "did you mean" for a misspelt field; so this walks the raw document beside the
types that `msgspec` knows.
"""

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import inspect

from paddle_operator.api.problems import Path, Problem
from paddle_operator.api.words import MISSPELT

_EXPECTED: dict[type[inspect.Type], tuple[tuple[type, ...], str]] = {
    inspect.StrType: ((str,), "text"),
    inspect.IntType: ((int,), "a whole number"),
    inspect.FloatType: ((int, float), "a number"),
    inspect.BoolType: ((bool,), "true or false"),
}
_PLURALS: dict[type[inspect.Type], str] = {
    inspect.StrType: " of texts",
    inspect.StructType: " of mappings",
    inspect.DictType: " of mappings",
}

DEEPEST = 100  # levels; a pod has about 15

_type_info = functools.cache(inspect.type_info)


def check_shape(raw: Any, type_: type) -> list[Problem]:
    return list(_check(raw, _type_info(type_), ()))


def unknown_fields(raw: Any, type_: type) -> list[Problem]:
    """Fields the type does not have. The API server drops them, so only an author wants to hear of them."""
    return list(_unknown(raw, _type_info(type_), ()))


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
        case inspect.Metadata():
            yield from _check_annotated(raw, info, path)
        case inspect.AnyType():
            return
        case _:
            yield from _check_scalar(raw, info, path)


def _check_scalar(raw: Any, info: inspect.Type, path: Path) -> Iterator[Problem]:
    classes, words = _EXPECTED[type(info)]
    if not isinstance(raw, classes) or (isinstance(raw, bool) and bool not in classes):
        yield Problem(path, f"must be {words}, found {describe(raw)}")
    elif excess := _excess(raw, info):
        yield Problem(path, excess)


def _excess(raw: Any, info: inspect.Type) -> str:
    """Lengths of lists are not asked here: `rules.py` has better sentences for them."""
    return _odd_text(raw, info) if isinstance(info, inspect.StrType) else _odd_number(raw, info)


def _odd_text(raw: str, info: inspect.StrType) -> str:
    if len(raw) < (info.min_length or 0):
        return "must not be empty"
    if "\0" in raw:
        return "must not hold a NUL character: no process takes one"
    if info.pattern and not re.search(info.pattern, raw):
        return f"must match {info.pattern}, found {describe(raw)}"
    return ""


def _odd_number(raw: Any, info: inspect.Type) -> str:
    match info:
        case inspect.IntType(ge=int(least), le=int(most)) if most - least < 5 and not least <= raw <= most:
            *others, last = range(least, most + 1)
            return f"must be {', '.join(map(str, others))} or {last}, found {describe(raw)}"
        case inspect.IntType(ge=int(least)) if raw < least:
            return f"must be {least} or more, found {raw}"
        case inspect.IntType(le=int(most)) if raw > most:
            return f"must be {most} or less, found {raw}"
    return ""


def _check_annotated(raw: Any, info: inspect.Metadata, path: Path) -> Iterator[Problem]:
    """What Python holds loosely may be annotated with a skeleton: the type it is held against."""
    problems = list(_check(raw, info.type, path))
    skeleton = (info.extra or {}).get("skeleton")
    yield from problems if problems or not skeleton else _check(raw, _type_info(skeleton), path)


def _check_union(raw: Any, info: inspect.UnionType, path: Path) -> Iterator[Problem]:
    if raw is None:
        return
    members = [member for member in info.types if not isinstance(member, inspect.NoneType)]
    if len(members) == 1:
        yield from _check(raw, members[0], path)
    elif all(any(_check(raw, member, path)) for member in members):
        words = " or ".join(_EXPECTED[type(member)][1] for member in members)
        yield Problem(path, f"must be {words}, found {describe(raw)}")


def _check_struct(raw: Any, info: inspect.StructType, path: Path) -> Iterator[Problem]:
    if not isinstance(raw, Mapping):
        yield Problem(path, f"must be a mapping, found {describe(raw)}")
        return
    fields = {field.encode_name: field for field in info.fields}
    for key, value in raw.items():
        if key not in fields:
            yield from _check_key(key, path)
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
        yield from _check_key(key, path)
        yield from _check(value, info.value_type, (*path, str(key)))


def _check_key(key: Any, path: Path) -> Iterator[Problem]:
    """YAML takes `1: a`; JSON, and so Kubernetes, knows texts only."""
    if not isinstance(key, str):
        yield Problem((*path, str(key)), f"the key must be text, found {describe(key)}")


def _check_list(raw: Any, info: inspect.ListType, path: Path) -> Iterator[Problem]:
    if isinstance(raw, str) or not isinstance(raw, Sequence):
        of = _PLURALS.get(type(info.item_type), "")
        yield Problem(path, f"must be a list{of}, found {describe(raw)}")
        return
    for number, item in enumerate(raw):
        if isinstance(info.item_type, inspect.StrType) and not isinstance(item, str):
            # Of a list in one line nobody sees at once which of them is meant.
            words = f"must be one of the texts of this list, found {describe(item)}"
            yield Problem((*path, number), words)
        else:
            yield from _check(item, info.item_type, (*path, number))


def _check_enum(raw: Any, info: inspect.EnumType, path: Path) -> Iterator[Problem]:
    known = [member.value for member in info.cls]
    if raw not in known:
        offered = [value for value in known if value and value not in MISSPELT]
        hint = suggestion(raw, offered) if isinstance(raw, str) else ""
        yield Problem(path, f"must be one of {', '.join(offered)}, found {describe(raw)}{hint}")


def too_deep(raw: Any, levels: int = DEEPEST) -> bool:
    """Also what contains itself. Asked first: all else here recurses."""
    if levels == 0:
        return True
    inner = raw.values() if isinstance(raw, Mapping) else raw if isinstance(raw, list) else ()
    return any(too_deep(one, levels - 1) for one in inner)


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

"""Reads YAML, and remembers where everything stood: an error names file, line and column."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from paddle_operator.api.problems import Path as FieldPath
from paddle_operator.api.problems import Problem

DEEPEST = 100  # levels; a pod has about 15
MOST_VALUES = 200_000  # with aliases followed
LARGEST = 4 * 1024 * 1024  # bytes; etcd takes no object of half that size


class InputError(Exception):
    """What the user gave cannot be used. Each line is a whole message."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Document:
    file: Path
    value: Any
    marks: dict[FieldPath, tuple[int, int]]

    def explain(self, problem: Problem) -> str:
        """`job.yaml:7:13: spec.worker.replicas: must be a whole number, ...`"""
        line, column = self._mark(problem.path)
        return f"{self.file}:{line}:{column}: {problem}"

    def _mark(self, path: FieldPath) -> tuple[int, int]:
        """Of the field, or of the nearest thing around it that is there."""
        return self.marks[next(path[:end] for end in range(len(path), -1, -1) if path[:end] in self.marks)]


def read_documents(file: Path) -> list[Document]:
    text = _read(file)
    try:
        documents = list(_documents(file, text))
    except yaml.MarkedYAMLError as error:
        where = _place(file, error.problem_mark)
        raise InputError(f"{where}: not valid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{file}: not valid YAML: {error}") from error
    if not documents:
        raise InputError(f"{file}: holds no document; expected a PaddleJob")
    return documents


def _place(file: Path, mark: Any) -> str:
    return f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else str(file)


def _read(file: Path) -> str:
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error
    if len(raw) > LARGEST:
        raise InputError(f"{file}: {len(raw)} bytes are too much for a job; expected at most {LARGEST}")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(f"{file}:{line}: not text in UTF-8 (byte {error.start}); expected YAML") from error


def _check_depth(file: Path, text: str) -> None:
    """Before anything recursive looks at it: the C loader answers too deep a document by crashing."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise InputError(f"{_place(file, event.start_mark)}: nested more than {DEEPEST} levels deep")


def _documents(file: Path, text: str) -> Iterator[Document]:
    _check_depth(file, text)
    loader = yaml.CSafeLoader(text)
    while loader.check_node():
        node = loader.get_node()
        marks: dict[FieldPath, tuple[int, int]] = {}
        if node is None:
            continue
        if _size(node, (), {}) > MOST_VALUES:
            raise InputError(f"{file}: its aliases stand for more than {MOST_VALUES} values")
        _walk(node, (), marks, set())
        value = loader.construct_document(node)
        if value is not None:
            yield Document(file, value, marks)


def _size(node: yaml.Node, around: tuple[int, ...], sizes: dict[int, int]) -> int:
    """How many values it stands for with all aliases followed. An alias of what it stands in has no end."""
    if id(node) in around:
        raise yaml.MarkedYAMLError(problem="an alias of what it stands in", problem_mark=node.start_mark)
    if id(node) not in sizes:
        children = node.value if isinstance(node, yaml.CollectionNode) else ()
        flat = [one for child in children for one in (child if isinstance(child, tuple) else (child,))]
        sizes[id(node)] = 1 + sum(_size(one, (*around, id(node)), sizes) for one in flat)
    return sizes[id(node)]


def _walk(node: yaml.Node, path: FieldPath, marks: dict[FieldPath, tuple[int, int]], seen: set[int]) -> None:
    """Each node once, whatever aliases say."""
    marks.setdefault(path, _position(node))
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        _walk_mapping(node, path, marks, seen)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _walk(item, (*path, number), marks, seen)


def _walk_mapping(
    node: yaml.MappingNode, path: FieldPath, marks: dict[FieldPath, tuple[int, int]], seen: set[int]
) -> None:
    keys: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key must be a word", problem_mark=key.start_mark)
        if key.value in keys and key.value != "<<":
            raise yaml.MarkedYAMLError(
                problem=f"the key {key.value} is there twice", problem_mark=key.start_mark
            )
        keys.add(key.value)
        marks[(*path, key.value)] = _position(key)
        _walk(value, (*path, key.value), marks, seen)


def _position(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1

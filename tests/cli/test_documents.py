"""Reading YAML: what comes out, and where a problem is said to be."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddle_operator.api.problems import Path as FieldPath
from paddle_operator.api.problems import Problem
from paddle_operator.cli.documents import Document, InputError, read_documents

TEXT = """\
kind: PaddleJob
spec:
  worker:
    replicas: two
    list:
      - name: a
      -   name: b
"""


def read(folder: Path, text: str | bytes) -> list[Document]:
    file = folder / "job.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_documents(file)


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text)
    (line,) = caught.value.lines
    return line.removeprefix(f"{folder}/")


def test_a_document_is_plain_values(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "a: 1\nb: [x, true, null]\n")
    assert document.value == {"a": 1, "b": ["x", True, None]}


def test_documents_come_in_order_and_empty_ones_do_not_count(tmp_path: Path) -> None:
    documents = read(tmp_path, "---\n# nothing\n---\na: 1\n---\nnull\n---\nb: 2\n...\n")
    assert [one.value for one in documents] == [{"a": 1}, {"b": 2}]


def test_aliases_and_merges_are_followed(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  y: 2\n")
    assert document.value == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (document,) = read(tmp_path, b"\xef\xbb\xbfa: 1\n")
    assert document.value == {"a": 1}


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ((), "1:1"),
        (("kind",), "1:1"),
        (("spec",), "2:1"),
        (("spec", "worker", "replicas"), "4:5"),
        (("spec", "worker", "list", 0), "6:9"),
        (("spec", "worker", "list", 0, "name"), "6:9"),
        (("spec", "worker", "list", 1, "name"), "7:11"),
        (("spec", "worker", "missing"), "3:3"),
        (("spec", "worker", "list", 7, "name"), "5:5"),
        (("metadata", "name"), "1:1"),
    ],
)
def test_a_problem_is_at_its_field_or_at_the_nearest_thing_around_it(
    tmp_path: Path, path: FieldPath, where: str
) -> None:
    (document,) = read(tmp_path, TEXT)
    assert document.explain(Problem(path, "is wrong")).startswith(f"{tmp_path}/job.yaml:{where}: ")


def test_lines_are_counted_through_all_documents(tmp_path: Path) -> None:
    second = read(tmp_path, "a: 1\n---\n\nb: 2\n")[1]
    assert second.explain(Problem(("b",), "x")) == f"{tmp_path}/job.yaml:4:1: b: x"


def test_a_document_that_refers_to_itself_is_refused_where_it_begins(tmp_path: Path) -> None:
    message = refused(tmp_path, "a: &a\n  b: *a\n")
    assert message.startswith("job.yaml:")
    assert message.endswith("not valid YAML: an alias of what it stands in")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "job.yaml:3:1: not valid YAML: the key a is there twice"),
        ("a:\n  - {x: 1, x: 2}\n", "job.yaml:2:12: not valid YAML: the key x is there twice"),
        ("a:\n\tb: 1\n", "job.yaml:2:1: not valid YAML: found character that cannot start any token"),
        ("? [a]\n: 1\n", "job.yaml:1:3: not valid YAML: a key must be a word"),
        ("a: *b\n", "job.yaml:1:4: not valid YAML: found undefined alias"),
        (
            "a: !!python/object:os.system {}\n",
            "job.yaml:1:4: not valid YAML: could not determine a constructor",
        ),
        ("a: [1\nb: 2\n", "job.yaml:2:2: not valid YAML: did not find expected ',' or ']'"),
        ("", "job.yaml: holds no document; expected a PaddleJob"),
        ("# only this\n---\n", "job.yaml: holds no document; expected a PaddleJob"),
        (b"a: 1\nb: \xff\n", "job.yaml:2: not text in UTF-8 (byte 8); expected YAML"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert refused(tmp_path, text).startswith(message)


def test_a_file_that_is_too_large_is_refused_by_its_size(tmp_path: Path) -> None:
    message = refused(tmp_path, b"#" * (4 * 1024 * 1024 + 1))
    assert message == "job.yaml: 4194305 bytes are too much for a job; expected at most 4194304"


def test_the_largest_file_is_taken(tmp_path: Path) -> None:
    (document,) = read(tmp_path, b"a: 1\n#" + b"#" * (4 * 1024 * 1024 - 6))
    assert document.value == {"a": 1}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: No such file or directory$"):
        read_documents(tmp_path / "none.yaml")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(raw=st.text(alphabet="ab:-[]{}&*!|>%@'\"#,? \n\t", max_size=40) | st.binary(max_size=20))
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, raw: str | bytes) -> None:
    try:
        documents = read(tmp_path, raw)
    except InputError as error:
        lines = error.lines
    else:
        lines = tuple(document.explain(Problem((), "x")) for document in documents)
    assert lines
    assert all(line.startswith(f"{tmp_path}/job.yaml:") for line in lines)


def test_aliases_that_stand_for_too_much_are_refused(tmp_path: Path) -> None:
    levels = "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
    )
    assert "values" in refused(tmp_path, f"a: &a [x]\n{levels}")

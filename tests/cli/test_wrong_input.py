"""Wrong input, given to the real program: exit code 2, the place, what was expected, and no traceback."""

from pathlib import Path

import pytest

from support.pdj import Result, Run, run_pdj

GOOD = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: demo
spec:
  worker:
    replicas: 2
    template:
      spec:
        containers:
          - name: main
            image: img:1
            command: [sh, -c, "exit 0"]
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def refuses(result: Result, *says: str) -> None:
    assert result.code == 2, result
    assert "Traceback" not in result.err
    for text in says:
        assert text in result.err


def run_text(folder: Path, text: str | bytes, *args: str | Path) -> Result:
    (folder / "job.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return run_pdj("run", "job.yaml", *args, cwd=folder)


NO_COMMAND = changed('            command: [sh, -c, "exit 0"]\n', "")

WRONG: dict[str, tuple[str | bytes, list[str]]] = {
    "broken YAML": (changed("replicas: 2", "replicas: [2"), ["job.yaml:8:", "not valid YAML"]),
    "a tab": (
        changed("    replicas", "\treplicas"),
        ["job.yaml:7:1: not valid YAML", "cannot start any token"],
    ),
    "a key twice": (
        changed("    template:", "    replicas: 3\n    template:"),
        ["job.yaml:8:5: not valid YAML: the key replicas is there twice"],
    ),
    "a key that is a list": (f"? [a]\n: 1\n{GOOD}", ["job.yaml:1:3:", "a key must be a word"]),
    "an unknown alias": (changed("replicas: 2", "replicas: *two"), ["job.yaml:7:15:", "undefined alias"]),
    "text where a number belongs": (
        changed("replicas: 2", "replicas: two"),
        ['job.yaml:7:5: spec.worker.replicas: must be a whole number, found the text "two"'],
    ),
    "a fraction": (changed("replicas: 2", "replicas: 1.5"), ["job.yaml:7:5:", "whole number", "1.5"]),
    "a list where a mapping belongs": (
        "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: a}\nspec:\n  - worker\n",
        ["job.yaml:4:1: spec: must be a mapping, found a list"],
    ),
    "text instead of an object": ("hello\n", ["job.yaml:1:1:", "must be a Kubernetes object", '"hello"']),
    "no role": (
        GOOD.partition("spec:")[0] + "spec: {}\n",
        ["job.yaml:5:1: spec: must have at least one role: ps, worker"],
    ),
    "no spec": (GOOD.partition("spec:")[0], ["job.yaml:1:1: spec: is required"]),
    "no members": (
        changed("replicas: 2", "replicas: 0"),
        ["job.yaml:5:1: spec: must have at least one member"],
    ),
    "no containers": (
        GOOD.partition("          - name")[0].replace("containers:", "containers: []"),
        ["job.yaml:10:9: spec.worker.template.spec.containers: must list at least one container"],
    ),
    "another kind": (
        changed("kind: PaddleJob", "kind: Pod"),
        ['job.yaml:2:1: kind: must be "PaddleJob", found the text "Pod"'],
    ),
    "another version": (
        changed("org/v1", "org/v2"),
        ["job.yaml:1:1: apiVersion: must be", "did you mean batch.paddlepaddle.org/v1?"],
    ),
    "an empty file": ("", ["job.yaml: holds no document; expected a PaddleJob"]),
    "only comments": ("# a job\n", ["job.yaml: holds no document; expected a PaddleJob"]),
    "a binary file": (b"\x7fELF\x02\x01\x01\0\0\0\0", ["job.yaml: not valid YAML", "control characters"]),
    "Latin-1": (
        GOOD.replace("demo", "dém").encode("latin-1"),
        ["job.yaml:4: not text in UTF-8", "expected YAML"],
    ),
    "UTF-16": (GOOD.encode("utf-16"), ["job.yaml:1: not text in UTF-8"]),
    "5 MB": (GOOD + "#" * 5_000_000, ["job.yaml: 5000", "too much for a job; expected at most 4194304"]),
    "two documents": (
        f"{GOOD}---\n{GOOD}",
        ["job.yaml:15:1:", "a second document; expected one PaddleJob in the file"],
    ),
    "a misspelt field": (
        changed("replicas: 2", "replcas: 2"),
        [
            "job.yaml:7:5: spec.worker.replcas: unknown field (did you mean replicas?)",
            "job.yaml:6:3: spec.worker.replicas: is required",
        ],
    ),
    "a misspelt role": (
        changed("  worker:", "  wroker:"),
        ["job.yaml:6:3: spec.wroker", "did you mean worker?"],
    ),
    "negative replicas": (
        changed("replicas: 2", "replicas: -2"),
        ["job.yaml:7:5: spec.worker.replicas: must be 0 or more, found -2"],
    ),
    "a name that is too long": (
        changed("name: demo", f"name: {'a' * 55}"),
        ["job.yaml:4:3: metadata.name: must be at most 54 characters", "it has 55"],
    ),
    "a name in capitals": (
        changed("name: demo", "name: Demo"),
        ["job.yaml:4:3: metadata.name: must be lower-case"],
    ),
    "a name that is a number": (
        changed("name: demo", "name: 12"),
        ["job.yaml:4:3: metadata.name: must be text"],
    ),
    "no name": (changed("  name: demo", "  labels: {}"), ["job.yaml:3:1: metadata.name: is required"]),
    "a bad choice": (
        changed("spec:\n  worker", "spec:\n  cleanPodPolicy: Nevr\n  worker"),
        ["job.yaml:6:3: spec.cleanPodPolicy: must be one of Always, Never", "did you mean Never?"],
    ),
    "a bad withGloo": (
        changed("spec:\n  worker", "spec:\n  withGloo: 3\n  worker"),
        ["job.yaml:6:3: spec.withGloo: must be 0, 1 or 2, found the number 3"],
    ),
    "a command that is one text": (
        changed('[sh, -c, "exit 0"]', "sh -c x"),
        ["job.yaml:13:13:", "command: must be a list of texts"],
    ),
    "a number among the words": (
        changed('"exit 0"', "5"),
        ["job.yaml:13:31:", "command[2]: must be one of the texts of this list, found the number 5"],
    ),
    "no command and no image": (NO_COMMAND, ["job.yaml:11:13:", "add `command`, or --image img:1=DIR"]),
    "an alias of itself": ("spec: &a\n  worker: *a\n", ["job.yaml:", "an alias of what it stands in"]),
    "an alias of itself as a role": (
        changed("  worker:\n", "  ps: &ps {replicas: 1, template: {}, ps: *ps}\n  worker:\n"),
        ["job.yaml:6:7:", "an alias of what it stands in"],
    ),
    "deep nesting": ("a: " + "[" * 3_000 + "]" * 3_000, ["job.yaml:1:", "nested more than"]),
    "deep nesting without an end": ("[" * 1_000_000, ["job.yaml:1:", "nested more than"]),
    "a template nested too deeply": (
        changed("template:\n", f"template:\n      deep: {'[' * 490}{']' * 490}\n"),
        ["job.yaml:9:", "nested more than"],
    ),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_file_is_refused_with_its_place_and_what_was_expected(
    tmp_path: Path, text: str | bytes, says: list[str]
) -> None:
    result = run_text(tmp_path, text)
    refuses(result, *says)
    assert all(line.startswith("job.yaml:") for line in result.err.splitlines() if not line.startswith(" "))
    assert not (tmp_path / ".pdj").exists()


def test_all_problems_of_a_file_are_told_at_once_each_on_its_line(tmp_path: Path) -> None:
    result = run_text(tmp_path, changed("replicas: 2", "replicas: x").replace("name: demo", "nme: demo"))
    refuses(result)
    assert [line.partition(" ")[0] for line in result.err.splitlines()] == ["job.yaml:4:3:", "job.yaml:7:5:"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    refuses(run_pdj("run", "none.yaml", cwd=tmp_path), "none.yaml: No such file or directory")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    refuses(run_pdj("run", tmp_path, cwd=tmp_path), f"{tmp_path}: Is a directory")


def test_without_a_file_the_usage_is_told(tmp_path: Path) -> None:
    refuses(run_pdj("run", cwd=tmp_path), "Usage: pdj run", "Missing argument 'FILE'")


def test_an_unknown_option_is_named(tmp_path: Path) -> None:
    refuses(run_pdj("run", "job.yaml", "--imgae", "x", cwd=tmp_path), "--imgae", "--image")


@pytest.mark.parametrize("option", ["img:1", "=dir", ""])
def test_an_image_without_a_name_or_a_directory_is_refused(tmp_path: Path, option: str) -> None:
    refuses(run_text(tmp_path, GOOD, "--image", option), f"--image {option}: expected NAME=DIR")


@pytest.mark.parametrize("directory", ["none", "empty", "job.yaml"])
def test_an_image_whose_directory_has_no_dockerfile_is_refused(tmp_path: Path, directory: str) -> None:
    (tmp_path / "empty").mkdir()
    result = run_text(tmp_path, NO_COMMAND, "--image", f"img:1={directory}")
    refuses(result, f"--image img:1={directory}: {directory}/Dockerfile cannot be read")


def test_a_dockerfile_with_a_broken_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("CMD ['a']\n")
    refuses(
        run_text(tmp_path, NO_COMMAND, "--image", "img:1=."),
        "--image img:1=.: Dockerfile: ['a'] is not a JSON",
    )


@pytest.mark.parametrize("python", ["none", ".", "job.yaml"])
def test_a_python_that_cannot_be_executed_is_refused(tmp_path: Path, python: str) -> None:
    refuses(run_text(tmp_path, GOOD, "--python", python), f"--python {python}: expected a Python interpreter")


def test_an_image_of_another_name_does_not_stand_for_a_missing_command(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text('CMD ["true"]\n')
    refuses(run_text(tmp_path, NO_COMMAND, "--image", "img=."), "job.yaml:11:13:", "--image img:1=DIR")


@pytest.mark.parametrize(
    "text",
    [
        changed("  name: demo", "  name: demo\n  labels: {1: a}"),
        changed("    template:\n", "    template:\n      1: a\n"),
    ],
    ids=["labels", "template"],
)
def test_a_key_that_is_a_number_is_refused(tmp_path: Path, text: str) -> None:
    refuses(run_text(tmp_path, text), "job.yaml:")


@pytest.mark.parametrize(
    "text",
    [
        changed("template:\n", "template: &t\n      itself: *t\n"),
        f"{GOOD}status: &s [*s]\n",
    ],
    ids=["template", "status"],
)
def test_an_alias_of_itself_where_anything_goes_is_refused(tmp_path: Path, text: str) -> None:
    refuses(run_text(tmp_path, text), "job.yaml:")


@pytest.mark.parametrize("namespace", ["null", "a/b"])
def test_a_namespace_that_is_none_is_refused_or_the_default(tmp_path: Path, namespace: str) -> None:
    result = run_text(tmp_path, changed("  name: demo", f"  name: demo\n  namespace: {namespace}"))
    assert "Traceback" not in result.err
    assert result.code == (0 if namespace == "null" else 2)


def test_a_number_as_value_of_a_variable_is_refused(tmp_path: Path) -> None:
    text = changed("            image", "            env: [{name: A, value: 1}]\n            image")
    refuses(run_text(tmp_path, text), "job.yaml:", "value: must be text, found the number 1")


@pytest.mark.parametrize(
    "field",
    [
        "ownerReferences: [{uid: x}]",
        'deletionTimestamp: "2026-01-01T00:00:00Z"',
        "uid: x\n  resourceVersion: '7'\n  generation: 3",
    ],
    ids=["owner", "deletion", "version"],
)
def test_metadata_exported_from_a_cluster_does_not_make_a_run_hang(tmp_path: Path, field: str) -> None:
    """`kubectl get -o yaml` of a job that somebody owns, or that was being deleted."""
    (tmp_path / "job.yaml").write_text(changed("  name: demo", f"  name: demo\n  {field}"))
    with Run(tmp_path, "run", "job.yaml") as run:
        assert run.result(within=4).code in (0, 2)


def test_a_file_in_the_place_of_the_log_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".pdj").write_text("")
    refuses(run_text(tmp_path, GOOD), ".pdj")


@pytest.mark.parametrize("line", ['ENV A="x', 'COPY ["a",', "COPY"])
def test_a_dockerfile_line_that_makes_no_sense_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "Dockerfile").write_text(f'{line}\nCMD ["true"]\n')
    refuses(run_text(tmp_path, NO_COMMAND, "--image", "img:1=."), "--image img:1=.: ")


def test_a_build_directory_may_have_an_equals_sign_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "lr=1").mkdir()
    (tmp_path / "lr=1" / "Dockerfile").write_text('CMD ["true"]\n')
    assert run_text(tmp_path, NO_COMMAND, "--image", "img:1=lr=1").code == 0


@pytest.mark.parametrize("command", [[], ["run"]], ids=["pdj", "pdj run"])
def test_the_help_shows_its_examples_line_by_line(tmp_path: Path, command: list[str]) -> None:
    result = run_pdj(*command, "--help", cwd=tmp_path)
    assert result.code == 0
    assert "\\b" not in result.out


def test_the_version_can_be_asked_for(tmp_path: Path) -> None:
    assert run_pdj("--version", cwd=tmp_path).out.startswith("pdj, version ")

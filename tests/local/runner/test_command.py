"""Which words are executed, where, and with which environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddle_operator.local.runner.command import CannotStartError, Command, build_command
from paddle_operator.local.runner.image import Image, parse_dockerfile
from paddle_operator.local.runner.pods import Container

PATH = {"PATH": os.defpath}


def container(**fields: Any) -> Container:
    return msgspec.convert({"name": "main", "image": "img:1", **fields}, Container)


def build(
    cwd: Path,
    image: Image | None = None,
    env: Mapping[str, str] | None = None,
    base: Mapping[str, str] = PATH,
    **fields: Any,
) -> Command:
    return build_command(container(**fields), image, env or {}, base_env=base, cwd=cwd)


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


IMAGE = Image(entrypoint=("sh", "entry"), cmd=("cmd",))


def test_without_an_image_the_container_says_it_all(tmp_path: Path) -> None:
    command = build(tmp_path, command=["sh", "-c"], args=["exit 1"])
    assert command == Command(("sh", "-c", "exit 1"), tmp_path, PATH)


@pytest.mark.parametrize(
    ("fields", "argv"),
    [
        ({}, ("sh", "entry", "cmd")),
        ({"args": ["mine"]}, ("sh", "entry", "mine")),
        ({"command": ["true"]}, ("true",)),
        ({"command": ["true"], "args": ["mine"]}, ("true", "mine")),
    ],
)
def test_command_replaces_entrypoint_and_cmd_and_args_replace_cmd(
    tmp_path: Path, fields: dict[str, Any], argv: tuple[str, ...]
) -> None:
    assert build(tmp_path, IMAGE, **fields).argv == argv


def test_cmd_alone_can_be_the_program(tmp_path: Path) -> None:
    assert build(tmp_path, Image(cmd=("true", "x"))).argv == ("true", "x")


@pytest.mark.parametrize("image", [None, Image()], ids=["no image", "an image that says nothing"])
def test_nothing_to_run_is_told_with_what_to_do_about_it(tmp_path: Path, image: Image | None) -> None:
    with pytest.raises(CannotStartError, match=r"main names no command.* --image img:1=DIR"):
        build(tmp_path, image)


def test_references_in_words_are_replaced_from_the_containers_environment(tmp_path: Path) -> None:
    base = {**PATH, "SHELL_ONLY": "x"}
    words = ["sh", "$(A)-$(SHELL_ONLY)-$$(A)"]
    assert build(tmp_path, env={"A": "1"}, base=base, command=words).argv[1] == "1-$(SHELL_ONLY)-$(A)"


def test_the_containers_environment_wins_over_the_images_and_that_over_the_machines(tmp_path: Path) -> None:
    base = {**PATH, "A": "machine", "B": "machine", "C": "machine"}
    image = Image(env={"B": "image", "C": "image"})
    command = build(tmp_path, image, env={"C": "container"}, base=base, command=["true"])
    assert command.env == {**PATH, "A": "machine", "B": "image", "C": "container"}


def test_words_that_name_copied_files_are_replaced_by_where_they_lie(tmp_path: Path) -> None:
    script = program(tmp_path / "src", "run.sh")
    image = parse_dockerfile("COPY src /app", tmp_path)
    command = build(
        tmp_path, image, command=["/app/run.sh", "/app/run.sh", "/app/none", "app/run.sh", "/etc"]
    )
    assert command.argv == (str(script), str(script), "/app/none", "app/run.sh", "/etc")


def test_the_workdir_of_the_image_is_where_it_was_copied_from(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    image = parse_dockerfile("COPY src /app\nWORKDIR /app\n", tmp_path)
    assert build(tmp_path, image, command=["true"]).cwd == tmp_path / "src"


def test_the_containers_workdir_wins(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    image = parse_dockerfile("COPY src /app\nWORKDIR /app\n", tmp_path)
    command = build(tmp_path, image, command=["true"], workingDir="/app/deep")
    assert command.cwd == tmp_path / "src" / "deep"
    assert build(tmp_path, command=["true"], workingDir=str(tmp_path / "src")).cwd == tmp_path / "src"


def test_the_root_of_an_image_is_where_pdj_was_started(tmp_path: Path) -> None:
    assert build(tmp_path, Image(workdir="/"), command=["true"]).cwd == tmp_path


@pytest.mark.parametrize(
    ("image", "asked"), [(None, "/not/here"), (Image(), "/not/here"), (Image(workdir="/not/here"), "")]
)
def test_a_workdir_that_is_not_on_this_machine_is_refused(
    tmp_path: Path, image: Image | None, asked: str
) -> None:
    with pytest.raises(
        CannotStartError, match=r"working directory /not/here of container main is not on this"
    ):
        build(tmp_path, image, command=["true"], workingDir=asked)


def test_a_program_is_looked_for_on_the_path_of_the_container(tmp_path: Path) -> None:
    program(tmp_path / "bin", "mine")
    env = {"PATH": str(tmp_path / "bin")}
    assert build(tmp_path, env=env, command=["mine"]).argv == ("mine",)
    with pytest.raises(CannotStartError, match=r'^exec: "mine": no such program on this machine$'):
        build(tmp_path, command=["mine"])


def test_a_relative_program_is_looked_for_in_the_working_directory(tmp_path: Path) -> None:
    program(tmp_path / "x", "mine")
    assert build(tmp_path, command=["x/mine"]).argv == ("x/mine",)
    assert build(tmp_path, command=["./mine"], workingDir=str(tmp_path / "x")).cwd == tmp_path / "x"
    with pytest.raises(CannotStartError, match="no such program"):
        build(tmp_path, command=["./mine"])


def test_a_file_that_cannot_be_executed_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    with pytest.raises(CannotStartError, match="no such program"):
        build(tmp_path, command=["./data"])


def test_an_image_that_adds_to_the_path_leaves_the_machines_programs_there(tmp_path: Path) -> None:
    image = parse_dockerfile("ENV PATH=/opt/bin:$PATH\n", tmp_path)
    assert build(tmp_path, image, command=["sh"]).argv == ("sh",)

"""What a Dockerfile says of the program, without an image ever being built."""

from pathlib import Path

import pytest

from paddle_operator.local.runner.image import Image, ImageError, parse_dockerfile, read_image

HERE = Path("/build")


def parse(*lines: str) -> Image:
    return parse_dockerfile("\n".join(lines), HERE)


def test_an_empty_file_says_nothing() -> None:
    assert parse("") == Image()


def test_the_exec_form_is_taken_word_by_word() -> None:
    image = parse('ENTRYPOINT ["python3", "a b.py"]', 'CMD ["--x", "1"]')
    assert image.entrypoint == ("python3", "a b.py")
    assert image.cmd == ("--x", "1")


def test_the_shell_form_is_left_to_a_shell() -> None:
    image = parse("ENTRYPOINT exec python3 $FILE", "CMD a | b")
    assert image.entrypoint == ("/bin/sh", "-c", "exec python3 $FILE")
    assert image.cmd == ("/bin/sh", "-c", "a | b")


def test_the_last_of_several_commands_counts() -> None:
    assert parse('CMD ["a"]', 'CMD ["b"]').cmd == ("b",)


def test_words_may_be_written_in_any_case_and_indented() -> None:
    assert parse('  cmd ["a"]', "  workdir /x").cmd == ("a",)
    assert parse("  workdir /x").workdir == "/x"


def test_comments_and_empty_lines_are_skipped_also_within_a_continued_line() -> None:
    image = parse("# CMD x", "", 'ENTRYPOINT ["a", \\', "   # this one is for", "", '  "b"]', "#CMD y")
    assert image.entrypoint == ("a", "b")
    assert image.cmd == ()


def test_a_number_sign_within_a_line_is_no_comment() -> None:
    assert parse("ENV A=1#2").env == {"A": "1#2"}


def test_a_continued_line_is_one_line() -> None:
    assert parse("ENV A=1 \\", "    B=2 \\  ", "    C=3", "CMD x").env == {"A": "1", "B": "2", "C": "3"}


def test_other_instructions_are_passed_over() -> None:
    assert (
        parse("FROM python:3.11", "ARG X=1", "RUN pip install a && \\", "  rm -rf /", "EXPOSE 80") == Image()
    )


@pytest.mark.parametrize(
    ("line", "env"),
    [
        ("ENV A=1", {"A": "1"}),
        ("ENV A=1 B=2", {"A": "1", "B": "2"}),
        ('ENV A="x y" B=z\\ z', {"A": "x y", "B": "z z"}),
        ("ENV A='x=y'", {"A": "x=y"}),
        ("ENV A=", {"A": ""}),
        ("ENV A the whole rest", {"A": "the whole rest"}),
        ("ENV A b=c d", {"A": "b=c d"}),
        ("ENV A", {}),
    ],
)
def test_env_has_two_forms(line: str, env: dict[str, str]) -> None:
    assert parse(line).env == env


def test_a_later_env_wins() -> None:
    assert parse("ENV A=1 B=1", "ENV A=2").env == {"A": "2", "B": "1"}


@pytest.mark.parametrize(
    ("lines", "workdir"),
    [
        (["WORKDIR /a"], "/a"),
        (["WORKDIR /a", "WORKDIR b"], "/a/b"),
        (["WORKDIR b", "WORKDIR c/d"], "/b/c/d"),
        (["WORKDIR /a", "WORKDIR /b"], "/b"),
    ],
)
def test_a_relative_workdir_goes_on_from_the_one_before(lines: list[str], workdir: str) -> None:
    assert parse(*lines).workdir == workdir


def test_what_was_copied_is_found_in_the_build_directory(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    image = parse_dockerfile("ADD src /app\nCOPY run.sh /bin/run", tmp_path)
    assert image.here("/app") == tmp_path / "src"
    assert image.here("/app/a/b.py") == tmp_path / "src" / "a" / "b.py"
    assert image.here("/bin/run") == tmp_path / "run.sh"
    assert image.here("/application") is None
    assert image.here("/bin") is None


def test_a_file_copied_to_a_directory_keeps_its_name() -> None:
    image = parse("COPY conf/a.txt /etc/")
    assert image.here("/etc/a.txt") == HERE / "conf/a.txt"
    assert image.here("/etc/b.txt") is None


def test_several_files_are_copied_into_a_directory() -> None:
    image = parse("COPY a.py lib/b.py /app")
    assert image.here("/app/a.py") == HERE / "a.py"
    assert image.here("/app/b.py") == HERE / "lib/b.py"


def test_of_a_directory_the_contents_are_copied_also_to_a_target_with_a_slash(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    image = parse_dockerfile("COPY src /app/", tmp_path)
    assert image.here("/app/a.py") == tmp_path / "src" / "a.py"


@pytest.mark.parametrize("line", ["COPY . /app", "COPY ./ /app/", "WORKDIR /app\nADD . ."])
def test_the_whole_build_directory_can_be_copied(tmp_path: Path, line: str) -> None:
    assert parse_dockerfile(line, tmp_path).here("/app/a.py") == tmp_path / "a.py"


def test_a_relative_target_lies_in_the_workdir_of_that_moment() -> None:
    image = parse("WORKDIR /a", "COPY one.py ./", "COPY two.py x/", "WORKDIR /b", "COPY three.py ./three.py")
    assert image.here("/a/one.py") == HERE / "one.py"
    assert image.here("/a/x/two.py") == HERE / "two.py"
    assert image.here("/b/three.py") == HERE / "three.py"


def test_copy_takes_a_json_list_and_flags() -> None:
    image = parse('COPY ["a b.py", "/app/c d.py"]', "ADD --chown=1:1 --chmod=755 e.py /app/e.py")
    assert image.here("/app/c d.py") == HERE / "a b.py"
    assert image.here("/app/e.py") == HERE / "e.py"


def test_of_nested_targets_the_inner_one_counts() -> None:
    image = parse("COPY inner /app/inner", "COPY outer /app")
    assert image.here("/app/inner/x") == HERE / "inner" / "x"
    assert image.here("/app/x") == HERE / "outer" / "x"


def test_everything_may_be_copied_to_the_root(tmp_path: Path) -> None:
    (tmp_path / "fs").mkdir()
    assert parse_dockerfile("COPY fs /", tmp_path).here("/etc/x") == tmp_path / "fs" / "etc/x"


def test_a_source_is_never_outside_the_build_directory_for_its_leading_slash() -> None:
    assert parse("COPY /etc /x").here("/x") == HERE / "etc"


def test_a_dockerfile_is_read_from_its_directory(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("WORKDIR /é\nCOPY a /a\n", encoding="utf-8")
    image = read_image(tmp_path)
    assert image.workdir == "/é"
    assert image.here("/a") == tmp_path.resolve() / "a"


def test_a_directory_without_a_dockerfile_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"Dockerfile cannot be read: .*No such file"):
        read_image(tmp_path)


def test_a_dockerfile_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_bytes(b"CMD \xff")
    with pytest.raises(ImageError, match="Dockerfile cannot be read"):
        read_image(tmp_path)


def test_a_list_that_is_not_json_is_refused() -> None:
    with pytest.raises(ImageError, match=r"\['a'\] is not a JSON list"):
        parse("CMD ['a']")


@pytest.mark.parametrize("line", ['ENV A="x', 'COPY ["a",', "COPY", "COPY [1, 2]", "COPY 'a b"])
def test_a_line_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(ImageError):
        parse(line)


def test_a_tab_separates_words_too() -> None:
    assert parse("WORKDIR\t/x").workdir == "/x"


def test_a_later_stage_begins_anew() -> None:
    image = parse("FROM a AS b", "WORKDIR /x", "ENV A=1", 'CMD ["a"]', "FROM c", 'ENTRYPOINT ["e"]')
    assert image == Image(entrypoint=("e",))


def test_what_is_copied_from_another_stage_is_not_in_the_build_directory() -> None:
    assert parse("COPY --from=builder /out /app").here("/app") is None


def test_a_variable_set_before_is_replaced() -> None:
    assert parse("ENV HOME_OF=/srv", "WORKDIR $HOME_OF/app").workdir == "/srv/app"
    assert parse("ENV A=1", "ENV B=${A}2").env["B"] == "12"


@pytest.mark.parametrize("target", [".", "/app", "../app"])
def test_a_file_copied_to_a_directory_that_is_there_goes_into_it(target: str) -> None:
    """`WORKDIR` makes its directory, so `COPY train.py .` is what most Dockerfiles say."""
    image = parse("WORKDIR /app", f"COPY train.py {target}")
    assert image.here("/app/train.py") == HERE / "train.py"

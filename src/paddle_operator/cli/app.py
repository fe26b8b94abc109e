"""The commands of `pdj`, and what `--help` says of them."""

from pathlib import Path

import click

from paddle_operator import __version__

EXIT_CODES = "Exit code: 0 the job succeeded, 1 it failed, 2 wrong input, 130 or 143 interrupted."


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pdj")
def app() -> None:
    """Run PaddlePaddle training jobs.

    \b
    Run a PaddleJob on this machine, no cluster needed:
      pdj run job.yaml
    """


@app.command(epilog=EXIT_CODES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--image",
    "images",
    metavar="NAME=DIR",
    multiple=True,
    help="The directory an image is built from: its Dockerfile says what runs. Can be given more than once.",
)
@click.option(
    "--python",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The interpreter that python and python3 mean in the job's commands, e.g. of a virtual environment.",
)
def run(file: Path, images: tuple[str, ...], python: Path | None) -> None:
    """Run the PaddleJob in FILE on this machine.

    Same file, same controller and same status as on a cluster; each pod is a process here, with an address of
    its own. Logs of all members are kept under .pdj/<job>/.

    \b
    Examples:
      pdj run job.yaml
      pdj run job.yaml --python ~/venvs/paddle/bin/python
      pdj run wide_and_deep.yaml --image registry.example.com/wide-and-deep:v1=./wide_and_deep
    """
    from paddle_operator.cli.run import run_file  # noqa: PLC0415 - keeps `--help` fast

    raise SystemExit(run_file(file, images=images, python=python))

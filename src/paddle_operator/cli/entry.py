"""The entry point. Imports nothing heavy before a signal has its answer.

Until `run` takes the signals over, there is nothing to clean up: SIGINT and SIGTERM end the process at once,
with the exit codes a shell expects.
"""

import os
import signal
import sys
from types import FrameType

EXIT_OF = {signal.SIGINT: 130, signal.SIGTERM: 143}


def main() -> None:
    for number in EXIT_OF:
        signal.signal(number, _leave)
    from paddle_operator.cli.app import app  # noqa: PLC0415 - after the signals, on purpose

    try:
        app()
    except BrokenPipeError:  # whoever read our output has gone; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _leave(number: int, _: FrameType | None) -> None:
    os._exit(EXIT_OF[signal.Signals(number)])

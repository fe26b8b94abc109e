"""Real Paddle, in environments that `make test` prepares and names."""

import os
from pathlib import Path

import pytest


def interpreter(variable: str) -> Path:
    """Skipped without it, except where everything must run."""
    value = os.environ.get(variable)
    if value:
        return Path(value)
    message = f"{variable} names no Python with Paddle; `make test` prepares one"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def ps_python() -> Path:
    return interpreter("PADDLE_PS_PYTHON")


@pytest.fixture
def collective_python() -> Path:
    return interpreter("PADDLE_COLLECTIVE_PYTHON")

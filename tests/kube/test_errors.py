"""From an answer to an error that says what can be done about it."""

import msgspec
import pytest

from paddle_operator.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KubeError,
    NotFound,
    TransportError,
    Unavailable,
    error_of,
)
from paddle_operator.kube.transport import Response


def answer(status: int, reason: str = "", message: str = "", **headers: str) -> Response:
    body = msgspec.json.encode({"kind": "Status", "code": status, "reason": reason, "message": message})
    return Response(status=status, body=body, headers=headers)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Invalid),
        (401, Forbidden),
        (403, Forbidden),
        (404, NotFound),
        (405, ApiError),
        (409, Conflict),
        (410, Gone),
        (422, Invalid),
        (429, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
        (504, Unavailable),
    ],
)
def test_the_status_decides_what_kind_of_error_it_is(status: int, kind: type[ApiError]) -> None:
    assert type(error_of(answer(status))) is kind


def test_of_the_conflicts_the_reason_tells_that_something_is_there_already() -> None:
    assert type(error_of(answer(409, "AlreadyExists"))) is AlreadyExists
    assert type(error_of(answer(409, "Conflict"))) is Conflict


def test_every_failure_of_a_request_is_one_kind_of_error() -> None:
    """Who wants to try again later catches that one."""
    assert isinstance(error_of(answer(418)), KubeError)
    assert issubclass(TransportError, KubeError)


def test_the_error_repeats_the_words_of_the_server() -> None:
    error = error_of(answer(404, "NotFound", 'pods "a" not found'))
    assert str(error) == '404 NotFound: pods "a" not found'
    assert (error.status, error.reason, error.message) == (404, "NotFound", 'pods "a" not found')


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"", b"null", b"[]", b'{"code":', b"\xff"])
def test_an_answer_that_is_no_status_is_an_error_all_the_same(body: bytes) -> None:
    error = error_of(Response(status=502, body=body))
    assert type(error) is Unavailable
    assert error.message == body.decode(errors="replace")


def test_of_a_long_foreign_answer_only_the_beginning_is_kept() -> None:
    assert len(error_of(Response(status=502, body=b"x" * 100_000)).message) == 200


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0", 0.0), ("soon", None), ("", None)])
def test_the_server_may_say_when_to_come_again(header: str, seconds: float | None) -> None:
    assert error_of(answer(429, **{"Retry-After": header})).retry_after == seconds


def test_without_a_word_from_the_server_nobody_knows_when() -> None:
    assert error_of(answer(503)).retry_after is None

"""What can go wrong with a request.

KubeError
├── TransportError          no answer: connection, time-out, body cut off
└── ApiError                the server answered, and said no
    ├── Invalid             400, 422   the object is wrong; retrying cannot help
    ├── Forbidden           401, 403   a right is missing
    ├── NotFound            404
    ├── Conflict            409        the object changed since it was read
    │   ├── AlreadyExists   409        something of that name is there
    │   └── Replaced        409, 422   something else has that name by now: its uid is another
    ├── Gone                410        the watch fell behind: list again
    └── Unavailable         429, 5xx   later; `retry_after` says when, if the server knows
"""

import re

import msgspec

from paddle_operator.kube.transport import Response


class KubeError(Exception):
    """The root: catch it where any failure of a request means "try again later"."""


class TransportError(KubeError):
    pass


class ApiError(KubeError):
    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after


class Invalid(ApiError):  # noqa: N818 - the names are the server's own reasons
    pass


class Forbidden(ApiError):  # noqa: N818
    pass


class NotFound(ApiError):  # noqa: N818
    pass


class Conflict(ApiError):  # noqa: N818
    pass


class AlreadyExists(Conflict):
    pass


class Replaced(Conflict):
    pass


class Gone(ApiError):  # noqa: N818
    pass


class Unavailable(ApiError):  # noqa: N818
    pass


class Status(msgspec.Struct, rename="camel"):
    """The body of an error, and the object of an ERROR watch event."""

    code: int = 0
    reason: str = ""
    message: str = ""


_OTHER_UID = re.compile(r"metadata\.uid: Invalid value|the UID in the precondition")

_BY_STATUS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: Unavailable,
}


def error_of(response: Response) -> ApiError:
    try:
        status = msgspec.json.decode(response.body, type=Status)
    except msgspec.MsgspecError:  # a proxy in between may answer in any form
        status = Status(message=response.body[:200].decode(errors="replace"))
    return error_from(status, response.status, response.headers.get("Retry-After"))


def error_from(status: Status, code: int, retry_after: str | None = None) -> ApiError:
    known = retry_after and retry_after.isascii() and retry_after.isdecimal()
    seconds = float(retry_after) if retry_after and known else None
    return _kind(status, code)(code, status.reason, status.message, seconds)


def _kind(status: Status, code: int) -> type[ApiError]:
    if status.reason == "AlreadyExists":
        return AlreadyExists
    # A patch that names another uid is refused as an attempt to change it.
    if code in (409, 422) and _OTHER_UID.search(status.message):
        return Replaced
    return _BY_STATUS.get(code, _other(code))


def _other(code: int) -> type[ApiError]:
    return Unavailable if code >= 500 else ApiError

"""The ways the server says no: one exception, whose body is a Kubernetes Status."""

import msgspec

from paddle_operator.kube.transport import Response


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error of the server
    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message

    def status(self) -> dict[str, object]:
        return {
            "apiVersion": "v1",
            "kind": "Status",
            "metadata": {},
            "status": "Failure",
            "code": self.code,
            "reason": self.reason,
            "message": self.message,
        }

    def response(self) -> Response:
        return Response(status=self.code, body=msgspec.json.encode(self.status()))


def not_found(plural: str, name: str) -> Refusal:
    return Refusal(404, "NotFound", f'{plural} "{name}" not found')


def already_exists(plural: str, name: str) -> Refusal:
    return Refusal(409, "AlreadyExists", f'{plural} "{name}" already exists')


def conflict(plural: str, name: str, why: str) -> Refusal:
    return Refusal(409, "Conflict", f'Operation cannot be fulfilled on {plural} "{name}": {why}')


def invalid(kind: str, name: str, problems: list[str]) -> Refusal:
    return Refusal(422, "Invalid", f'{kind} "{name}" is invalid: {"; ".join(problems)}')


def expired() -> Refusal:
    return Refusal(410, "Expired", "too old resource version")


def bad_request(message: str) -> Refusal:
    return Refusal(400, "BadRequest", message)

"""The ways the server says no: one exception, whose body is a Kubernetes Status."""

import msgspec

from paddle_operator.kube.transport import Response
from paddle_operator.local.apiserver.kinds import Cause, Kind


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error of the server
    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.causes: list[Cause] = []

    def status(self) -> dict[str, object]:
        return {
            "apiVersion": "v1",
            "kind": "Status",
            "metadata": {},
            "status": "Failure",
            "code": self.code,
            "reason": self.reason,
            "message": self.message,
            "details": {"causes": [{"field": one.field, "message": one.message} for one in self.causes]},
        }

    def response(self) -> Response:
        return Response(status=self.code, body=msgspec.json.encode(self.status()))


def not_found(plural: str, name: str) -> Refusal:
    return Refusal(404, "NotFound", f'{plural} "{name}" not found')


def already_exists(plural: str, name: str) -> Refusal:
    return Refusal(409, "AlreadyExists", f'{plural} "{name}" already exists')


def conflict(plural: str, name: str, why: str) -> Refusal:
    return Refusal(409, "Conflict", f'Operation cannot be fulfilled on {plural} "{name}": {why}')


def invalid(kind: Kind, name: str, causes: list[Cause]) -> Refusal:
    """One cause stands behind a colon, several in a list, as the real server writes them."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    refusal = Refusal(422, "Invalid", f'{kind.qualified} "{name}" is invalid: {listed}')
    refusal.causes = causes
    return refusal


def expired() -> Refusal:
    return Refusal(410, "Expired", "too old resource version")


def bad_request(message: str) -> Refusal:
    return Refusal(400, "BadRequest", message)

"""A client of the API server for tests: one request after another, standard library only."""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any, NamedTuple

Object = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    """The server's refusal."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Address(NamedTuple):
    """Where the server listens, and the file its certificate is in."""

    port: int
    certificate: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


class Api:
    """One user with one user agent."""

    def __init__(self, address: Address, token: str, agent: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": agent}
        self._tls = ssl.create_default_context(cafile=address.certificate)

    def request(self, method: str, path: str, body: object = None, kind: str = "application/json") -> bytes:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._address.port, timeout=30, context=self._tls
        )
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, path, content, {**self._headers, "Content-Type": kind})
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        if response.status >= 400:
            raise ApiError(response.status, answer.decode(errors="replace"))
        return answer

    def get(self, path: str) -> Object:
        return parsed(self.request("GET", path))

    def find(self, path: str) -> Object | None:
        """None where there is none."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def items(self, path: str) -> list[Object]:
        found: list[Object] = self.get(path)["items"]
        return found

    def create(self, path: str, body: Object) -> Object:
        return parsed(self.request("POST", path, body))

    def patch(self, path: str, body: Object) -> Object:
        return parsed(self.request("PATCH", path, body, MERGE_PATCH))

    def delete(self, path: str, **options: Any) -> None:
        self.request("DELETE", path, options or None)


def parsed(answer: bytes) -> Object:
    found: Object = json.loads(answer)
    return found

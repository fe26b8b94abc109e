"""Who we are: a token, a name and password, a certificate, or nobody.

`identity` is asked before each request and must be cheap. When the server refuses an identity with 401,
`refresh` is told which; many requests may be refused at once, and only the first of them renews anything.
"""

import base64
from dataclasses import dataclass, field
from typing import Protocol

from paddle_operator.kube.auth.content import Content
from paddle_operator.kube.auth.errors import AccessError
from paddle_operator.kube.auth.tls import Certificate

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    headers: Headers = field(default=(), repr=False)
    certificate: Certificate | None = None


class Credentials(Protocol):
    async def identity(self) -> Identity: ...

    async def refresh(self, refused: Identity) -> bool:
        """Whether there may be another identity now than the one that was refused."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What stands in a file, read again when the file changes."""

    token: Content | None = None
    certificate: tuple[Content, Content] | None = None  # chain and key
    headers: Headers = ()
    what: str = ""

    def now(self) -> Identity:
        certificate = None
        if self.certificate:
            chain, key = self.certificate
            certificate = Certificate(chain.read(), key.read(), self.what)
        token = bearer(self.token.read(), self.what) if self.token else ()
        return Identity((*token, *self.headers), certificate)

    async def identity(self) -> Identity:
        return self.now()

    async def refresh(self, refused: Identity) -> bool:
        for content in (self.token, *(self.certificate or ())):
            if content:
                content.forget()
        return self.now() != refused


def bearer(token: bytes, what: str) -> Headers:
    text = token.decode("ascii", errors="replace").strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise AccessError(f"{what}: the token holds characters that no token has; expected one line of text")
    return (("Authorization", f"Bearer {text}"),)


def basic(username: str, password: str) -> Headers:
    both = base64.b64encode(f"{username}:{password}".encode()).decode()
    return (("Authorization", f"Basic {both}"),)

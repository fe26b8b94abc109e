"""What a connection needs: an address, a way to trust it, and somebody to be."""

from dataclasses import dataclass

from paddle_operator.kube.auth.credentials import Credentials
from paddle_operator.kube.auth.tls import Tls


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    server: str  # https://host:port, perhaps with a path that stands before every other
    tls: Tls
    credentials: Credentials
    origin: str  # where this came from, for messages
    namespace: str = "default"  # where objects go that name none
    proxy: str = ""

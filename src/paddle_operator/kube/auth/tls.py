"""Whom we trust, and the certificate we show: an SSL context, made anew only when one of them changed."""

import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from paddle_operator.kube.auth.content import Content
from paddle_operator.kube.auth.errors import AccessError


@dataclass(frozen=True, slots=True)
class Certificate:
    """Ours, as PEM."""

    chain: bytes
    key: bytes = field(repr=False)
    what: str = field(default="", compare=False)  # where it comes from, for messages

    def no_password(self) -> str:
        """Else it would be asked for on the terminal, by OpenSSL, in the middle of anything."""
        raise AccessError(f"{self.what}: the client key is encrypted; give it without a password")


@dataclass(slots=True, kw_only=True)
class Tls:
    ca: Content | None = None  # without one, those the system trusts
    insecure: bool = False
    server_name: str = ""  # what the server's certificate must say, if not the host of the address
    what: str = ""  # where all this was said, for messages
    _made: tuple[bytes, Certificate | None, ssl.SSLContext] | None = None

    def context(self, certificate: Certificate | None) -> ssl.SSLContext:
        ca = self.ca.read() if self.ca else b""
        if self._made is None or self._made[:2] != (ca, certificate):
            self._made = (ca, certificate, self._make(ca, certificate))
        return self._made[2]

    def _make(self, ca: bytes, certificate: Certificate | None) -> ssl.SSLContext:
        context = self._trusting(ca)
        context.set_alpn_protocols(["http/1.1"])
        # Certificate authorities of clusters often lack the key identifiers that Python 3.13 asks for.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if certificate:
            self._show(context, certificate)
        return context

    def _trusting(self, ca: bytes) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cadata=ca.decode("ascii") or None)
        except (ssl.SSLError, UnicodeDecodeError) as error:
            raise AccessError(f"{self.what}: the certificate authority is not a PEM certificate") from error

    @staticmethod
    def _show(context: ssl.SSLContext, certificate: Certificate) -> None:
        """The ssl module takes them as files only; they lie there, for us alone, while it reads them."""
        with tempfile.TemporaryDirectory() as folder:
            chain, key = Path(folder, "chain"), Path(folder, "key")
            chain.write_bytes(certificate.chain)
            key.write_bytes(certificate.key)
            try:
                context.load_cert_chain(chain, key, password=certificate.no_password)
            except ssl.SSLError as error:
                raise AccessError(
                    f"{certificate.what}: the client certificate cannot be used: "
                    f"{error.reason or 'not PEM'}; certificate and key must be PEM, and belong together"
                ) from error

"""Certificates for one test run, made by the openssl program: an authority, a server, a client."""

import atexit
import functools
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pair:
    certificate: Path
    key: Path


class Authority:
    """Signs certificates. `names` are what a server may be called, as openssl writes them."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self.pair = self._paths(name)
        self._openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
            *("-keyout", self.pair.key, "-out", self.pair.certificate, "-subj", f"/CN={name}"),
        )

    @property
    def certificate(self) -> Path:
        return self.pair.certificate

    def sign(self, name: str, names: str = "DNS:nobody") -> Pair:
        pair, request, extra = self._paths(name), self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        extra.write_text(f"subjectAltName={names}\n")
        self._openssl(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-keyout", pair.key, "-out", request, "-subj", f"/CN={name}/O=testers"),
        )
        self._openssl(
            *("x509", "-req", "-in", request, "-CA", self.pair.certificate, "-CAkey", self.pair.key),
            *("-CAcreateserial", "-days", "2", "-out", pair.certificate, "-extfile", extra),
        )
        return pair

    def encrypt(self, key: Path) -> Path:
        encrypted = key.with_suffix(".encrypted")
        self._openssl("pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", encrypted)
        return encrypted

    def _paths(self, name: str) -> Pair:
        return Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")

    def _openssl(self, *args: str | Path) -> None:
        subprocess.run(["openssl", *args], check=True, capture_output=True, timeout=30)


@dataclass(frozen=True)
class Papers:
    """What most tests need; made once, because each costs a tenth of a second."""

    authority: Authority
    server: Pair  # for 127.0.0.1
    elsewhere: Pair  # for api.example.org only
    client: Pair
    other: Pair
    stranger: Authority  # nobody's


@functools.cache
def papers() -> Papers:
    folder = Path(tempfile.mkdtemp(prefix="certificates-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    authority = Authority(folder)
    return Papers(
        authority=authority,
        server=authority.sign("server", "IP:127.0.0.1"),
        elsewhere=authority.sign("elsewhere", "DNS:api.example.org"),
        client=authority.sign("client"),
        other=authority.sign("other"),
        stranger=Authority(folder, "stranger"),
    )

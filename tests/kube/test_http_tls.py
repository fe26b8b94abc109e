"""Whom we trust, what we show, and through whom we go."""

from pathlib import Path

import pytest
from aiohttp import web

from paddle_operator.kube.auth.access import Access
from paddle_operator.kube.auth.content import File, Inline
from paddle_operator.kube.auth.credentials import Given
from paddle_operator.kube.auth.tls import Tls
from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.http import HttpTransport
from paddle_operator.kube.transport import Request
from support.http_certificates import Pair, papers
from support.http_server import access, proxying, serving

GET = Request(method="GET", path="/")


async def ok(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response()


async def who(request: web.BaseRequest) -> web.StreamResponse:
    """Answers with the name in the certificate that was shown."""
    shown = request.get_extra_info("peercert") or {"subject": ()}
    return web.Response(text=next((part[0][1] for part in shown["subject"]), "nobody"))


async def status(to: Access) -> int:
    async with HttpTransport(to) as transport:
        return (await transport.request(GET)).status


async def refusal(to: Access) -> str:
    with pytest.raises(TransportError) as caught:
        await status(to)
    return str(caught.value)


def trusting(authority: Path, *, server_name: str = "") -> Tls:
    return Tls(ca=File(authority, "test"), server_name=server_name)


def showing(pair: Pair) -> Given:
    return Given(certificate=(File(pair.certificate, "test"), File(pair.key, "test")))


@pytest.mark.asyncio
async def test_a_server_of_another_authority_is_refused_with_the_place_to_look() -> None:
    async with serving(ok) as server:
        tls = trusting(papers().stranger.certificate)
        said = await refusal(access(server.url, tls=tls))
    assert said.startswith(f"{server.url}: its certificate is not trusted: ")
    assert said.endswith("check the test")


@pytest.mark.asyncio
async def test_without_an_authority_those_of_the_system_count() -> None:
    async with serving(ok) as server:
        assert "not trusted" in await refusal(access(server.url, tls=Tls()))


@pytest.mark.asyncio
async def test_insecure_trusts_anybody() -> None:
    async with serving(ok, pair=papers().elsewhere) as server:
        assert await status(access(server.url, tls=Tls(insecure=True))) == 200


@pytest.mark.asyncio
async def test_a_certificate_for_another_host_is_refused() -> None:
    async with serving(ok, pair=papers().elsewhere) as server:
        assert "not trusted" in await refusal(access(server.url))


@pytest.mark.asyncio
async def test_tls_server_name_is_what_the_certificate_must_say() -> None:
    tls = trusting(papers().authority.certificate, server_name="api.example.org")
    async with serving(ok, pair=papers().elsewhere) as server:
        assert await status(access(server.url, tls=tls)) == 200
        assert server.seen[0].host.startswith("127.0.0.1:")
    async with serving(ok, pair=papers().server) as server:
        assert "not trusted" in await refusal(access(server.url, tls=tls))


@pytest.mark.asyncio
async def test_an_authority_that_is_exchanged_is_trusted_without_a_restart(tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_bytes(papers().stranger.certificate.read_bytes())
    async with (
        serving(ok) as server,
        HttpTransport(access(server.url, tls=trusting(authority))) as transport,
    ):
        with pytest.raises(TransportError):
            await transport.request(GET)
        authority.write_bytes(papers().authority.certificate.read_bytes() + b"\n")
        assert (await transport.request(GET)).status == 200


@pytest.mark.asyncio
async def test_the_server_sees_our_certificate() -> None:
    async with serving(who, ask_for_certificate=True) as server:
        for credentials, want in ((showing(papers().client), b"client"), (Given(), b"nobody")):
            async with HttpTransport(access(server.url, credentials=credentials)) as transport:
                assert (await transport.request(GET)).body == want


@pytest.mark.asyncio
async def test_a_certificate_that_is_exchanged_is_shown_on_a_new_connection(tmp_path: Path) -> None:
    mine = Pair(tmp_path / "pem", tmp_path / "key")

    def become(pair: Pair) -> None:
        mine.certificate.write_bytes(pair.certificate.read_bytes())
        mine.key.write_bytes(pair.key.read_bytes())

    become(papers().client)
    async with (
        serving(who, ask_for_certificate=True) as server,
        HttpTransport(access(server.url, credentials=showing(mine))) as transport,
    ):
        assert (await transport.request(GET)).body == b"client"
        become(papers().other)
        assert (await transport.request(GET)).body == b"other"


@pytest.mark.asyncio
async def test_a_token_that_is_exchanged_in_its_file_is_sent(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    credentials = Given(token=File(token, "test"))
    async with (
        serving(ok) as server,
        HttpTransport(access(server.url, credentials=credentials)) as transport,
    ):
        await transport.request(GET)
        (tmp_path / "new").write_text("other\n")
        (tmp_path / "new").replace(token)
        await transport.request(GET)
    assert [one.headers["Authorization"] for one in server.seen] == ["Bearer first", "Bearer other"]


@pytest.mark.asyncio
async def test_a_proxy_is_asked_for_a_tunnel_and_sees_nothing_else() -> None:
    async with serving(who, ask_for_certificate=True) as server, proxying() as proxy:
        to = access(server.url, credentials=showing(papers().client), proxy=proxy.url)
        async with HttpTransport(to) as transport:
            assert (await transport.request(GET)).body == b"client"
            assert (await transport.request(GET)).body == b"client"
    assert proxy.asked == [f"CONNECT {server.url.removeprefix('https://')} HTTP/1.1"]


@pytest.mark.asyncio
async def test_tls_server_name_counts_behind_a_proxy_too() -> None:
    tls = trusting(papers().authority.certificate, server_name="api.example.org")
    async with serving(ok, pair=papers().elsewhere) as server, proxying() as proxy:
        assert await status(access(server.url, tls=tls, proxy=proxy.url)) == 200


@pytest.mark.asyncio
async def test_a_proxy_that_refuses_is_named_without_its_password() -> None:
    async with proxying() as proxy:
        proxy.answer = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
        url = proxy.url.replace("http://", "http://me:secret@")
        said = await refusal(access("https://127.0.0.1:1", proxy=url))
    assert said == f"https://127.0.0.1:1: the proxy {proxy.url} refused to connect: 403 Forbidden"


@pytest.mark.asyncio
async def test_a_proxy_that_is_not_there_is_named() -> None:
    said = await refusal(access("https://127.0.0.1:1", proxy="http://127.0.0.1:1"))
    assert "cannot connect to the proxy http://127.0.0.1:1: Connection refused; check proxy-url" in said


@pytest.mark.asyncio
async def test_plain_http_is_spoken_where_the_address_says_so() -> None:
    async with serving(ok, plain=True) as server:
        assert await status(access(server.url, credentials=Given(token=Inline(b"t")))) == 200

"""Client and cache work over real HTTPS as they do in memory."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from paddle_operator.kube.cache import Informer
from paddle_operator.kube.client import Client
from paddle_operator.kube.errors import AlreadyExists, NotFound
from paddle_operator.kube.http import HttpTransport
from paddle_operator.kube.objects import Partial
from support.api import NS, PATIENCE, WIDGETS, Api, widget
from support.http_api import over_http
from support.http_server import Server, access, serving


@dataclass
class Remote:
    api: Api
    client: Client
    server: Server


@contextlib.asynccontextmanager
async def remote() -> AsyncIterator[Remote]:
    api = Api()
    async with serving(over_http(api.server)) as server, HttpTransport(access(server.url)) as transport:
        yield Remote(api, Client(transport), server)


class Names:
    """The names an informer holds, and a way to wait for them."""

    def __init__(self, client: Client) -> None:
        self._news = asyncio.Event()
        self._informer = Informer(
            client,
            WIDGETS,
            wire=Partial,
            project=lambda one: (one.metadata.name, tuple(one.metadata.labels)),
            on_change=lambda _old, _new: self._news.set(),
        )

    async def until(self, want: set[tuple[str, tuple[str, ...]]]) -> None:
        async with asyncio.timeout(PATIENCE):
            while set(self._informer.all()) != want:
                self._news.clear()
                await self._news.wait()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._informer.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.asyncio
async def test_an_object_is_created_read_changed_and_deleted() -> None:
    async with remote() as there:
        created = await there.client.create(WIDGETS, NS, widget("a", size=1))
        changed = await there.client.patch(WIDGETS, NS, "a", {"spec": {"size": 2}})
        assert (await there.client.get(WIDGETS, NS, "a")) == changed
        assert changed["metadata"]["uid"] == created["metadata"]["uid"]
        await there.client.delete(WIDGETS, NS, "a", uid=created["metadata"]["uid"])
        with pytest.raises(NotFound):
            await there.client.get(WIDGETS, NS, "a")
        assert await there.api.names() == []


@pytest.mark.asyncio
async def test_a_refusal_keeps_its_meaning() -> None:
    async with remote() as there:
        await there.client.create(WIDGETS, NS, widget())
        with pytest.raises(AlreadyExists):
            await there.client.create(WIDGETS, NS, widget())


@pytest.mark.asyncio
async def test_the_cache_shows_what_was_there_and_what_happens() -> None:
    async with remote() as there:
        await there.client.create(WIDGETS, NS, widget("a"))
        names = Names(there.client)
        async with names.running():
            await names.until({("a", ())})
            await there.client.create(WIDGETS, NS, widget("b"))
            await there.client.patch(WIDGETS, NS, "b", {"metadata": {"labels": {"x": "y"}}})
            await names.until({("a", ()), ("b", ("x",))})
            await there.client.delete(WIDGETS, NS, "a")
            await names.until({("b", ("x",))})


@pytest.mark.asyncio
async def test_the_cache_survives_connections_that_are_cut() -> None:
    async with remote() as there:
        names = Names(there.client)
        async with names.running():
            for number in range(3):
                await there.api.create(widget(f"w{number}"))
                await names.until({(f"w{one}", ()) for one in range(number + 1)})
                for request in there.server.seen:
                    if request.transport is not None:
                        request.transport.abort()


@pytest.mark.asyncio
async def test_many_objects_come_over_whole() -> None:
    async with remote() as there:
        body = {**widget(), "data": "x" * 5000}
        await asyncio.gather(
            *(
                there.client.create(WIDGETS, NS, {**body, "metadata": {"name": f"w{number}"}})
                for number in range(200)
            )
        )
        names = Names(there.client)
        async with names.running():
            await names.until({(f"w{number}", ()) for number in range(200)})

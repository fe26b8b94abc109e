"""Whatever happens, and whatever the network does, the cache ends as the server is, and has said how."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from paddle_operator.kube.cache import Informer
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import AlreadyExists, NotFound
from support import virtual_time
from support.api import WIDGETS, Api, widget
from support.faults import Fault, Faulty, Trouble
from support.widgets import View, WidgetWire, view


@dataclass
class Follower:
    """Knows only what it is told."""

    values: dict[str, View] = field(default_factory=dict)

    def hear(self, old: View | None, new: View | None) -> None:
        assert old != new, "a change that is none"
        name = (old or new or View("", "", 0)).name
        assert self.values.get(name) == old, "the change does not begin where the last one ended"
        if new:
            self.values[name] = new
        else:
            del self.values[name]


names = st.sampled_from("abc")
apps = st.sampled_from("xy")
sizes = st.integers(1, 3)
steps = st.one_of(
    st.tuples(st.just("create"), names, apps, sizes),
    st.tuples(st.just("resize"), names, sizes),
    st.tuples(st.just("relabel"), names, apps),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("fail next"), st.sampled_from(Fault)),
    st.tuples(st.just("fail streams"), st.sampled_from(Fault)),
    st.tuples(st.just("trouble"), st.sampled_from(Trouble)),
    st.tuples(st.just("forget history")),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.05, 1.0, 400.0])),
)


async def take(api: Api, transport: Faulty, step: tuple[object, ...]) -> None:
    match step:
        case ("create", str(name), str(app), int(size)):
            await api.create(widget(name, size=size, labels={"app": app}))
        case ("resize", str(name), int(size)):
            await api.patch({"spec": {"size": size}}, name)
        case ("relabel", str(name), str(app)):
            await api.patch({"metadata": {"labels": {"app": app}}}, name)
        case ("delete", str(name)):
            await api.delete(name)
        case ("fail next", Fault() as fault):
            transport.fail_next(fault)
        case ("fail streams", Fault() as fault):
            transport.fail_streams(fault)
        case ("trouble", Trouble() as trouble):
            transport.trouble = trouble
        case ("forget history",):
            api.server._store._history.clear()
        case ("wait", float(seconds)):
            await asyncio.sleep(seconds)


def as_seen(item: Object) -> View:
    return View(item["metadata"]["name"], item["metadata"]["uid"], item["spec"]["size"])


async def follow(script: list[tuple[object, ...]], piece: int, *, old: bool) -> None:
    api, follower = Api(), Follower()
    transport = Faulty(api.server, piece, old=old)
    informer = Informer(
        Client(transport),
        WIDGETS,
        wire=WidgetWire,
        project=view,
        on_change=follower.hear,
        selector="app=x",
        indexes={"size": lambda one: one.size},
    )
    task = asyncio.create_task(informer.run())
    for step in script:
        try:
            await take(api, transport, step)
        except (NotFound, AlreadyExists):
            continue
    transport.heal()
    await asyncio.sleep(400.0)  # longer than any back-off and any watch
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled(), "the informer stopped by itself"
    there = {item["metadata"]["name"]: as_seen(item) for item in (await api.list(selector="app=x"))["items"]}
    assert {one.name: one for one in informer.all()} == there
    assert follower.values == there
    for size in (1, 2, 3):
        assert {one.name for one in informer.by("size", size)} == {
            name for name, one in there.items() if one.size == size
        }


@given(st.lists(steps, max_size=25), st.sampled_from([1, 7, 1000]), st.booleans())
def test_the_cache_equals_the_server_and_has_announced_each_difference(
    script: list[tuple[object, ...]], piece: int, old: bool
) -> None:
    virtual_time.run(follow(script, piece, old=old))

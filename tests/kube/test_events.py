"""Events: the same is one object that counts, no object floods the cluster, and no caller is troubled."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from paddle_operator.kube import events
from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import TransportError
from paddle_operator.kube.events import BURST, FLUSH, REFILL, SAME, EventRecorder, Subject
from paddle_operator.kube.resources import EVENTS
from paddle_operator.kube.transport import Request, Response
from paddle_operator.local.apiserver.kinds import Kind
from paddle_operator.local.apiserver.server import ApiServer
from support import virtual_time

NS = "ns"
EVENT_KIND = Kind(group="", version="v1", plural="events", kind="Event")


def subject(name: str = "demo", *, uid: str = "u1", namespace: str = NS) -> Subject:
    return Subject(api_version="example.org/v1", kind="Widget", namespace=namespace, name=name, uid=uid)


class World:
    """A server whose answers can be spoilt, and a recorder."""

    def __init__(self) -> None:
        self.server = ApiServer([EVENT_KIND], virtual_time.now)
        self.requests: list[Request] = []
        self.spoil: Callable[[Request], Awaitable[Response | None]] = _as_it_is
        self.recorder = EventRecorder(Client(self), component="tester", now=virtual_time.now)

    async def request(self, request: Request) -> Response:
        self.requests.append(request)
        return await self.spoil(request) or await self.server.request(request)

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        raise NotImplementedError

    def say(self, message: str = "hello", *, of: Subject | None = None, reason: str = "Greeted") -> None:
        self.recorder.record(of or subject(), kind="Normal", reason=reason, message=message)

    async def stored(self, namespace: str = NS) -> list[Object]:
        answer = await self.server.request(Request(method="GET", path=EVENTS.path(namespace)))
        items: list[Object] = msgspec.json.decode(answer.body)["items"]
        return sorted(items, key=lambda item: str(item["firstTimestamp"]))

    async def counts(self) -> dict[str, int]:
        return {item["message"]: item["count"] for item in await self.stored()}

    def methods(self) -> list[str]:
        return [request.method for request in self.requests]


async def _as_it_is(_: Request) -> Response | None:
    return None


def refuse(
    status: int, *, times: int = 10**9, **headers: str
) -> Callable[[Request], Awaitable[Response | None]]:
    left = [times]

    async def spoil(_: Request) -> Response | None:
        left[0] -= 1
        return Response(status=status, body=b"{}", headers=headers) if left[0] >= 0 else None

    return spoil


def play(story: Callable[[World], Awaitable[Any]]) -> None:
    async def main() -> None:
        world = World()
        async with world.recorder:
            await story(world)

    virtual_time.run(main(), most=1e6)


def seconds(count: float) -> str:
    return (virtual_time.EPOCH + timedelta(seconds=count)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_an_event_says_what_happened_to_which_object_and_who_says_so() -> None:
    async def story(world: World) -> None:
        await asyncio.sleep(5)
        world.recorder.record(subject(), kind="Warning", reason="Broken", message="it broke")
        await asyncio.sleep(1)
        (event,) = await world.stored()
        meta = event.pop("metadata")
        assert meta["name"].startswith("demo.")
        assert meta["namespace"] == NS
        assert event == {
            "apiVersion": "v1",
            "kind": "Event",
            "involvedObject": {
                "apiVersion": "example.org/v1",
                "kind": "Widget",
                "namespace": NS,
                "name": "demo",
                "uid": "u1",
            },
            "type": "Warning",
            "reason": "Broken",
            "message": "it broke",
            "source": {"component": "tester"},
            "reportingComponent": "tester",
            "firstTimestamp": seconds(5),
            "lastTimestamp": seconds(5),
            "count": 1,
        }

    play(story)


def test_the_same_said_again_within_ten_minutes_raises_the_count_of_one_event() -> None:
    async def story(world: World) -> None:
        for _ in range(3):
            world.say()
            await asyncio.sleep(SAME - 1)
        (event,) = await world.stored()
        assert (event["count"], event["firstTimestamp"]) == (3, seconds(0))
        assert event["lastTimestamp"] == seconds(2 * (SAME - 1))
        assert world.methods() == ["POST", "PATCH", "PATCH"]

    play(story)


def test_the_same_said_after_more_than_ten_minutes_is_another_event() -> None:
    async def story(world: World) -> None:
        world.say()
        await asyncio.sleep(SAME + 1)
        world.say()
        await asyncio.sleep(1)
        assert [event["count"] for event in await world.stored()] == [1, 1]

    play(story)


def test_what_differs_in_object_type_reason_or_message_is_another_event() -> None:
    async def story(world: World) -> None:
        world.say()
        world.say(of=subject(uid="u2"))
        world.say(reason="Other")
        world.say("other")
        world.recorder.record(subject(), kind="Warning", reason="Greeted", message="hello")
        await asyncio.sleep(1)
        assert [event["count"] for event in await world.stored()] == [1] * 5

    play(story)


def test_what_is_said_again_before_it_was_sent_costs_one_request() -> None:
    async def story(world: World) -> None:
        for _ in range(100):
            world.say()
        await asyncio.sleep(1)
        assert await world.counts() == {"hello": 100}
        assert world.methods() == ["POST"]
        for number in range(2 * BURST):
            world.say(str(number))
        await asyncio.sleep(1)
        assert len(world.requests) == BURST

    play(story)


def test_what_is_said_again_while_it_is_sent_is_counted_too() -> None:
    async def story(world: World) -> None:
        async def slow(_: Request) -> Response | None:
            await asyncio.sleep(1)
            return None

        world.spoil = slow
        world.say()
        await asyncio.sleep(0.5)
        world.say()
        await asyncio.sleep(5)
        assert await world.counts() == {"hello": 2}
        assert world.methods() == ["POST", "PATCH"]

    play(story)


def test_an_object_may_cause_a_burst_and_then_one_request_in_five_minutes() -> None:
    async def story(world: World) -> None:
        for number in range(2 * BURST):
            world.say(f"message {number}")
        world.say("of another", of=subject(uid="u2"))
        await asyncio.sleep(1)
        assert len(world.requests) == BURST + 1
        for number in range(101):
            world.say(f"later {number}")
            await asyncio.sleep(REFILL / 10)
        assert len(world.requests) == BURST + 1 + 10
        await asyncio.sleep(REFILL * 3 * BURST)
        for number in range(2 * BURST):
            world.say(f"much later {number}")
        await asyncio.sleep(1)
        assert len(world.requests) == BURST + 1 + 10 + BURST

    play(story)


def test_what_may_not_be_sent_is_counted_all_the_same() -> None:
    async def story(world: World) -> None:
        for _ in range(BURST + 10):
            world.say()
            await asyncio.sleep(0.1)
        assert await world.counts() == {"hello": BURST}
        await asyncio.sleep(REFILL)
        world.say()
        await asyncio.sleep(1)
        assert await world.counts() == {"hello": BURST + 11}

    play(story)


def test_a_long_message_is_cut_and_says_so() -> None:
    async def story(world: World) -> None:
        world.say("x" * 1024)
        world.say("y" * 1025)
        await asyncio.sleep(1)
        messages = {event["message"] for event in await world.stored()}
        assert messages == {"x" * 1024, "y" * 1023 + "…"}

    play(story)


@pytest.mark.parametrize("name", ["n" * 253, "n" * 235 + ".-n" * 6])
def test_the_name_of_an_event_of_an_object_with_a_long_name_is_a_name(name: str) -> None:
    async def story(world: World) -> None:
        world.say(of=subject(name))
        await asyncio.sleep(1)
        (event,) = await world.stored()
        stem, _, rest = event["metadata"]["name"].rpartition(".")
        assert len(event["metadata"]["name"]) <= 253
        assert name.startswith(stem)
        assert stem[-1].isalnum()
        assert rest.isalnum()

    play(story)


def test_events_of_objects_without_a_namespace_live_in_default() -> None:
    async def story(world: World) -> None:
        world.say(of=subject(namespace=""))
        await asyncio.sleep(1)
        assert len(await world.stored("default")) == 1

    play(story)


def test_what_waited_long_to_be_sent_is_still_the_same_event() -> None:
    async def story(world: World) -> None:
        world.spoil = refuse(429, times=1, **{"Retry-After": str(int(2 * SAME))})
        world.say()
        await asyncio.sleep(1.5 * SAME)
        world.say()
        await asyncio.sleep(SAME)
        assert await world.counts() == {"hello": 2}

    play(story)


def test_an_event_the_server_forgot_is_made_again() -> None:
    async def story(world: World) -> None:
        world.say()
        await asyncio.sleep(1)
        (event,) = await world.stored()
        await Client(world.server).delete(EVENTS, NS, event["metadata"]["name"])
        world.say()
        await asyncio.sleep(1)
        assert await world.counts() == {"hello": 2}

    play(story)


def test_a_try_whose_answer_was_lost_makes_no_second_event_and_loses_no_count() -> None:
    async def story(world: World) -> None:
        lost = [False]

        async def lose_one_answer(request: Request) -> Response | None:
            if lost[0]:
                return None
            lost[0] = True
            await world.server.request(request)
            world.say()
            raise TransportError("connection reset")

        world.spoil = lose_one_answer
        world.say()
        await asyncio.sleep(10)
        assert await world.counts() == {"hello": 2}
        assert world.methods() == ["POST", "POST", "PATCH"]

    play(story)


def test_a_busy_server_is_given_the_time_it_asks_for() -> None:
    async def story(world: World) -> None:
        world.spoil = refuse(429, times=2, **{"Retry-After": "20"})
        world.say()
        await asyncio.sleep(39)
        assert await world.stored() == []
        await asyncio.sleep(2)
        assert await world.counts() == {"hello": 1}

    play(story)


def test_an_event_that_reached_nobody_is_sent_again() -> None:
    async def story(world: World) -> None:
        async def cut(_: Request) -> Response | None:
            raise TransportError("connection refused")

        world.spoil = cut
        world.say()
        await asyncio.sleep(1)
        world.spoil = _as_it_is
        await asyncio.sleep(10)
        assert await world.counts() == {"hello": 1}

    play(story)


@pytest.mark.parametrize("status", [403, 404, 422, 500])
def test_an_event_the_server_does_not_take_is_dropped_and_the_next_is_sent(status: int) -> None:
    async def story(world: World) -> None:
        world.spoil = refuse(status)
        world.say("lost")
        await asyncio.sleep(100)
        world.spoil = _as_it_is
        world.say("kept")
        await asyncio.sleep(1)
        assert await world.counts() == {"kept": 1}

    play(story)


def test_an_error_of_ours_ends_neither_the_sender_nor_its_caller(caplog: pytest.LogCaptureFixture) -> None:
    async def story(world: World) -> None:
        async def broken(_: Request) -> Response | None:
            raise LookupError("ours")

        world.spoil = broken
        world.say("lost")
        await asyncio.sleep(1)
        world.spoil = _as_it_is
        world.say("kept")
        await asyncio.sleep(1)
        assert await world.counts() == {"kept": 1}

    play(story)
    assert "an error of ours" in caplog.text


def test_failures_are_logged_once_in_a_while_with_their_number(caplog: pytest.LogCaptureFixture) -> None:
    async def story(world: World) -> None:
        world.spoil = refuse(403)
        for number in range(10):
            world.say(str(number))
        await asyncio.sleep(61)
        world.say("after a while")
        await asyncio.sleep(1)

    with caplog.at_level(logging.WARNING, logger=events.__name__):
        play(story)
    assert len(caplog.messages) == 2
    assert "403" in caplog.messages[0]
    assert "and 9 before it" in caplog.messages[1]


def test_when_too_many_wait_more_are_dropped_and_the_caller_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "WAITING", 3)

    async def story(world: World) -> None:
        for number in range(10):
            world.say(str(number))
        await asyncio.sleep(1)
        assert set(await world.counts()) == {"0", "1", "2"}

    play(story)


def test_what_is_known_of_old_events_and_objects_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "REMEMBERED", 5)

    async def story(world: World) -> None:
        for number in range(20):
            world.say(of=subject(uid=str(number)))
            await asyncio.sleep(1)
        assert (len(world.recorder._known), len(world.recorder._buckets)) == (5, 5)

    play(story)


def test_what_was_said_of_late_is_forgotten_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "REMEMBERED", 2)

    async def story(world: World) -> None:
        for message in ("a", "b", "a", "c", "a"):
            world.say(message)
            await asyncio.sleep(1)
        assert await world.counts() == {"a": 3, "b": 1, "c": 1}

    play(story)


def test_what_waits_at_the_end_is_sent_also_what_was_being_sent() -> None:
    async def main() -> None:
        world = World()

        async def slow(_: Request) -> Response | None:
            await asyncio.sleep(1)
            return None

        world.spoil = slow
        async with world.recorder:
            world.say("first")
            world.say("second")
            await asyncio.sleep(0.5)
        assert await world.counts() == {"first": 1, "second": 1}

    virtual_time.run(main())


def test_the_end_does_not_wait_for_a_server_that_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        world = World()

        async def hang(_: Request) -> Response | None:
            await asyncio.Event().wait()
            return None

        world.spoil = hang
        async with world.recorder:
            world.say()
        assert asyncio.get_running_loop().time() == FLUSH

    virtual_time.run(main())
    assert "1 events were not sent" in caplog.text


def test_an_idle_recorder_sends_nothing() -> None:
    async def story(world: World) -> None:
        await asyncio.sleep(3000)
        assert world.requests == []

    play(story)

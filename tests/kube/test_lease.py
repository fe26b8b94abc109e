"""One of the candidates leads, the next takes over in time, and the record says what client-go would say."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from paddle_operator.kube.client import Client, Object
from paddle_operator.kube.errors import KubeError, TransportError
from paddle_operator.kube.lease import Gated, Lease, NotLeadingError, Times
from paddle_operator.kube.resources import LEASES
from paddle_operator.kube.transport import Request, Response, Transport
from paddle_operator.local.apiserver.server import ApiServer
from support import virtual_time
from support.api import Canned
from support.lease_world import LEASE_KIND, NAME, NS, Candidate, LeaseWorld

DURATION, RENEW, RETRY = 15, 10.0, 2.0
SLACK = 0.05  # the grain of whoever watches

Story = Callable[[LeaseWorld, list[Candidate]], Awaitable[None]]


def play(story: Story, *, count: int = 2, seed: int = 0) -> None:
    """Runs the story in virtual time; whatever it is about, two never may write."""

    async def main() -> None:
        world = LeaseWorld(seed=seed)
        async with world.running(count) as candidates:
            await story(world, candidates)
        assert world.wrong == []

    virtual_time.run(main())


def time() -> float:
    return asyncio.get_running_loop().time()


async def _for_ever() -> None:
    await asyncio.Event().wait()


async def _nothing() -> None:
    return


@dataclass
class Spoilt:
    """A server that refuses a method, or to which something happens after each look at it."""

    inner: Transport
    refuses: str = ""
    after_get: Callable[[], Awaitable[None]] = _nothing
    gets: int = 0

    async def request(self, request: Request) -> Response:
        if request.method == self.refuses:
            return Response(status=403, body=b"{}")
        response = await self.inner.request(request)
        if request.method == "GET":
            self.gets += 1
            await self.after_get()
        return response

    async def stream(self, request: Request, feed: Callable[[bytes], None]) -> Response:
        raise NotImplementedError


@pytest.mark.parametrize("count", [1, 2, 5])
def test_one_of_the_candidates_leads_and_goes_on_leading(count: int) -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        leader = await world.elected(most=SLACK)
        await asyncio.sleep(300)
        assert {name for _, name in world.writes} == {leader.name}
        assert [len(one.terms) for one in world.candidates if one.terms] == [1]

    play(story, count=count)


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_after_a_kill_another_leads_within_the_duration_and_one_retry_period(count: int, seed: int) -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30 + seed * 0.37)
        renewed = first.wire.granted
        while first.wire.granted == renewed:  # noqa: ASYNC110 - virtual time; the worst moment is just after one
            await asyncio.sleep(0.001)
        first.kill()
        killed = time()
        await world.elected(besides=first)
        assert RENEW < time() - killed <= DURATION + RETRY + SLACK

    play(story, count=count, seed=seed)


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_a_leader_that_stops_gives_the_lease_up_and_another_leads_one_retry_period_later(
    count: int, seed: int
) -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30 + seed * 0.37)
        await first.stop()
        stopped = time()
        await world.elected(besides=first)
        assert time() - stopped <= RETRY + SLACK

    play(story, count=count, seed=seed)


def test_what_is_given_up_names_nobody_and_one_that_never_led_leaves_the_lease_alone() -> None:
    async def story(world: LeaseWorld, candidates: list[Candidate]) -> None:
        leader = await world.elected()
        await asyncio.sleep(5)
        (follower,) = [one for one in candidates if one is not leader]
        follower.wire.sent.clear()
        await follower.stop()
        assert {method for method, _ in follower.wire.sent} <= {"GET"}
        assert (await world.spec())["holderIdentity"] == leader.name
        await leader.stop()
        spec = await world.spec()
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("", 1, 0)

    play(story)


def test_while_the_leader_takes_its_time_to_stop_the_lease_stays_its_own() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        leader = await world.elected()
        leader.drain = 40.0
        asked = time()
        stopping = asyncio.create_task(leader.stop())
        await asyncio.sleep(39)
        assert leader.may_write()
        await stopping
        assert time() - asked == pytest.approx(40)
        assert not leader.may_write()
        assert (await world.elected(besides=leader, most=RETRY + SLACK)) is not leader

    play(story)


def test_a_renewal_is_one_write_and_no_look() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        leader = await world.elected()
        leader.wire.sent.clear()
        await asyncio.sleep(60)
        methods = [method for method, _ in leader.wire.sent]
        assert set(methods) == {"PATCH"}
        assert 60 / RETRY <= len(methods) <= 60 / (0.8 * RETRY)

    play(story)


def test_the_record_says_who_since_when_and_how_many_before() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        created = await world.spec()
        assert (created["holderIdentity"], created["leaseDurationSeconds"]) == (first.name, DURATION)
        assert (created["leaseTransitions"], created["acquireTime"]) == (0, created["renewTime"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", created["renewTime"])
        await asyncio.sleep(30)
        renewed = await world.spec()
        assert renewed["renewTime"] > created["renewTime"]
        assert {**renewed, "renewTime": ""} == {**created, "renewTime": ""}
        first.kill()
        second = await world.elected(besides=first)
        taken = await world.spec()
        assert (taken["holderIdentity"], taken["leaseTransitions"]) == (second.name, 1)
        assert taken["acquireTime"] == taken["renewTime"] != renewed["acquireTime"]

    play(story)


def test_a_record_of_somebody_else_is_waited_out_for_its_own_duration() -> None:
    async def story(world: LeaseWorld, candidates: list[Candidate]) -> None:
        (only,) = candidates
        await world.elected()
        await world.patch({"holderIdentity": "a stranger", "leaseDurationSeconds": 40})
        taken = time()
        await asyncio.sleep(RETRY + SLACK)
        assert not only.may_write()
        await world.elected()
        assert 40 <= time() - taken <= 40 + RETRY + SLACK

    play(story, count=1)


def test_a_leader_that_is_cut_off_stops_before_another_may_begin() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30)
        first.wire.cut = True
        cut = time()
        await world.elected(besides=first)
        last = max(when for when, name in world.writes if name == first.name)
        assert RENEW - RETRY - SLACK - 0.3 <= last - cut <= RENEW
        first.wire.cut = False
        await asyncio.sleep(30)
        assert not first.may_write()

    play(story)


def test_a_leader_that_slept_does_not_write_when_it_wakes() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30)
        first.process.pause()
        second = await world.elected(besides=first)
        await asyncio.sleep(3)
        first.process.resume()
        woken = time()
        await asyncio.sleep(60)
        assert {name for when, name in world.writes if when >= woken} == {second.name}

    play(story)


def test_a_short_silence_of_the_server_costs_nobody_the_lease() -> None:
    async def story(world: LeaseWorld, candidates: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30)
        for one in candidates:
            one.wire.cut = True
        await asyncio.sleep(RENEW - RETRY - SLACK - 1)
        for one in candidates:
            one.wire.cut = False
        await asyncio.sleep(60)
        assert (world.leader(), len(first.terms)) == (first, 1)

    play(story)


def test_one_request_that_hangs_does_not_cost_the_lease() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30)
        first.wire.rng.uniform = lambda _, most: most  # type: ignore[method-assign,assignment]
        first.wire.delay = 1000.0
        await asyncio.sleep(RETRY + SLACK)
        first.wire.delay = 0.0
        await asyncio.sleep(60)
        assert len(first.terms) == 1

    play(story)


def test_a_renewal_whose_answer_was_lost_is_found_by_a_look_and_goes_on() -> None:
    async def story(world: LeaseWorld, _: list[Candidate]) -> None:
        first = await world.elected()
        await world.patch({"renewTime": "2026-01-01T00:00:00.000000Z"})  # as a write unknown to it would
        first.wire.sent.clear()
        await asyncio.sleep(RETRY + SLACK)
        assert [method for method, _ in first.wire.sent] == ["PATCH", "GET", "PATCH"]
        assert len(first.terms) == 1

    play(story)


def test_of_a_lease_that_somebody_deleted_the_holder_makes_another_and_no_follower_does() -> None:
    async def story(world: LeaseWorld, candidates: list[Candidate]) -> None:
        first = await world.elected()
        await asyncio.sleep(30)
        first.wire.cut = True  # so that the others are the first to see it
        await world.remove()
        removed = time()
        await asyncio.sleep(RENEW)
        assert all(not one.may_write() for one in candidates if one is not first)
        await world.elected(besides=first)
        assert time() - removed > RENEW
        second = world.leader()
        await asyncio.sleep(RETRY + SLACK)  # until all have seen who it is
        await world.remove()
        await asyncio.sleep(60)
        assert world.leader() is second

    play(story, count=3)


def test_a_holder_that_finds_its_lease_deleted_stops_writing_until_it_has_another() -> None:
    async def story(world: LeaseWorld, candidates: list[Candidate]) -> None:
        (only,) = candidates
        await world.elected()
        only.wire.server = Spoilt(world.server, refuses="POST")
        await world.remove()
        await asyncio.sleep(RETRY + SLACK)
        assert not only.may_write()
        only.wire.server = world.server
        await world.elected(most=RETRY + SLACK)

    play(story, count=1)


def test_a_renewal_that_is_done_late_does_not_hinder_giving_up() -> None:
    async def story(world: LeaseWorld, candidates: list[Candidate]) -> None:
        (only,) = candidates
        await world.elected()
        late = [{"renewTime": "2026-01-01T00:00:00.000000Z"}]

        async def after_a_look() -> None:
            if late:
                await world.patch(late.pop())

        only.wire.server = Spoilt(world.server, after_get=after_a_look)
        await only.stop()
        assert late == []
        assert (await world.spec())["holderIdentity"] == ""

    play(story, count=1)


def test_the_last_wait_before_an_expiry_is_not_too_short_to_count() -> None:
    """A clock slower than the loop's would otherwise ask again and again, each time for less."""

    async def main() -> int:
        server = ApiServer([LEASE_KIND], virtual_time.now)
        spec = {"holderIdentity": "a stranger", "leaseDurationSeconds": 4}
        await Client(server).create(LEASES, NS, {"metadata": {"name": NAME}, "spec": spec})
        seen = Spoilt(server)
        lease = Lease(Client(seen), namespace=NS, name=NAME, clock=lambda: time() / 2)
        run = asyncio.create_task(lease.run(_for_ever))
        while not lease.may_write():  # noqa: ASYNC110 - virtual time, nobody is told
            await asyncio.sleep(0.1)
        run.cancel()
        await asyncio.wait((run,))
        return seen.gets

    assert virtual_time.run(main()) <= 20


def test_a_date_that_stands_still_does_not_hide_renewals() -> None:
    async def main() -> None:
        world = LeaseWorld()
        frozen = virtual_time.now()
        leases = [
            Lease(Client(world.server), namespace=NS, name=NAME, identity=name, now=lambda: frozen)
            for name in "ab"
        ]
        runs = [asyncio.create_task(one.run(_for_ever)) for one in leases]
        try:
            for _ in range(600):
                await asyncio.sleep(0.1)
                assert [one.may_write() for one in leases] == [True, False]
        finally:
            for run in runs:
                run.cancel()
            await asyncio.gather(*runs, return_exceptions=True)

    virtual_time.run(main())


def test_when_the_work_of_the_leader_ends_or_fails_so_does_the_campaign_and_the_lease_is_free() -> None:
    async def main() -> None:
        world = LeaseWorld()

        async def fails() -> None:
            raise LookupError("of the leader")

        async def ends() -> None:
            return

        lease = Lease(Client(world.server), namespace=NS, name=NAME)
        await lease.run(ends)
        assert (await world.spec())["holderIdentity"] == ""
        with pytest.raises(LookupError, match="of the leader"):
            await lease.run(fails)
        assert ((await world.spec())["holderIdentity"], lease.may_write()) == ("", False)

    virtual_time.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        Response(status=500),
        Response(status=403),
        Response(status=200, body=b"<html>"),
        Response(status=200, body=b'{"metadata": 1}'),
    ],
)
def test_an_answer_that_is_none_elects_nobody_and_ends_nothing(answer: Response) -> None:
    async def main() -> None:
        server = Canned(answer)
        lease = Lease(Client(server), namespace=NS, name=NAME)
        run = asyncio.create_task(lease.run(_for_ever))
        await asyncio.sleep(30)
        assert not run.done()
        assert not lease.may_write()
        assert 15 <= len(server.requests) <= 20
        run.cancel()
        await asyncio.wait((run,))

    virtual_time.run(main())


def test_two_processes_have_two_identities_though_on_one_machine() -> None:
    async def main() -> set[str]:
        return {Lease(Client(Canned()), namespace=NS, name=NAME).identity for _ in range(2)}

    assert len(virtual_time.run(main())) == 2


@pytest.mark.parametrize(
    "times", [{"renew": 15.0}, {"retry": 5.0}, {"retry": 0.0}, {"duration": 9}, {"renew": 4.0}]
)
def test_times_that_do_not_fit_into_each_other_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must fit"):
        Times(**times)  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_the_gate_lets_reads_pass_always_and_writes_while_one_may_write() -> None:
    inner, open_ = Canned(), [False]
    client = Client(Gated(inner, lambda: open_[0]))
    body: Object = {}
    await client.get(LEASES, NS, NAME)
    await client.watch(LEASES, NS, "", "", lambda _: None)
    for write in (
        client.create(LEASES, NS, body),
        client.patch(LEASES, NS, NAME, body),
        client.delete(LEASES, NS, NAME),
    ):
        with pytest.raises(NotLeadingError, match="does not lead"):
            await write
    assert [request.method for request in inner.requests] == ["GET", "GET"]
    open_[0] = True
    await client.patch(LEASES, NS, NAME, body)
    assert isinstance(NotLeadingError(""), TransportError | KubeError)
    assert inner.requests[-1] == Request(
        method="PATCH",
        path=LEASES.path(NS, NAME),
        body=b"{}",
        content_type="application/merge-patch+json",
    )

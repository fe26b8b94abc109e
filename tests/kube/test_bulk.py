"""Many requests at once: all are done, failures are returned, and a busy server is given time."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_operator.kube.bulk import FIRST_WAIT, LONGEST_WAIT, TRIES, Limiter, Outcome, Work, all_of
from paddle_operator.kube.errors import Forbidden, Invalid, Unavailable
from support import virtual_time


def in_virtual_time(main: Coroutine[Any, Any, None]) -> None:
    virtual_time.run(main)


def exact(low: float, _: float) -> float:
    return low


def busy(retry_after: float | None = None) -> Unavailable:
    return Unavailable(429, "TooManyRequests", "later", retry_after)


def is_refusal(error: BaseException) -> bool:
    return isinstance(error, Invalid | Forbidden)


def time() -> float:
    return asyncio.get_running_loop().time()


class Server:
    """Answers each piece of work as its script says, one answer a try, then well; sees what is in flight."""

    def __init__(self, limit: Limiter | None = None, *, takes: float = 1.0) -> None:
        self._limit, self._takes = limit, takes
        self.flying = self.most = 0
        self.began: list[tuple[float, str]] = []
        self.done: list[str] = []
        self.over = 0  # begun though the bound was reached
        self._bounds: dict[
            float, int
        ] = {}  # the most in each moment, for a slot may be given before a refusal in it

    def work(self, name: str, *answers: Exception) -> Work:
        script = list(answers)

        async def work() -> None:
            self.began.append((time(), name))
            self.over += self.flying >= self._bound()
            self.flying += 1
            self.most = max(self.most, self.flying)
            try:
                await asyncio.sleep(self._takes)
            finally:
                self._bound()
                self.flying -= 1
            if script:
                raise script.pop(0)
            self.done.append(name)

        return work

    def _bound(self) -> int:
        now, bound = time(), self._limit.bound if self._limit else 1000
        self._bounds[now] = max(bound, self._bounds.get(now, 0))
        return self._bounds[now]

    def begun(self, name: str) -> list[float]:
        return [when for when, who in self.began if who == name]


def test_a_failure_stops_nothing_and_is_returned_in_the_order_of_the_work() -> None:
    in_virtual_time(two_failures())


async def two_failures() -> None:
    first, second, server = ValueError("first, though later"), KeyError("second"), Server(takes=0)
    work = [
        server.work("1"),
        server.work("", busy(1), first),
        server.work("2"),
        server.work("", second),
        server.work("3"),
    ]
    assert await all_of(Limiter(2), work) == Outcome([first, second], skipped=0)
    assert sorted(server.done) == ["1", "2", "3"]


@pytest.mark.asyncio
async def test_when_all_goes_well_or_there_is_nothing_to_do_nothing_is_returned() -> None:
    server = Server(takes=0)
    assert await all_of(Limiter(1), [server.work("1"), server.work("2")]) == Outcome([], skipped=0)
    assert await all_of(Limiter(1), []) == Outcome([], skipped=0)


def test_as_many_are_in_flight_as_the_limit_allows_and_no_more() -> None:
    async def main() -> None:
        server, limit = Server(), Limiter(3)
        await all_of(limit, [server.work(str(number)) for number in range(20)])
        assert (server.most, limit.in_flight, time()) == (3, 0, 7)

    in_virtual_time(main())


def test_the_bound_is_over_the_whole_process_and_not_for_each_caller() -> None:
    async def main() -> None:
        server, limit = Server(), Limiter(3)
        works = [[server.work(str(number)) for number in range(10)] for _ in range(4)]
        await asyncio.gather(*(all_of(limit, work, key=key) for key, work in enumerate(works)))
        assert (server.most, len(server.done)) == (3, 40)

    in_virtual_time(main())


def test_a_large_job_does_not_starve_a_small_one() -> None:
    async def main() -> None:
        server, limit = Server(), Limiter(4)
        work = [server.work("large") for _ in range(4096)]
        large = asyncio.create_task(all_of(limit, work, key="large"))
        await asyncio.sleep(10.5)
        await asyncio.gather(*(all_of(limit, [server.work(key)], key=key) for key in ("small", "tiny")))
        assert time() == 12  # the slots that were free next, at 11, were theirs
        large.cancel()
        await asyncio.wait((large,))

    in_virtual_time(main())


def test_two_calls_with_one_key_take_turns_with_the_others_as_one() -> None:
    async def main() -> None:
        server, limit = Server(), Limiter(1)
        calls = [("a", "a1"), ("a", "a2"), ("b", "b")]
        await asyncio.gather(
            *(all_of(limit, [server.work(name) for _ in range(4)], key=key) for key, name in calls)
        )
        assert [name[0] for _, name in server.began] == [*"a", *"ab" * 4, *"aaa"]

    in_virtual_time(main())


def test_what_is_refused_with_429_waits_as_long_as_the_server_says_and_is_done_then() -> None:
    async def main() -> None:
        server, limit = Server(takes=0), Limiter(uniform=exact)
        outcome = await all_of(limit, [server.work("a", busy(7), busy(3)), server.work("b")])
        assert outcome == Outcome([], skipped=0)
        assert (server.begun("a"), server.begun("b")) == ([0, 7, 10], [0])

    in_virtual_time(main())


def test_the_wait_is_never_shorter_than_the_server_says_and_spread_a_little() -> None:
    async def main() -> None:
        server = Server(takes=0)
        await all_of(Limiter(), [server.work(str(number), busy(10)) for number in range(20)])
        again = [when for when, _ in server.began if when > 0]
        assert 10 <= min(again) < max(again) <= 12

    in_virtual_time(main())


def test_without_a_word_from_the_server_each_wait_is_twice_as_long() -> None:
    async def main() -> None:
        server = Server(takes=0)
        await all_of(Limiter(uniform=exact), [server.work("a", busy(), busy(), busy())])
        assert server.begun("a") == [0, FIRST_WAIT, 3 * FIRST_WAIT, 7 * FIRST_WAIT]

    in_virtual_time(main())


def test_a_server_that_asks_for_an_hour_does_not_get_it() -> None:
    async def main() -> None:
        server = Server(takes=0)
        await all_of(Limiter(uniform=exact), [server.work("a", busy(3600))])
        assert server.begun("a") == [0, LONGEST_WAIT]

    in_virtual_time(main())


def test_what_is_refused_too_often_is_a_failure() -> None:
    async def main() -> None:
        server, last = Server(takes=0), busy(1)
        answers = [*(busy(1) for _ in range(TRIES - 1)), last]
        assert await all_of(Limiter(), [server.work("a", *answers)]) == Outcome([last], skipped=0)
        assert len(server.begun("a")) == TRIES

    in_virtual_time(main())


def test_other_failures_are_not_tried_again_and_say_nothing_about_the_bound() -> None:
    async def main() -> None:
        server, limit = Server(takes=0), Limiter(8)
        failures = [Unavailable(503, "", "", 1.0), ValueError()]
        outcome = await all_of(limit, [server.work("a", failures[0]), server.work("b", failures[1])])
        assert (outcome.failures, len(server.began), limit.bound) == (failures, 2, 8)

    in_virtual_time(main())


def test_while_a_piece_waits_for_its_next_try_others_have_its_slot() -> None:
    async def main() -> None:
        server, limit = Server(), Limiter(1)
        waiting = asyncio.create_task(all_of(limit, [server.work("a", busy(30))], key="a"))
        await asyncio.sleep(0)
        await all_of(limit, [server.work("b")], key="b")
        assert time() == 2
        await waiting

    in_virtual_time(main())


def test_the_bound_is_halved_once_for_all_that_were_in_flight_together_and_never_below_one() -> None:
    async def main() -> None:
        server, limit, bounds = Server(takes=0.01), Limiter(64), []
        for _ in range(8):
            # Each refused just as often as it has to be to see one more round of refusals.
            call = asyncio.create_task(all_of(limit, [server.work(str(one), busy(1)) for one in range(64)]))
            await asyncio.sleep(0.011)
            bounds.append(limit.bound)
            call.cancel()
            await asyncio.wait((call,))
        assert bounds == [32, 16, 8, 4, 2, 1, 1, 1]

    in_virtual_time(main())


def test_the_bound_grows_by_one_for_each_round_of_successes_up_to_where_it_was() -> None:
    async def main() -> None:
        server, limit = Server(takes=0), Limiter(8, uniform=exact)
        await all_of(limit, [server.work("a", busy(1))])
        bounds = [limit.bound]
        for _ in range(6):
            await all_of(limit, [server.work(str(number)) for number in range(limit.bound + 1)])
            bounds.append(limit.bound)
        assert bounds == [4, 5, 6, 7, 8, 8, 8]

    in_virtual_time(main())


@dataclass
class Refused:
    server: Server
    outcome: Outcome


async def refused_at(place: int, error: Exception, *, most: int = 4, of: int = 100) -> Refused:
    server = Server()
    work = [server.work(str(number), *([error] if number == place else [])) for number in range(of)]
    return Refused(server, await all_of(Limiter(most), work, stop_on=is_refusal))


@pytest.mark.parametrize("error", [Invalid(422, "", ""), Forbidden(403, "", "")])
def test_after_a_refusal_what_has_not_begun_is_skipped_and_no_failure(error: Exception) -> None:
    async def main() -> None:
        seen = await refused_at(5, error)
        assert seen.outcome == Outcome([error], skipped=92)
        assert sorted(map(int, seen.server.done)) == [0, 1, 2, 3, 4, 6, 7]

    in_virtual_time(main())


def test_after_another_failure_nothing_is_skipped() -> None:
    async def main() -> None:
        error = ValueError()
        assert (await refused_at(5, error)).outcome == Outcome([error], skipped=0)

    in_virtual_time(main())


def test_a_refusal_skips_what_waits_for_its_next_try_at_once_and_leaves_other_calls_alone() -> None:
    async def main() -> None:
        server, limit, error = Server(), Limiter(), Invalid(422, "", "")
        other = asyncio.create_task(all_of(limit, [server.work("other", busy(50))], key="other"))
        work = [server.work("busy", busy(50)), server.work("slow", busy(1), error)]
        assert await all_of(limit, work, stop_on=is_refusal) == Outcome([error], skipped=1)
        assert time() < 5
        assert await other == Outcome([], skipped=0)
        assert server.done == ["other"]

    in_virtual_time(main())


def test_a_call_that_is_cancelled_ends_its_work_and_gives_every_slot_back() -> None:
    async def main() -> None:
        server, limit = Server(), Limiter(2)
        first, second = (
            asyncio.create_task(all_of(limit, [server.work(key) for _ in range(9)], key=key)) for key in "ab"
        )
        await asyncio.sleep(2.5)
        first.cancel()
        await asyncio.wait((first,))
        await second
        assert (first.cancelled(), server.flying, limit.in_flight) == (True, 0, 0)
        assert server.done.count("b") == 9

    in_virtual_time(main())


@pytest.mark.asyncio
async def test_a_slot_that_is_given_to_one_who_is_cancelled_in_that_moment_goes_to_the_next() -> None:
    limit = Limiter(1)

    async def take(key: str) -> str:
        async with limit.slot(key):
            return key

    async with limit.slot("holder"):
        first, second = asyncio.create_task(take("first")), asyncio.create_task(take("second"))
        await asyncio.sleep(0)
    first.cancel()  # it has the slot, and has not heard of it
    assert await second == "second"
    assert (first.cancelled(), limit.in_flight) == (True, 0)


@pytest.mark.asyncio
async def test_work_whose_own_request_was_cancelled_is_a_failure_like_any_other() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    outcome = await all_of(Limiter(1), [work, work])
    assert [type(failure) for failure in outcome.failures] == [asyncio.CancelledError] * 2


Script = tuple[str, ...]  # the answers a piece gets before it is done: busy, invalid or broken
CALLS = st.lists(
    st.lists(st.lists(st.sampled_from(("busy", "invalid", "broken")), max_size=7).map(tuple), max_size=12),
    max_size=4,
)
ANSWERS = {"busy": busy(2), "invalid": Invalid(422, "", ""), "broken": ValueError()}


def ends_well(script: Script) -> bool:
    return len(script) < TRIES and set(script) <= {"busy"}


@settings(max_examples=200, deadline=None)
@given(most=st.integers(1, 6), calls=CALLS)
def test_the_bound_is_kept_and_each_piece_is_done_once_or_failed_or_skipped(
    most: int, calls: list[list[Script]]
) -> None:
    async def main() -> None:
        limit = Limiter(most)
        server = Server(limit)
        work = [
            [
                server.work(f"{call}/{place}", *(ANSWERS[answer] for answer in script))
                for place, script in enumerate(scripts)
            ]
            for call, scripts in enumerate(calls)
        ]
        outcomes = await asyncio.gather(
            *(all_of(limit, one, key=key, stop_on=is_refusal) for key, one in enumerate(work))
        )
        assert (server.over, server.flying, limit.in_flight) == (0, 0, 0)
        assert len(server.done) == len(set(server.done))
        for call, (scripts, outcome) in enumerate(zip(calls, outcomes, strict=True)):
            done = {name for name in server.done if name.startswith(f"{call}/")}
            well = {f"{call}/{place}" for place, script in enumerate(scripts) if ends_well(script)}
            assert done <= well
            assert len(done) + len(outcome.failures) + outcome.skipped == len(scripts)
            assert outcome.skipped == 0 or any(map(is_refusal, outcome.failures))
            if not outcome.skipped:
                assert done == well

    in_virtual_time(main())

"""The work queue: one worker for a key, nothing twice, nothing lost, what matters first."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from paddle_operator.kube.queue import COALESCE, Priority, Queue
from support import virtual_time

T = TypeVar("T")


async def taken(queue: Queue[str]) -> list[str]:
    """All that waits, in the order in which workers would get it."""
    return [await queue.get() for _ in range(len(queue))]


@pytest.mark.asyncio
async def test_a_key_added_twice_is_given_once() -> None:
    queue = Queue[str]()
    queue.add("a")
    queue.add("a")
    assert await taken(queue) == ["a"]


@pytest.mark.asyncio
async def test_what_matters_more_goes_first_and_equals_go_in_their_order() -> None:
    queue = Queue[str]()
    for key, priority in (
        ("old-1", Priority.RESYNC),
        ("old-2", Priority.RESYNC),
        ("ended", Priority.ENDING),
        ("new", Priority.CHANGE),
    ):
        queue.add(key, priority)
    assert await taken(queue) == ["new", "ended", "old-1", "old-2"]


@pytest.mark.asyncio
async def test_a_waiting_key_moves_forward_when_something_more_important_happens_to_it() -> None:
    queue = Queue[str]()
    queue.add("a", Priority.RESYNC)
    queue.add("b", Priority.RESYNC)
    queue.add("b", Priority.CHANGE)
    assert await taken(queue) == ["b", "a"]


@pytest.mark.asyncio
async def test_a_waiting_key_never_moves_back() -> None:
    queue = Queue[str]()
    queue.add("a", Priority.CHANGE)
    queue.add("b", Priority.ENDING)
    queue.add("a", Priority.RESYNC)
    assert await taken(queue) == ["a", "b"]


@pytest.mark.asyncio
async def test_a_key_that_moved_forward_leaves_nothing_behind() -> None:
    """The entry of its first priority is still in the heap, and must not count when it waits again."""
    queue = Queue[str]()
    queue.add("a", Priority.ENDING)
    queue.add("a", Priority.CHANGE)
    queue.done(await queue.get())
    queue.add("a", Priority.RESYNC)
    queue.add("b", Priority.ENDING)
    assert await taken(queue) == ["b", "a"]


@pytest.mark.asyncio
async def test_a_key_added_while_it_is_worked_on_waits_until_that_is_done() -> None:
    queue = Queue[str]()
    queue.add("a")
    await queue.get()
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await taken(queue) == ["a"]


@pytest.mark.asyncio
async def test_a_key_that_comes_again_has_the_most_important_of_its_reasons() -> None:
    queue = Queue[str]()
    queue.add("a")
    await queue.get()
    for priority in (Priority.RESYNC, Priority.CHANGE, Priority.RESYNC):
        queue.add("a", priority)
    queue.add("b", Priority.ENDING)
    queue.done("a")
    assert await taken(queue) == ["a", "b"]


@pytest.mark.asyncio
async def test_a_key_that_is_done_does_not_come_again_by_itself() -> None:
    queue = Queue[str]()
    queue.add("a")
    queue.done(await queue.get())
    assert len(queue) == 0


@pytest.mark.asyncio
async def test_each_key_wakes_one_of_the_workers_that_wait() -> None:
    queue = Queue[str]()
    workers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for key in ("a", "b", "c"):
        queue.add(key)
    assert sorted(await asyncio.gather(*workers)) == ["a", "b", "c"]


@pytest.mark.asyncio
async def test_a_worker_that_gave_up_waiting_takes_no_key_with_it() -> None:
    queue = Queue[str]()
    gone, stays = (asyncio.create_task(queue.get()) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    queue.add("a")
    assert await stays == "a"


@pytest.mark.asyncio
async def test_a_worker_whose_key_was_taken_before_it_woke_goes_on_waiting() -> None:
    queue = Queue[str]()
    worker = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert await queue.get() == "a"
    await asyncio.sleep(0)
    queue.add("b")
    assert await worker == "b"


def test_a_worker_that_is_cancelled_just_when_it_was_woken_leaves_the_key_to_another() -> None:
    async def main() -> None:
        queue = Queue[str]()
        gone, stays = (asyncio.create_task(queue.get()) for _ in range(2))
        await asyncio.sleep(0)
        queue.add("a")
        gone.cancel()
        assert await stays == "a"

    virtual_time.run(main())


def test_progress_waits_for_company_and_is_given_once() -> None:
    async def main() -> None:
        queue, loop = Queue[str](), asyncio.get_running_loop()
        for _ in range(5):
            queue.add("a", Priority.PROGRESS)
        assert len(queue) == 0
        assert await queue.get() == "a"
        assert loop.time() == pytest.approx(COALESCE)
        queue.done("a")
        await asyncio.sleep(1)
        assert len(queue) == 0

    virtual_time.run(main())


@pytest.mark.asyncio
async def test_progress_of_a_key_that_waits_already_moves_it_forward_at_once() -> None:
    queue = Queue[str]()
    queue.add("a", Priority.RESYNC)
    queue.add("b", Priority.RESYNC)
    queue.add("b", Priority.PROGRESS)
    assert await taken(queue) == ["b", "a"]


@pytest.mark.parametrize("delays", [(5.0, 2.0), (2.0, 5.0)])
def test_of_several_delays_the_earliest_counts_and_the_key_comes_once(delays: tuple[float, ...]) -> None:
    async def main() -> None:
        queue, loop = Queue[str](), asyncio.get_running_loop()
        for delay in delays:
            queue.add_after("a", delay)
        queue.done(await queue.get())
        assert loop.time() == pytest.approx(2.0)
        await asyncio.sleep(10)
        assert len(queue) == 0

    virtual_time.run(main())


def test_a_delay_that_ends_while_the_key_is_worked_on_brings_it_back_afterwards() -> None:
    async def main() -> None:
        queue = Queue[str]()
        queue.add("a")
        await queue.get()
        queue.add_after("a", 1.0)
        await asyncio.sleep(2)
        assert len(queue) == 0
        queue.done("a")
        assert await taken(queue) == ["a"]

    virtual_time.run(main())


def test_each_retry_of_a_key_comes_later_than_the_one_before_until_it_went_well() -> None:
    async def main() -> None:
        queue = Queue[str]()
        delays = [queue.retry("a") for _ in range(4)]
        assert delays == sorted(delays)
        assert queue.retry("b") < delays[1]
        queue.forget("a")
        assert queue.retry("a") < delays[1]
        queue.close()

    virtual_time.run(main())


def test_a_retry_comes_after_its_delay() -> None:
    async def main() -> None:
        queue, loop = Queue[str](), asyncio.get_running_loop()
        delay = queue.retry("a")
        assert await queue.get() == "a"
        assert loop.time() == pytest.approx(delay)

    virtual_time.run(main())


def test_a_closed_queue_fires_nothing_any_more() -> None:
    async def main() -> None:
        queue = Queue[str]()
        queue.add_after("a", 1.0)
        queue.add("b", Priority.PROGRESS)
        queue.close()
        await asyncio.sleep(2)
        assert len(queue) == 0

    virtual_time.run(main())


def test_progress_that_joins_an_earlier_retry_is_not_treated_as_if_nothing_had_happened() -> None:
    async def main() -> None:
        queue = Queue[str]()
        queue.add("old", Priority.RESYNC)
        queue.add_after("a", COALESCE / 2, Priority.RESYNC)
        queue.add("a", Priority.PROGRESS)
        await asyncio.sleep(COALESCE * 2)
        assert await taken(queue) == ["a", "old"]

    virtual_time.run(main())


keys = st.sampled_from("abcd")


class QueueMachine(RuleBasedStateMachine):
    """Producers, timers and workers in any order, against what the queue promises."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = virtual_time.VirtualLoop()
        self.queue = Queue[str]()
        self.active: set[str] = set()
        self.owed: set[str] = set()  # added, by whatever way, and not given since

    def do(self, main: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(main)

    @rule(key=keys, priority=st.sampled_from(Priority))
    def add(self, key: str, priority: Priority) -> None:
        async def main() -> None:
            self.queue.add(key, priority)

        self.do(main())
        self.owed.add(key)

    @rule(key=keys, delay=st.sampled_from([0.0, 0.01, 1.0]), priority=st.sampled_from(Priority))
    def add_after(self, key: str, delay: float, priority: Priority) -> None:
        async def main() -> None:
            self.queue.add_after(key, delay, priority)

        self.do(main())
        self.owed.add(key)

    @rule(key=keys)
    def retry(self, key: str) -> None:
        async def main() -> None:
            self.queue.retry(key)

        self.do(main())
        self.owed.add(key)

    @rule(seconds=st.sampled_from([0.0, COALESCE, 1.0]))
    def time_passes(self, seconds: float) -> None:
        self.do(asyncio.sleep(seconds))

    @precondition(lambda self: len(self.queue) > 0)
    @rule()
    def get(self) -> None:
        key = self.do(asyncio.wait_for(self.queue.get(), 0.001))
        assert key not in self.active, "two workers have one key"
        self.active.add(key)
        self.owed.discard(key)

    @precondition(lambda self: bool(self.active))
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.active)))
        self.active.remove(key)
        self.queue.done(key)

    @rule(key=keys)
    def forget(self, key: str) -> None:
        self.queue.forget(key)

    @invariant()
    def nobody_waits_who_was_not_added(self) -> None:
        assert set(self.queue._waiting) <= set("abcd") - self.active

    def teardown(self) -> None:
        """Time goes on and the workers finish: everything that was added is given."""
        for key in self.active:
            self.queue.done(key)
        self.active.clear()
        for _ in range(3):  # the last timers may be as long as the longest retry
            self.do(asyncio.sleep(100.0))
            while len(self.queue):
                self.get()
                self.queue.done(self.active.pop())
        self.loop.close()
        assert not self.owed, "added and never given"
        assert not self.queue._timers


TestQueueKeepsItsPromises = QueueMachine.TestCase
TestQueueKeepsItsPromises.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_workers_and_producers_at_once_leave_no_key_behind() -> None:
    """Real tasks: after the last change of each key some worker looked at it, and never two at once."""

    async def main() -> None:
        queue = Queue[int]()
        newest, seen, active = [0] * 20, [0] * 20, set[int]()

        async def work() -> None:
            while True:
                key = await queue.get()
                assert key not in active
                active.add(key)
                value = newest[key]
                await asyncio.sleep(0.003)
                seen[key] = value
                active.remove(key)
                queue.done(key)

        async def produce(number: int) -> None:
            for step in range(50):
                key = (number * 7 + step * 3) % 20
                newest[key] += 1
                queue.add(key, list(Priority)[step % 4])
                await asyncio.sleep(0.001 * (step % 5))

        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(work()) for _ in range(4)]
            producers = [group.create_task(produce(number)) for number in range(3)]
            await asyncio.wait(producers)
            await asyncio.sleep(1)
            for worker in workers:
                worker.cancel()
        assert sum(newest) == 150
        assert seen == newest

    virtual_time.run(main())

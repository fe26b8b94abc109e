"""Many requests at once: all are done, failures are returned, and only so many are in flight."""

import asyncio

import pytest

from paddle_operator.kube.bulk import all_of


async def fail(error: Exception) -> None:
    raise error


@pytest.mark.asyncio
async def test_a_failure_stops_nothing_and_is_returned() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        done.append(number)

    first, second = ValueError("first"), KeyError("second")
    failed = await all_of(asyncio.Semaphore(2), [work(1), fail(first), work(2), fail(second), work(3)])
    assert (sorted(done), failed) == ([1, 2, 3], [first, second])


@pytest.mark.asyncio
async def test_when_all_goes_well_nothing_is_returned() -> None:
    assert await all_of(asyncio.Semaphore(1), [asyncio.sleep(0), asyncio.sleep(0)]) == []


@pytest.mark.asyncio
async def test_as_many_are_in_flight_as_the_limit_allows_and_no_more() -> None:
    flying, most = 0, 0

    async def work() -> None:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0)
        flying -= 1

    await all_of(asyncio.Semaphore(3), [work() for _ in range(20)])
    assert most == 3


@pytest.mark.asyncio
async def test_two_batches_share_one_limit() -> None:
    """The bound is over the whole process, not for each caller."""
    limit, begun, go = asyncio.Semaphore(2), asyncio.Queue[int](), asyncio.Event()

    async def work(number: int) -> None:
        begun.put_nowait(number)
        await go.wait()

    batches = [asyncio.create_task(all_of(limit, [work(1), work(2)])) for _ in range(2)]
    await begun.get()
    await begun.get()
    assert limit.locked()
    assert begun.empty()
    go.set()
    assert await asyncio.gather(*batches) == [[], []]


@pytest.mark.asyncio
async def test_a_failure_gives_its_place_back() -> None:
    limit = asyncio.Semaphore(1)
    await all_of(limit, [fail(ValueError()) for _ in range(3)])
    assert not limit.locked()

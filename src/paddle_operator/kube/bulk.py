"""Many requests at once, with a bound on those in flight over the whole process."""

import asyncio
from collections.abc import Awaitable, Iterable

IN_FLIGHT = 64  # more only makes the API server's own queues longer


async def all_of(limit: asyncio.Semaphore, work: Iterable[Awaitable[None]]) -> list[BaseException]:
    """Does everything, stops at nothing, and returns what failed."""

    async def bounded(one: Awaitable[None]) -> None:
        async with limit:
            await one

    results = await asyncio.gather(*(bounded(one) for one in work), return_exceptions=True)
    return [result for result in results if result is not None]

"""Whatever is killed, paused, cut off, delayed: never two may write, nobody writes late, and then one leads.

The processes have monotonic clocks of different origin and somewhat different speed, and dates days apart.
"""

import asyncio
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from support import virtual_time
from support.lease_world import Candidate, LeaseWorld

LASTS = 120.0  # seconds of trouble
CALM = (
    20.0  # seconds after it: a duration and a retry period by the slowest clock, and what is still under way
)
DRIFT = 0.1


def cut(one: Candidate, rng: random.Random) -> float:
    one.wire.cut = True
    return rng.uniform(1, 30)


def pause(one: Candidate, rng: random.Random) -> float:
    one.process.pause()
    return rng.uniform(0, 40)


def slow(one: Candidate, rng: random.Random) -> float:
    one.wire.delay = rng.uniform(0.1, 8.0)
    return rng.uniform(1, 40)


def lossy(one: Candidate, rng: random.Random) -> float:
    one.wire.lost = rng.uniform(0.1, 0.6)
    return rng.uniform(1, 40)


def heal(one: Candidate) -> None:
    one.wire.cut, one.wire.delay, one.wire.lost = one.dead, 0.0, 0.0
    one.process.resume()


TROUBLES = (cut, pause, slow, lossy)


async def trouble(world: LeaseWorld, one: Candidate, rng: random.Random) -> None:
    """One after another, for one process, with quiet between."""
    while True:
        await asyncio.sleep(rng.uniform(0, 20))
        lasts = rng.choice(TROUBLES)(one, rng)
        if rng.random() < 0.5:  # it is the leader whose troubles matter
            TROUBLES[rng.randrange(4)](world.leader() or one, rng)
        await asyncio.sleep(lasts)
        heal(one)


async def survive(seed: int, count: int, kills: int) -> None:
    rng = random.Random(seed)
    world = LeaseWorld(seed=seed, drift=DRIFT)
    async with world.running(count) as candidates:
        troubles = [asyncio.create_task(trouble(world, one, rng)) for one in candidates]
        for _ in range(kills):
            await asyncio.sleep(rng.uniform(0, LASTS / (kills + 1)))
            (world.leader() or candidates[0]).kill()
        await asyncio.sleep(rng.uniform(0, LASTS))
        for task in troubles:
            task.cancel()
        for one in candidates:
            heal(one)
        await asyncio.sleep(CALM)
        assert world.leader() is not None
    assert world.wrong == []
    assert world.writes


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.sampled_from((2, 5)), kill=st.booleans())
def test_never_two_may_write_and_nobody_writes_after_its_time(seed: int, count: int, *, kill: bool) -> None:
    virtual_time.run(survive(seed, count, kills=int(kill)))

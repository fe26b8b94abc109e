"""Delays: doubling, bounded, different for two, and short again after a success."""

import random

from paddle_operator.kube.backoff import Backoff


def steady(first: float = 1.0, most: float = 60.0) -> Backoff:
    return Backoff(first=first, most=most, jitter=0.0)


def test_each_delay_is_twice_the_one_before() -> None:
    backoff = steady()
    assert [backoff.next() for _ in range(4)] == [1, 2, 4, 8]


def test_no_delay_is_longer_than_the_bound_however_many_tries() -> None:
    backoff = steady(most=5.0)
    assert [backoff.next() for _ in range(5000)][-1] == 5.0


def test_after_a_success_the_first_delay_comes_again() -> None:
    backoff = steady()
    for _ in range(5):
        backoff.next()
    backoff.reset()
    assert backoff.next() == 1


def test_the_jitter_goes_up_and_down_and_stays_within_its_share() -> None:
    delays = [Backoff(first=10.0, most=10.0, rng=random.Random(seed)).next() for seed in range(200)]
    assert 8 <= min(delays) < 9
    assert 11 < max(delays) <= 12


def test_two_that_failed_together_do_not_return_together() -> None:
    assert Backoff(first=1.0, most=1.0).next() != Backoff(first=1.0, most=1.0).next()

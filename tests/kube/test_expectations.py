"""Writes that the cache does not show yet are known until it shows them, until they failed, or a minute."""

from dataclasses import dataclass

from paddle_operator.kube.expectations import EXPIRES, Expectations

NONE: frozenset[str] = frozenset()


@dataclass
class Clock:
    time: float = 0.0

    def __call__(self) -> float:
        return self.time


def test_what_was_created_is_expected_until_it_appears() -> None:
    expect = Expectations(Clock())
    expect.expect_create("job", "a")
    expect.expect_create("job", "b")
    expect.appeared("job", "a")
    assert expect.creating("job") == {"b"}


def test_what_was_deleted_is_expected_to_go_until_it_vanishes() -> None:
    expect = Expectations(Clock())
    expect.expect_remove("job", "uid-1")
    expect.expect_remove("job", "uid-2")
    expect.vanished("job", "uid-1")
    assert expect.removing("job") == {"uid-2"}


def test_creating_and_removing_are_two_things() -> None:
    expect = Expectations(Clock())
    expect.expect_create("job", "a")
    expect.vanished("job", "a")
    assert expect.creating("job") == {"a"}
    assert expect.removing("job") == NONE


def test_one_owner_knows_nothing_of_another() -> None:
    expect = Expectations(Clock())
    expect.expect_create("job", "a")
    expect.appeared("other", "a")
    assert expect.creating("job") == {"a"}
    assert expect.creating("other") == NONE


def test_an_expectation_expires_so_that_the_write_is_tried_again() -> None:
    clock = Clock()
    expect = Expectations(clock)
    expect.expect_create("job", "a")
    expect.expect_remove("job", "uid")
    clock.time = EXPIRES - 1
    assert expect.creating("job") == {"a"}
    assert expect.removing("job") == {"uid"}
    clock.time = EXPIRES
    assert (expect.creating("job"), expect.removing("job")) == (NONE, NONE)


def test_expecting_again_begins_the_time_anew() -> None:
    clock = Clock()
    expect = Expectations(clock)
    expect.expect_create("job", "a")
    clock.time = EXPIRES - 1
    expect.expect_create("job", "a")
    clock.time = EXPIRES + 1
    assert expect.creating("job") == {"a"}


def test_a_forgotten_owner_starts_clean() -> None:
    expect = Expectations(Clock())
    expect.expect_create("job", "a")
    expect.expect_remove("job", "uid")
    expect.forget("job")
    assert (expect.creating("job"), expect.removing("job")) == (NONE, NONE)


def test_what_was_returned_does_not_change_later() -> None:
    """A plan is made from it, and may be looked at after the next write."""
    expect = Expectations(Clock())
    expect.expect_create("job", "a")
    before = expect.creating("job")
    expect.appeared("job", "a")
    assert before == {"a"}


def test_asking_for_and_hearing_of_unknown_owners_keeps_nothing_in_memory() -> None:
    expect = Expectations(Clock())
    expect.appeared("job", "a")
    expect.vanished("job", "uid")
    assert not expect.creating("job") | expect.removing("job")
    assert not expect._creating
    assert not expect._removing

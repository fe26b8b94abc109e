"""Addresses and ports: none twice, none that Paddle or the system would trip over."""

import ipaddress
import random
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_operator.local.runner.addresses import PORTS, Addresses, find_base_port, is_free

FIRST_OF_THE_SYSTEM = 32768  # the lowest port Linux gives to whoever asks for any


def test_addresses_are_loopback_differ_and_never_begin_with_127_0_0_1() -> None:
    addresses = Addresses()
    taken = [addresses.take() for _ in range(2_000)]
    assert len(set(taken)) == len(taken)
    assert not [one for one in taken if one.startswith("127.0.0.1")]
    assert all(ipaddress.ip_address(one).is_loopback for one in taken)
    assert not [one for one in taken if one.endswith((".0", ".255"))]


def test_an_address_given_back_is_handed_out_again() -> None:
    addresses = Addresses()
    first, second = addresses.take(), addresses.take()
    addresses.give_back(first)
    third = addresses.take()
    assert third == first
    assert addresses.take() not in (first, second)


@given(st.lists(st.booleans(), max_size=60))
def test_no_address_is_ever_with_two_at_once(takes: list[bool]) -> None:
    addresses, held = Addresses(), list[str]()
    for take in takes:
        if take:
            held.append(addresses.take())
        elif held:
            addresses.give_back(held.pop(0))
        assert len(set(held)) == len(held)


def test_a_process_can_listen_on_an_address() -> None:
    with socket.socket() as listener:
        listener.bind((Addresses().take(), 0))
        listener.listen()


@pytest.mark.parametrize("seed", range(20))
def test_a_base_port_and_the_one_beside_it_lie_below_those_of_the_system(seed: int) -> None:
    port = find_base_port(random.Random(seed), free=lambda _: True)
    assert port in PORTS
    assert port is not None
    assert port > 1024
    assert port + 18 < FIRST_OF_THE_SYSTEM


def test_all_ports_on_offer_and_their_neighbours_lie_below_those_of_the_system() -> None:
    assert max(PORTS) + 19 < FIRST_OF_THE_SYSTEM


def test_two_runs_at_once_rarely_choose_the_same() -> None:
    chosen = {find_base_port(random.Random(seed), free=lambda _: True) for seed in range(20)}
    assert len(chosen) > 15


@pytest.mark.parametrize("offset", [0, 18])
def test_a_base_port_is_not_taken_when_it_or_the_rendezvous_beside_it_is_busy(offset: int) -> None:
    ports = [20_000, 20_020, 20_040]
    busy = {20_000 + offset, 20_040 + offset}
    for seed in range(10):
        assert find_base_port(random.Random(seed), free=lambda port: port not in busy, ports=ports) == 20_020


def test_when_every_port_is_busy_there_is_none() -> None:
    assert find_base_port(random.Random(0), free=lambda _: False) is None


@pytest.fixture(params=["0.0.0.0", "127.0.0.1", "127.7.3.4"])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    with socket.socket() as one:
        one.bind((request.param, 0))
        one.listen()
        yield one


def test_a_listener_on_whatever_address_makes_a_port_busy(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert not is_free(port)
    listener.close()
    assert is_free(port)


def test_a_connection_that_holds_a_port_makes_it_busy() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.bind(("127.7.5.6", 0))
        client.connect(server.getsockname())
        assert not is_free(client.getsockname()[1])


def test_asking_does_not_take_the_port() -> None:
    port = find_base_port(random.Random())
    assert port is not None
    assert is_free(port)
    assert is_free(port)

"""The order in which requests that have arrived are read or refused."""

import asyncio
from collections import Counter
from functools import partial
from ipaddress import ip_network

import pytest

from weboid.web.http.arrivals import Arrivals


async def test_a_crowd_is_read_and_refused_a_few_a_turn_and_another_range_goes_between() -> None:
    arrivals, seen = Arrivals((ip_network("127.0.0.0/8"),)), list[str]()

    def arrive(name: str, sender: str) -> None:
        data = f"GET / HTTP/1.1\r\nX-Forwarded-For: {sender}\r\n\r\n\nX-Forwarded-For: 198.51.100.7".encode()
        arrivals.add(data, "127.0.0.1", lambda: seen.append(name), lambda: seen.append(f"{name} refused"))

    for _ in range(300):
        arrive("crowd", "192.0.2.9")
    arrive("reader", "198.51.100.7")
    for _ in range(300):
        arrive("inner", "10.0.0.1")
    assert seen == ["crowd"] * 4
    by_turn, before = list[Counter[str]](), 4
    while len(seen) < 601:
        await asyncio.sleep(0)
        by_turn.append(Counter(seen[before:]))
        before = len(seen)
    assert by_turn[0] == {"crowd": 2, "reader": 1, "inner": 1}
    assert max(turn["crowd refused"] for turn in by_turn) == 10
    assert max(turn["crowd"] + turn["reader"] + turn["inner"] for turn in by_turn) == 4
    assert Counter(seen) == {"crowd": 204, "crowd refused": 96, "reader": 1, "inner": 300}


async def test_one_that_cannot_be_read_holds_up_none_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    arrivals, seen = Arrivals(), list[int]()

    def read(number: int) -> None:
        seen.append(number if number != 9 else 1 // 0)

    for number in range(20):
        step = partial(read, number)
        arrivals.add(b"", "192.0.2.1", step, step)
    async with asyncio.timeout(30):
        while len(seen) < 19:
            await asyncio.sleep(0)
    assert seen == [number for number in range(20) if number != 9]
    assert "ZeroDivisionError" in caplog.text

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial

import pytest

from weboid.net.watch import READ, WRITE, Watch, open_watch

MAKERS = pytest.mark.parametrize("make", [open_watch, Watch])


async def a_moment() -> None:
    await asyncio.sleep(0.02)


@MAKERS
async def test_a_socket_is_watched_for_what_was_said_last(make: Callable[[], Watch]) -> None:
    watch, (ours, theirs) = make(), socket.socketpair()
    calls: list[str] = []

    def written() -> None:
        calls.append("written")
        watch.set(ours.fileno(), READ, read)

    def read() -> None:
        calls.append(ours.recv(9).decode())
        watch.forget(ours.fileno())

    with ours, theirs:
        watch.set(ours.fileno(), WRITE, written)
        await a_moment()
        assert calls == ["written"]
        theirs.send(b"first")
        await a_moment()
        theirs.send(b"second")
        await a_moment()
        assert calls == ["written", "first"]
        watch.set(ours.fileno(), READ | WRITE, read)
        await a_moment()
        assert calls == ["written", "first", "second"]
        watch.close()


async def test_an_event_of_a_closed_socket_does_not_reach_the_next_one_of_its_number() -> None:
    watch, pairs = open_watch(), [socket.socketpair() for _ in range(2)]
    calls: list[int] = []

    def close_the_other(own: int) -> None:
        calls.append(own)
        other = pairs[1 - own][0]
        watch.forget(number := other.fileno())
        other.close()
        replacement = socket.socket(fileno=socket.dup(pairs[own][0].fileno()))
        assert replacement.fileno() == number
        pairs[1 - own] = replacement, pairs[1 - own][1]
        watch.forget(pairs[own][0].fileno())
        watch.set(number, WRITE, lambda: watch.forget(number))

    for own, (ours, theirs) in enumerate(pairs):
        watch.set(ours.fileno(), READ, partial(close_the_other, own))
        theirs.send(b"x")
    await a_moment()
    assert len(calls) == 1
    watch.close()
    for ours, theirs in pairs:
        ours.close()
        theirs.close()


async def test_an_error_in_one_call_keeps_no_other_from_being_called(caplog: pytest.LogCaptureFixture) -> None:
    watch, pairs = open_watch(), [socket.socketpair() for _ in range(3)]
    called: list[int] = []

    def fail(fd: int) -> None:
        called.append(fd)
        watch.forget(fd)
        raise ValueError(fd)

    for ours, theirs in pairs:
        watch.set(ours.fileno(), READ, partial(fail, ours.fileno()))
        theirs.send(b"x")
    with caplog.at_level(logging.CRITICAL):
        await a_moment()
    assert len(called) == len(pairs)
    watch.close()
    for pair in pairs:
        for each in pair:
            each.close()

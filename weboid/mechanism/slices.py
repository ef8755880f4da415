"""Long computations in slices, with turns of the event loop in between, so that nobody waits for the whole of one.

A computation is a generator that yields wherever it may be interrupted, and returns its result. A thread would
not let the loop run (one lock for all Python), a process would have to give the result back.
"""

import asyncio
from collections.abc import Generator, Iterator, Sequence
from time import perf_counter, thread_time
from typing import Final, TypeVar

SLICE_S: Final = 0.001
"""After so many seconds of processor time the loop has turns; the first slice is twice as long, enough for most."""
_TURNS: Final = 4
"""So many of them: a small answer takes a dozen, and would wait for a slice in each."""

Result = TypeVar("Result")
Value = TypeVar("Value")
Steps = Generator[None, None, Result]


async def in_slices(steps: Steps[Result]) -> Result:
    """The result of a computation, whose steps should take far less than a slice each. If that took more than a slice,
    what the caller does next is in another turn of the loop."""
    until_s, wall_s, is_long = thread_time() + 2 * SLICE_S, perf_counter() + 2 * SLICE_S, False
    results: list[Result] = []
    while not results:
        try:
            next(steps)
        except StopIteration as end:
            results.append(end.value)
        # The processor's time is never more than the wall's, which is read in a twentieth of the time.
        if (is_long and results) or (perf_counter() >= wall_s and thread_time() >= until_s):
            is_long = True
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            until_s, wall_s = thread_time() + SLICE_S, perf_counter() + SLICE_S
    return results[0]


def at_once(steps: Steps[Result]) -> Result:
    """The same result without letting anybody else run."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


def batches(values: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    """The values in order, so many at a time."""
    return (values[start : start + size] for start in range(0, len(values), size))

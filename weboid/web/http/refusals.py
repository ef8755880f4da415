"""How refusals (429, 503) are sent when there are many of them (O-8).

A client that heeds no Retry-After asks again as soon as it is refused, and a refusal costs a third of an answer.
One law: none is held back longer than a second.
"""

import asyncio
from random import randint
from typing import Final

_AT_ONCE: Final = 10
_A_SECOND: Final = 100.0
_HELD_S: Final = 1.0
_RETRY_S: Final = (1, 4)


class Refusals:
    """Holds refusals back when there are many, since some callers come again at once whatever they are told.

    The first few are sent at once, then so many a second, or more if they would be held too long: a crowd that does not
    heed Retry-After thus costs one refusal a second and connection.
    """

    def __init__(self) -> None:
        self._next_s = 0.0

    @property
    def retry_s(self) -> int:
        """In how many seconds to come again: at random, so that a crowd does not come again at once."""
        return randint(*_RETRY_S)

    async def hold(self, since_s: float) -> None:
        """Returns when a refusal may be sent of a request that came at `since_s` by the loop's clock."""
        now_s = asyncio.get_running_loop().time()
        self._next_s = min(max(self._next_s, now_s) + 1 / _A_SECOND, now_s + _HELD_S)
        hold_s = min(self._next_s - _AT_ONCE / _A_SECOND, since_s + _HELD_S) - now_s
        if hold_s > 0:
            await asyncio.sleep(hold_s)

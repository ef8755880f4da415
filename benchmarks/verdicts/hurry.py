"""What makes simulations fast: short sleeps that are shorter still, pages that are read once.

One law: limits of time, by which something fails, stay as they are, and so does every result.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar
from unittest.mock import patch

import uvloop

from weboid.core.document.document import document_of
from weboid.core.observe import observation

T = TypeVar("T")

_FASTER: Final = 50
_SHORT_S: Final = 0.05
_GARBAGE: Final = 50_000
_DOCUMENTS: Final = 4_096


class _Hurried(uvloop.Loop):
    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, **context: Any
    ) -> asyncio.TimerHandle:
        """Calls back much sooner if it would be soon anyway: `asyncio.sleep` is made of this."""
        return super().call_later(delay / _FASTER if delay < _SHORT_S else delay, callback, *args, **context)


def run_hurried(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on such a loop."""
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    with _read_once(), asyncio.Runner(loop_factory=_Hurried) as runner:
        return runner.run(main)


@contextmanager
def _read_once() -> Iterator[None]:
    """The same page is read over and over in a small world, and always says the same."""
    with patch.object(observation, "document_of", lru_cache(maxsize=_DOCUMENTS)(document_of)):
        yield

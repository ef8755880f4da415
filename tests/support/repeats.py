"""How often the tests that disturb programs at chosen moments play each kind of disturbance.

``WEBOID_TEST_REPEATS``: 1 unless set, which plays each kind once; with N each is played N times, at other moments, and
the further combinations (`thorough`) are played as well.
"""

import os
from typing import Any, Final

import pytest

TIMES: Final = range(1, int(os.environ.get("WEBOID_TEST_REPEATS") or 1) + 1)
"""The numbers of the times that a kind is played."""
IS_THOROUGH: Final = len(TIMES) > 1


def thorough(*cases: Any) -> list[Any]:
    """Cases for ``parametrize`` that are played with repeats only: none otherwise."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,))) for case in cases] if IS_THOROUGH else []

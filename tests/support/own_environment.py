"""Programs for tests that live in environments of their own, since their pins may conflict with ours."""

import os
import sys
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[2]


def programs_of(name: str) -> Path:
    """The programs of ``.venv/NAME``, or of the folder that WEBOID_TEST_NAME names; skips the test without it."""
    given = os.environ.get(f"WEBOID_TEST_{name.upper()}")
    for place in [Path(given)] if given else [Path(sys.prefix) / name, _REPOSITORY / ".venv" / name]:
        if place.with_name(f"{place.name}.stamp").exists() or given:
            return place / "bin"
    pytest.skip(f"what this needs is not installed: make .venv/{name}.stamp")

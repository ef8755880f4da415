"""An older PostgreSQL next to the wheel's, for tests of the upgrade: `WEBOID_TEST_OLDER_POSTGRESQL` names the folder of
its programs; else the newest one that the system has installed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from weboid.pgfolder import programs

_SYSTEM: Final = Path("/usr/lib/postgresql")
_INSTALLED: Final = sorted(path for path in _SYSTEM.glob("1[567]/bin") if (path / "initdb").exists())
_GIVEN: Final = os.environ.get("WEBOID_TEST_OLDER_POSTGRESQL")
OLDER: Final = Path(_GIVEN) if _GIVEN else _INSTALLED[-1] if _INSTALLED else None
needs_older: Final = pytest.mark.skipif(
    OLDER is None or programs._wheel_package() is None,
    reason="needs PostgreSQL 15 to 17 of the system (or in WEBOID_TEST_OLDER_POSTGRESQL), and the wheel",
)


@contextmanager
def older_only() -> Iterator[None]:
    """As if only the older PostgreSQL were here, as it was before the update."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_candidates", lambda account, data: iter([OLDER]))
        yield

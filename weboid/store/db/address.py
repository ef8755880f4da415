"""The address of a database as libpq reads it, and what is wrong with one.

One law: a message repeats nothing of an address that cannot be used, as all in it may be a part of the password.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from weboid.errors import StoreError

_ADVICE: Final = (
    "write host=… user=… password='…' dbname=…, or postgresql://…, with %25, %40 and %2F for %, @ and / of a password"
)
_GIVEN: Final = re.compile(r"[\"'].*[\"']", re.DOTALL)
"""What libpq or its driver quotes of it; greedy, as a password may have quotes, too."""
_PORTS: Final = re.compile(r"[0-9]{0,5}(,[0-9]{0,5})*")


def read_address(dsn: str) -> Mapping[str, Any]:
    """The parts of the address of a database. Raises StoreError."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise refused_address(error) from None
    # What follows an @ or / that is not escaped is read as host and port, and would be shown as those.
    if "@" in str(parts.get("host", "")):
        raise _unusable("there is an @ in the name of the host")
    if not _PORTS.fullmatch(str(parts.get("port", ""))):
        raise _unusable("the port is no number")
    return parts


def refused_address(error: psycopg.ProgrammingError) -> StoreError:
    """What is said of an address that the driver does not take (D-421)."""
    return _unusable(_GIVEN.sub('"…"', str(error).strip()))


def _unusable(reason: str) -> StoreError:
    return StoreError(f"WEBOID_DATABASE is not a PostgreSQL address ({reason}): {_ADVICE}")

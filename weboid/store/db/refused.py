"""Values that the database refuses: too large, or of a form that no column takes."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


class RefusedValues(Exception):
    """Values from outside that cannot be stored; nothing of them was."""


@contextmanager
def refused_values() -> Iterator[None]:
    """A block in which values from outside are written: raises RefusedValues if the database refuses them."""
    try:
        yield
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise RefusedValues(type(error).__name__) from error

"""What the stored keys were computed with (O-10): a program that computes others would not find what is there.

Moving to other keys is `rekey`'s business.
One law: while keys are being moved the store has the form of no program, so that none takes it for its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.keys import SUFFIX_VERSION, UrlKey, key_of
from weboid.core.url.urls import FORM_VERSION, Url, parse
from weboid.errors import StoreError
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("upkeep/rekey")
FIRST: Final = (1, "1.1.2.20261023")
"""The form of stores that do not say it: they were filled before it was noted."""
UNDER_WAY: Final = (0, "rekey")
"""Stands in the table while keys are being moved."""


@dataclass(frozen=True, slots=True)
class KeyScheme:
    """A way to compute keys: its versions, the normal form of a URL that was stored in another one, and its key."""

    form_version: int = FORM_VERSION
    suffix_version: str = SUFFIX_VERSION
    form: Callable[[str], Url] = parse
    key: Callable[[Url], UrlKey] = key_of

    def renewed(self, url: str) -> Url | None:
        """A stored URL in this form; None if it is invalid now."""
        try:
            return self.form(url)
        except InvalidUrl:
            return None


OURS: Final = KeyScheme()
"""The form of this program."""


async def record_scheme(conn: Connection) -> None:
    """A store that does not say its form yet says it from now on: an empty one takes on ours."""
    row = {
        "form_version": OURS.form_version,
        "suffix_version": OURS.suffix_version,
        "first_form_version": FIRST[0],
        "first_suffix_version": FIRST[1],
    }
    await conn.execute(SQL["record_first_key_form"], row)


async def has_scheme(conn: Connection, scheme: KeyScheme = OURS) -> bool:
    """Whether the stored keys are of this form, kept so until the transaction ends; one that says none has any."""
    row = await (await conn.execute(SQL["find_key_form"])).fetchone()
    return row in (None, (scheme.form_version, scheme.suffix_version))


async def require_scheme(conn: Connection, scheme: KeyScheme = OURS) -> None:
    """Raises StoreError if the stored keys are of another form, or are being moved."""
    if not await has_scheme(conn, scheme):
        raise StoreError(
            "the database has keys of another URL form or suffix list than this program: stop crawlers and feeders, "
            "then run `weboid rekey`"
        )

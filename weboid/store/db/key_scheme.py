"""The scheme that the stored keys were computed with (O-10): a program with another scheme would not find its URLs.

Moving a store to other keys belongs to ``store/upkeep/rekey``. While the form of URLs changes no program uses the
store, as the recorded scheme is that of none; while the suffix list alone does, those that know the new one go on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from weboid.core.url.hosts import SUFFIX_VERSION, InvalidUrl
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import FORM_VERSION, Url, parse
from weboid.errors import StoreError
from weboid.store.db.statements import Connection, fetch_one, statements

SQL: Final = statements("upkeep/rekey")
UNDER_WAY: Final = (0, "rekey")
"""The recorded scheme while keys are being moved."""


@dataclass(frozen=True, slots=True)
class KeyScheme:
    """A way to compute keys: its versions, the function for the normal form of a stored URL, and that for its key."""

    form_version: int = FORM_VERSION
    suffix_version: str = SUFFIX_VERSION
    form: Callable[[str], Url] = parse
    key: Callable[[Url], UrlKey] = key_of

    def renewed(self, url: str) -> Url | None:
        """A stored URL in this scheme's normal form; None if it is invalid in it."""
        try:
            return self.form(url)
        except InvalidUrl:
            return None


class StatedScheme(NamedTuple):
    """The versions that the stored keys were computed with, and whether URLs of some domains are still to be moved."""

    form_version: int
    suffix_version: str
    is_moving: bool = False


OURS: Final = KeyScheme()
"""The scheme of this program."""


async def record_scheme(conn: Connection) -> None:
    """Records the scheme of this program in a store that does not state one yet.

    Otherwise it writes nothing, so that a program can start on a server that is read-only.
    """
    if await find_stated(conn) is not None:
        return
    ours = {"form_version": OURS.form_version, "suffix_version": OURS.suffix_version}
    await conn.execute(SQL["record_first_key_form"], ours)


async def has_scheme(conn: Connection, scheme: KeyScheme = OURS) -> bool:
    """Returns whether the stored keys are of this scheme, which then holds until the transaction ends.

    A store that states no scheme counts as having any.
    """
    row = (
        await find_stated(conn) if _is_read_only(conn) else await (await conn.execute(SQL["lock_key_form"])).fetchone()
    )
    return row is None or tuple(row[:2]) == (scheme.form_version, scheme.suffix_version)


async def find_stated(conn: Connection) -> StatedScheme | None:
    """The scheme that the store states; None = none yet."""
    return await fetch_one(conn, StatedScheme, SQL["find_stated"])


def _is_read_only(conn: Connection) -> bool:
    """Returns whether the server says that it is, so that rows cannot be locked: there no keys are moved, either."""
    status = conn.info.parameter_status
    return "on" in (status("in_hot_standby"), status("default_transaction_read_only"))


async def require_scheme(conn: Connection, scheme: KeyScheme = OURS) -> None:
    """Raises StoreError if the stored keys are of another scheme, or are being moved."""
    if not await has_scheme(conn, scheme):
        raise StoreError(
            "the database has keys of another URL form or suffix list than this program: stop crawlers and feeders, "
            "then run `weboid rekey`"
        )

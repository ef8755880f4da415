"""The settings pages of wikis as they were last fetched (B-1), and those that are shipped for wikis without one.

``core/wikitext/settings`` reads a page, ``maintain/settings_pages`` fetches it. A page that does not fit never replaces
one that did; the fault is kept with the older page.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any, Final

from weboid.assets import asset
from weboid.core.url.farms import WMF
from weboid.core.wikitext.settings import SettingsError, WikiSettings, parse_settings
from weboid.store.db.statements import Connection, fetch_one, statements

SQL: Final = statements("archives/wiki_settings")


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """A wiki's settings page: `text` is the newest that fits, None = there is no page.

    `day` = when it was last read; `fault` = why the page as it was then is not used, "" = it is.
    """

    wiki: int
    day: int
    text: str | None
    fault: str = ""


async def find_settings(conn: Connection, wiki: int) -> WikiSettings | None:
    """The settings of a wiki, by its own page or else those that are shipped; None if neither exists or is usable."""
    row = await (await conn.execute(SQL["find_settings"], {"wiki": wiki})).fetchone()
    return None if row is None else settings_of(row)


def settings_of(row: Sequence[Any]) -> WikiSettings | None:
    """The settings in a row of `find_settings`, or in such a row within another."""
    farm, dbname, text, fault = row
    if text is not None:
        return _parsed(text)
    # A wiki that has a page, and none that fits, has settings of its own: others would be guessed.
    return shipped_settings(dbname) if farm == WMF.code and not fault else None


async def find_stored_settings(conn: Connection, wiki: int) -> StoredSettings | None:
    """The settings page of a wiki as it is stored; None if it was never read."""
    return await fetch_one(conn, StoredSettings, SQL["find_stored"], {"wiki": wiki})


async def record_settings(conn: Connection, settings: StoredSettings) -> None:
    """Stores a page as it was read; with a fault the text before is kept, whatever is given."""
    await conn.execute(SQL["record_settings"], asdict(settings))


@cache
def shipped_settings(dbname: str) -> WikiSettings | None:
    """The settings that are shipped for a Wikipedia (``dewiki``), None if there are none."""
    path = asset("wikis") / f"{dbname}.json"
    return parse_settings(path.read_text(encoding="utf-8")) if path.is_file() else None


@lru_cache(maxsize=64)
def _parsed(text: str) -> WikiSettings | None:
    try:
        return parse_settings(text)
    except SettingsError:
        return None  # stored by another version of the program

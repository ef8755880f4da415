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
from weboid.core.wikitext.settings import (
    NOTHING_SAID,
    OfWiki,
    SettingsError,
    WikiSettings,
    of_wiki,
    parse_page,
    parse_settings,
)
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


async def find_settings(conn: Connection, wiki: int) -> OfWiki:
    """The settings of a wiki: of its own page, and as far as that says nothing those that are shipped."""
    row = await (await conn.execute(SQL["find_settings"], {"wiki": wiki})).fetchone()
    return NOTHING_SAID if row is None else settings_of(row)


def settings_of(row: Sequence[Any]) -> OfWiki:
    """The same of a row of `find_settings`, or of such a row within another."""
    farm, dbname, text, fault = row
    shipped = shipped_settings(dbname) if farm == WMF.code else None
    if text is not None:
        return _parsed(text, dbname if shipped else None)
    # A wiki that has a page, and none that fits, has settings of its own: others would be guessed.
    return NOTHING_SAID if fault else of_wiki(shipped)


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
def _parsed(text: str, shipped: str | None) -> OfWiki:
    try:
        return parse_page(text, base=None if shipped is None else shipped_settings(shipped))
    except SettingsError:
        return NOTHING_SAID  # stored by another version of the program

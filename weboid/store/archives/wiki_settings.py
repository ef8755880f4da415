"""The settings pages of wikis as they were last fetched (B-1), and those that are shipped for wikis without one.

``core/wikitext/settings`` reads a page, ``maintain/settings_pages`` fetches it. A page that does not fit never replaces
one that did; the fault is kept with the older page.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
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
    """The settings of a wiki: of its own page, as far as that says nothing those that are configured, then those that
    are shipped."""
    row = await (await conn.execute(SQL["find_settings"], {"wiki": wiki})).fetchone()
    return NOTHING_SAID if row is None else settings_of(row)


def settings_of(row: Sequence[Any]) -> OfWiki:
    """The same of a row of `find_settings`, or of such a row within another."""
    farm, dbname, text, fault, configured = row
    # A wiki that has a page, and none that fits, has settings of its own: others would be guessed.
    shipped = shipped_settings(dbname) if farm == WMF.code and (text is not None or not fault) else None
    if text is None and configured is None:
        return of_wiki(shipped)
    return _parsed(text, configured, dbname if shipped else None)


async def find_stored_settings(conn: Connection, wiki: int) -> StoredSettings | None:
    """The settings page of a wiki as it is stored; None if it was never read."""
    return await fetch_one(conn, StoredSettings, SQL["find_stored"], {"wiki": wiki})


async def record_configured(conn: Connection, wiki: int, configured: str | None) -> None:
    """Stores what is configured of a wiki: JSON with some parts of a settings page; None = nothing."""
    await conn.execute(SQL["record_configured"], {"wiki": wiki, "configured": configured})


async def forget_configured(conn: Connection, wikis: Sequence[int]) -> None:
    """Forgets what was configured of all wikis but these."""
    await conn.execute(SQL["forget_configured"], {"wikis": list(wikis)})


async def record_settings(conn: Connection, settings: StoredSettings) -> None:
    """Stores a page as it was read; with a fault the text before is kept, whatever is given."""
    await conn.execute(SQL["record_settings"], asdict(settings))


@cache
def shipped_settings(dbname: str) -> WikiSettings | None:
    """The settings that are shipped for a Wikipedia (``dewiki``), None if there are none."""
    path = asset("wikis") / f"{dbname}.json"
    return parse_settings(path.read_text(encoding="utf-8")) if path.is_file() else None


@lru_cache(maxsize=64)
def _parsed(text: str | None, configured: str | None, shipped: str | None) -> OfWiki:
    base = None if shipped is None else shipped_settings(shipped)
    # A page that contradicts what is configured wins; what does not fit was stored by another version of the program.
    for said in (_together(text, configured), text, configured):
        if said is not None:
            with suppress(SettingsError):
                return parse_page(said, base=base)
    return NOTHING_SAID


def _together(text: str | None, configured: str | None) -> str | None:
    """The page with those keys of configured parts that it does not name."""
    if text is None or configured is None:
        return text or configured
    with suppress(ValueError, TypeError, AttributeError):
        page = json.loads(text)
        parts = {name: part | page.get(name, {}) for name, part in json.loads(configured).items()}
        return json.dumps(page | parts)
    return None

"""Reads the settings pages of wikis once a day (B-1), so that the webservice can fill in their templates.

The meaning of a page belongs to ``core/wikitext/settings``, storing it to ``store/archives/wiki_settings``. A wiki that
cannot answer changes nothing; an invalid page is reported, and the one before stays in force.
"""

from weboid.core.url.farms import WMF
from weboid.core.wikitext.settings import SettingsError, parse_page
from weboid.store.archives.wiki_settings import StoredSettings, find_stored_settings, record_settings, shipped_settings
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.action import ActionApi
from weboid.wiki.spamlist import fetch_text


async def refresh_settings(
    pool: Pool, api: ActionApi, wiki: StoredWiki, *, name: str, title: str, day: int
) -> StoredSettings:
    """Reads the page `title` of a wiki called `name` (``dewiki@WMF``) and stores it; returns what is stored.

    Raises SourceError if the wiki cannot be read.
    """
    text = await fetch_text(api, title)
    read = StoredSettings(wiki.wiki, day, text if text.strip() else None)
    if text.strip():
        try:
            shipped = shipped_settings(wiki.dbname) if wiki.farm == WMF.code else None
            parse_page(text, wiki=name, base=shipped)
        except SettingsError as error:
            read = StoredSettings(wiki.wiki, day, None, str(error))
    async with pool.connection() as conn:
        await record_settings(conn, read)
        stored = await find_stored_settings(conn, wiki.wiki)
    assert stored is not None, "it was just recorded"
    return stored


async def is_settings_fresh(pool: Pool, wiki: StoredWiki, day: int) -> bool:
    """True if the wiki's settings page was read on `day` or later."""
    async with pool.connection() as conn:
        stored = await find_stored_settings(conn, wiki.wiki)
    return stored is not None and stored.day >= day

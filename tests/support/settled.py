"""For tests: the wiki of the service with settings by which its pages are repaired."""

import json
from typing import Any, Final

from support.copies import keep_copies
from support.webservice import DEAD, TODAY, Site

from weboid.assets import asset
from weboid.store.archives.wiki_settings import StoredSettings, record_settings

COPY: Final = f"https://web.archive.org/web/20160503120000/{DEAD}"


async def settle(site: Site, **options: Any) -> None:
    """The wiki has settings, and a copy of the dead link is known."""
    page = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    text = json.dumps({**page, "dbname": "testwiki@wmflabs", "lang": "de", "options": options})
    async with site.wiki.pool.connection() as conn:
        await record_settings(conn, StoredSettings(site.wiki.wiki.wiki, 100, text))
    await keep_copies(site.wiki.pool, DEAD, day=TODAY, snapshots=["wayback"])

"""For tests: copies in web archives as rounds would have left them in the store."""

from collections.abc import Mapping, Sequence
from datetime import date
from types import MappingProxyType

from support.listed import add_pages
from support.webservice import Site

from weboid.core.archive.choice import Note
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.record.days import days_from_epoch
from weboid.core.url.archives import ARCHIVES
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.snapshot import Origin, StoredSnapshot, record_snapshots
from weboid.store.db.pool import Pool
from weboid.wiki.source import PageLinks

Said = Mapping[str, LookupOutcome | str]

NUMBERS = {archive.name: archive.number for archive in ARCHIVES}
WANTED = days_from_epoch(date(2016, 5, 5))


async def keep_copies(
    pool: Pool,
    url: str,
    *,
    day: int,
    snapshots: Sequence[str] = (),
    note: int = 0,
    preview: str | None = None,
    said: Said = MappingProxyType({}),
) -> None:
    """Keeps a snapshot of 3 May 2016 at each of these services, and what others said, by service; a text is what was
    passed over by a look-up that found nothing suitable."""
    key = key_of(parse(url))
    stamp = 20160503120000
    async with pool.connection() as conn:
        await record_snapshots(
            conn,
            [
                StoredSnapshot(
                    key, NUMBERS[name], stamp, Origin.CHOSEN, day + 91, day, 0, WANTED, note, preview=preview
                )
                for name in snapshots
            ],
        )
        await record_lookups(
            conn,
            [
                StoredLookup(
                    key,
                    NUMBERS[name],
                    LookupOutcome.UNSUITABLE if isinstance(word, str) else word,
                    day,
                    day + 7,
                    passed=word if isinstance(word, str) else None,
                )
                for name, word in said.items()
            ],
        )


STATES: Mapping[str, Said] = {
    "none": {"wayback": LookupOutcome.NONE},
    "excluded": {"wayback": LookupOutcome.EXCLUDED},
    "unsuitable": {"wayback": "redirects-only,after-death"},
    "unknown": {"wayback": LookupOutcome.UNKNOWN},
    "error": {"wayback": LookupOutcome.ERROR, "arquivo": LookupOutcome.NONE},
    "withdrawn": {"wayback": "withdrawn 20160503120000"},
    "pending": {},
}
"""What services said, by the state that follows."""


async def add_states(site: Site, *, page: int, day: int) -> list[str]:
    """Takes a page in with one dead link for each state of copies, and a cited copy; gives the dead links."""
    urls = [f"http://dead.demo/{state}" for state in (*STATES, "found", "noted")]
    links = [*urls, "https://web.archive.org/web/20160503120000/http://a.demo/old", "https://archive.ph/AbCd1"]
    await add_pages(site, {page: ("Copies", links)})
    site.source.found[page] = PageLinks(page, 0, "Copies", 7, None, tuple(sorted(links)))
    for state, said in STATES.items():
        await keep_copies(site.wiki.pool, f"http://dead.demo/{state}", day=day, said=said)
    await keep_copies(site.wiki.pool, "http://dead.demo/found", day=day, snapshots=("wayback", "nationalarchives"))
    await keep_copies(site.wiki.pool, "http://dead.demo/noted", day=day, snapshots=("arquivo",), note=int(Note.SIMILAR))
    return urls

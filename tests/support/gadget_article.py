"""For tests of how the gadget looks: an article as people write them, its links of every kind, and what became of them.

Hosts are real-looking, as reserved ones are of a class of their own; nobody asks them.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from string import Template
from typing import Final

from support.copies import STATES, keep_copies

from weboid.assets import asset
from weboid.core.observe.observation import Observation
from weboid.core.record.days import day_of
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNTRIED
from weboid.core.record.status import Status
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.judge import judge
from weboid.store.archives.wiki_settings import StoredSettings, record_settings
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.pages.wiki import find_wiki
from weboid.store.people.replacement import PLAIN, lease_replacements, record_checked, record_replacement
from weboid.store.people.report import find_locked_url, record_report
from weboid.store.urls.check import CheckedUrl, record_checks
from weboid.store.urls.url import find_urls

TITLE: Final = "Hooksiel Lighthouse"
FIRST_DAY: Final = day_of(date(2025, 9, 1))
"""The day on which the links were first seen."""
DAY: Final = day_of(date(2026, 11, 20))
"""The day of the answers."""
_EVERY_DAYS: Final = 3

DEAD: Final = "http://leuchtturm-archiv.de/hooksiel/geschichte.html"
"""With copies at two archives."""
BARE: Final = "http://harbour-board.net/minutes/1911"
MOVED: Final = "http://kuestenmuseum.de/turm"
"""With a replacement that a person has suggested."""
DOUBTFUL: Final = "http://seezeichen.info/turm?nr=17"
USURPED: Final = "http://lighthouse-friends.net/hooksiel"
REPORTED: Final = "http://tides.hooksiel.net/table"
"""Somebody has reported that it works."""
PDF: Final = "https://papers.coast-history.net/1911/fresnel"
LONG: Final = (
    "http://catalogue.coast-history.net/records/search.aspx?collection=Leuchtfeuer_und_Tagesmarken&"
    "query=Hooksiel%20Alter%20Leuchtturm%20Bauzeichnung&sort=relevance&"
    + "&".join(f"facet{number}=Wasserstrassen-_und_Schifffahrtsamt_{number}" for number in range(12))
)
IDN: Final = "http://küstenfeuer.de/übersicht"
ARABIC: Final = "http://منارة.وردپرس.com/صفحة"
INTERWIKI: Final = "https://sofar.3sat.de/wiki/Lighthouses?x=y"
FINE: Final = "https://www.3sat.de/nordsee"

ARTICLE: Final = Template(Path(__file__).with_suffix(".wikitext").read_text(encoding="utf-8")).substitute(globals())

Story = Callable[[int], Observation]
"""What is found on a day."""


def _failing(status: Status, reason: Reason, since: date) -> Story:
    """It worked until that day."""
    begin = day_of(since)
    return lambda day: Observation(status, reason) if day >= begin else Observation(Status.FINE, Reason.OK)


def _uneven(day: int) -> Observation:
    """It worked, was broken for a while, worked again, and has been gone since."""
    if day < FIRST_DAY + 40:
        return Observation(Status.FINE, Reason.OK)
    if day < FIRST_DAY + 75:
        return Observation(Status.UNAVAILABLE, Reason.UNAVAILABLE)
    if day < FIRST_DAY + 210:
        return Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, target="https://leuchtturm-archiv.de/neu/turm.html")
    return Observation(Status.NOT_FOUND, Reason.NOT_FOUND)


STORIES: Final[Mapping[str, Story]] = {
    DEAD: _uneven,
    BARE: _failing(Status.DNS_GONE, Reason.DNS_GONE, date(2026, 2, 1)),
    MOVED: _failing(Status.GONE, Reason.GONE, date(2026, 5, 3)),
    DOUBTFUL: _failing(Status.FINE, Reason.SOFT_404, date(2026, 9, 1)),
    USURPED: _failing(Status.FINE, Reason.REPLACED, date(2026, 6, 1)),
    REPORTED: _failing(Status.NOT_FOUND, Reason.NOT_FOUND, date(2026, 3, 1)),
    LONG: _failing(Status.NOT_FOUND, Reason.NOT_FOUND, date(2026, 4, 1)),
    IDN: _failing(Status.NOT_FOUND, Reason.NOT_FOUND, date(2026, 4, 1)),
    ARABIC: _failing(Status.NOT_FOUND, Reason.NOT_FOUND, date(2026, 4, 1)),
    INTERWIKI: _failing(Status.NOT_FOUND, Reason.NOT_FOUND, date(2026, 4, 1)),
    PDF: lambda day: Observation(Status.FINE, Reason.OK, mime="pdf", size_kib=2_048),
    FINE: lambda day: Observation(Status.FINE, Reason.OK),
}


async def record_stories(database: str) -> None:
    """Fills the store of a Weboid that watches the article with all that became of its links."""
    async with open_pool(database, size=2, part="test") as pool:
        async with pool.connection() as conn:
            await _record_checks(conn)
            await _record_people(conn)
            wiki = await find_wiki(conn, WMFLABS, WikiName("testwiki", WMFLABS.name))
            assert wiki
            settings = (
                (asset("wikis") / "enwiki.json")
                .read_text(encoding="utf-8")
                .replace("enwiki@WMF", f"{wiki.dbname}@{WMFLABS.name}")
            )
            await record_settings(conn, StoredSettings(wiki.wiki, DAY, settings))
        await _record_copies(pool)


async def _record_checks(conn: Connection) -> None:
    known = await find_urls(conn, sorted(key_of(parse(url)) for url in STORIES))
    checks = []
    for url, story in STORIES.items():
        key = key_of(parse(url))
        record, due = UNTRIED, FIRST_DAY
        assert key in known, url
        for day in range(FIRST_DAY, DAY, _EVERY_DAYS):
            record, due = judge(record, story(day), day)
        checks.append(CheckedUrl(key, record, max(due, DAY + 3)))
    await record_checks(conn, checks)


async def _record_people(conn: Connection) -> None:
    reported = await find_locked_url(conn, key_of(parse(REPORTED)))
    assert reported
    await record_report(conn, reported, DAY - 20, "7", "Anna")
    target = "https://www.kuestenmuseum.de/ausstellung/turm"
    await record_replacement(
        conn, key_of(parse(MOVED)), archive=PLAIN, target=target, day=DAY - 10, subject="7", name="Anna"
    )
    (suggested,) = await lease_replacements(conn, DAY - 9, limit=1)
    await record_checked(conn, suggested, asked=DAY - 9, due=DAY + 20, strikes=0, works=True)


async def _record_copies(pool: Pool) -> None:
    await keep_copies(pool, DEAD, day=DAY - 30, snapshots=("wayback", "arquivo", "nationalarchives"))
    await keep_copies(pool, ARABIC, day=DAY - 30, snapshots=("wayback",))
    await keep_copies(pool, BARE, day=DAY - 30, said=STATES["none"])
    await keep_copies(pool, LONG, day=DAY - 30, snapshots=("arquivo",), note=3)

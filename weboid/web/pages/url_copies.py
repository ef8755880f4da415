"""Copies in web archives on the page of one URL, with more details than in lists (A-1).

The person who chose a copy, the answers of each archive, why others were passed over, and the wiki's own template.
"""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from weboid.core.archive.copies import ShownSnapshot
from weboid.core.archive.visits import withdrawn_stamp
from weboid.core.url.archives import BY_NUMBER
from weboid.core.verdict.kept_copies import KeptLookup
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.offered_wikitext import offered_wikitext
from weboid.core.wikitext.settings import NOTHING_SAID, OfWiki
from weboid.store.archives.changing_page import ChangingPage, list_changing
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.wiki import StoredWiki
from weboid.store.people.replacement import PLAIN, Replacement, find_replacements
from weboid.web.formats import html
from weboid.web.formats.link_view import copies_html, snapshot_html
from weboid.web.words.copies import remarks
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible


@dataclass(frozen=True, slots=True)
class AboutCopies:
    """Data on a URL's copies that lists do not show; `settings` are those of the wiki that was named."""

    lookups: tuple[KeptLookup, ...]
    choices: list[Replacement]
    changing: ChangingPage | None
    settings: OfWiki


async def find_about_copies(conn: Connection, known: KnownUrl, wiki: StoredWiki | None) -> AboutCopies:
    """The data that only the page of the URL shows."""
    choices = [each for each in await find_replacements(conn, known.key) if each.archive != PLAIN]
    changing = (await list_changing(conn, [known.key])).get(known.key)
    settings = NOTHING_SAID if wiki is None else await find_settings(conn, wiki.wiki)
    return AboutCopies(known.kept.lookups, choices, changing, settings)


def copies_view(link: LinkReport, about: AboutCopies | None, day: int, say: Messages) -> dict[str, Any]:
    """The template values about copies; `copies` is empty where there are none to show."""
    if about is None or link.copies is None:
        return {"copies": [], "has_copy": False, "changing": None, "wikitext": None, "lookups": []}
    offered = offered_wikitext(link, about.settings.writes, day)
    return {
        "copies": _copies_html(link, about, day, say),
        "has_copy": bool(link.copies.snapshots),
        "changing": None
        if about.changing is None
        else say.html("weboid-url-changing-lifted" if about.changing.is_lifted else "weboid-url-changing"),
        "wikitext": None if offered is None else offered.template,
        "lookups": [_lookup_view(lookup, day, say) for lookup in about.lookups if lookup.archive in BY_NUMBER],
    }


def _copies_html(link: LinkReport, about: AboutCopies, day: int, say: Messages) -> list[Markup]:
    """The copies as in lists, each with the person who chose it or the day when it was visited."""
    assert link.copies is not None
    if not link.copies.snapshots:
        return copies_html(link.copies, day, say)
    choices = {each.target: each for each in about.choices}
    return [
        snapshot_html(shown, _notes(shown, choices.get(shown.address), day, say), say)
        for shown in link.copies.snapshots
    ]


def _notes(shown: ShownSnapshot, choice: Replacement | None, day: int, say: Messages) -> list[Markup]:
    if choice is not None:
        name = Markup("<bdi>{}</bdi>").format(visible(choice.name))
        return [say.html("weboid-copy-chosen-by", name, html.time_html(choice.day, day, say))]
    notes = [escape(remark) for remark in remarks(shown, say)]
    if shown.checked is not None and shown.is_verified:
        notes.append(say.html("weboid-copy-checked", html.time_html(shown.checked, day, say)))
    return notes


def _lookup_view(lookup: KeptLookup, day: int, say: Messages) -> dict[str, str]:
    answer = escape(say.text(f"weboid-lookup-{lookup.outcome.word}"))
    title, day_html = BY_NUMBER[lookup.archive].title, html.time_html(lookup.asked, day, say)
    # A withdrawn copy is shown above in words; it was not passed over.
    passed = "" if withdrawn_stamp(lookup.passed) is not None else visible(lookup.passed)
    return {"words": say.html("weboid-url-lookup", title, answer, day_html), "passed": passed}

"""The values that the template of a link shows: words, addresses and notes of one link, on any page."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from weboid.core.archive.copies import Copies, ShownSnapshot
from weboid.core.url.archives import Snapshot
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.verdict import Verdict
from weboid.web.formats.html import address_html, time_html
from weboid.web.words import phrases
from weboid.web.words.copies import copy_parameters, distance_words, remarks, snapshot_words, state_words
from weboid.web.words.messages import Messages

_KEPT: Final = 4_096
_LINK: Final = Markup('<a href="{}" rel="nofollow noopener noreferrer">{}</a>')


class LinkView(NamedTuple):
    """The values of one link for its template; not a dictionary, as templates look for attributes first."""

    verdict: str
    words: str
    url: str
    host: str | None
    """Its host in Unicode, to be shown alongside the URL and never instead of it."""
    normal: str | None
    href: str | None
    reason: str | None
    evidence: Sequence[str]
    """Sentences: what proves the verdict, or which proof is missing yet."""
    suspicious: bool
    details: Sequence[str]
    """The target, the file type, the claims of people."""
    copies: Sequence[Markup]
    """Copies in web archives as links, or why there is none."""
    checked: Markup | None
    status: str | None
    history: Sequence[str]
    forms: Sequence[str]


def link_view(link: LinkReport, day: int, say: Messages) -> LinkView:
    """The values of one link for its template."""
    record = link.record
    details = [
        None if record.target is None else say.html("weboid-target", address_html(record.target)),
        None if (copy := link.cited_copy) is None else _copy_html(copy, say),
        phrases.file_words(link, say),
        phrases.report_words(link, day, say),
    ]
    return LinkView(
        verdict=link.finding.verdict.word,
        words=phrases.verdict_words(link, day, say),
        url=phrases.shown_url(link),
        host=link.host_unicode,
        normal=link.normal,
        href=phrases.href_of(link),
        reason=phrases.reason_words(link, say),
        evidence=phrases.evidence_words(link, day, say),
        suspicious=link.suspicious,
        details=[*filter(None, details), *_instead(link, say)],
        copies=() if link.copies is None else copies_html(link.copies, day, say),
        checked=None if record.checked is None else _checked_html(record.checked, day, say),
        status=phrases.status_words(link.status, say, link.record.http or None) if record.history else None,
        history=[phrases.entry_words(entry, say) for entry in record.history],
        forms=phrases.other_forms(link),
    )


@lru_cache(_KEPT)
def _checked_html(checked: int, day: int, say: Messages) -> Markup:
    return say.html("weboid-asked", time_html(checked, day, say))


def _instead(link: LinkReport, say: Messages) -> list[Markup]:
    """What may replace a dead link, worded with reserve (A-4)."""
    if link.finding.verdict is not Verdict.DEAD or not link.claims.replacement:
        return []
    return [say.html("weboid-note-replacement", address_html(link.claims.replacement))]


def copies_html(copies: Copies, day: int, say: Messages) -> list[Markup]:
    """The copies of a link, each as a sentence with a link; else why there is none."""
    if (why := state_words(copies, day, say)) is not None:
        return [escape(why)]
    return [snapshot_html(shown, map(escape, remarks(shown, say)), say) for shown in copies.snapshots]


def snapshot_html(shown: ShownSnapshot, notes: Iterable[Markup], say: Messages) -> Markup:
    """A copy as a sentence with a link, and these notes."""
    words, distance = snapshot_words(shown, say), distance_words(shown, say)
    href = phrases.href(shown.address)
    copy = escape(words) if href is None else _LINK.format(href, words)
    told = say.html("weboid-copy-only", copy) if distance is None else say.html("weboid-copy-told", copy, distance)
    return Markup(" ").join([told, *notes])


def _copy_html(copy: Snapshot, say: Messages) -> Markup:
    """What the address of a copy that a page links to says."""
    original = "" if copy.original is None else address_html(str(copy.original))
    key, parameters = copy_parameters(copy, original, say)
    return say.html(key, *parameters)

"""The values of one link as pages show it: words, addresses, notes. `link_item` writes them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from weboid.core.archive.copies import Copies, ShownSnapshot
from weboid.core.url.archives import Snapshot
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.verdict import Verdict
from weboid.web.formats.html import address_html, time_html
from weboid.web.formats.link_item import LinkView
from weboid.web.words import phrases
from weboid.web.words.copies import copy_parameters, distance_words, remarks, snapshot_words, state_words
from weboid.web.words.messages import Messages

_KEPT: Final = 4_096
_LINK: Final = Markup('<a href="{}" rel="nofollow noopener noreferrer">{}</a>')


def link_view(link: LinkReport, day: int, say: Messages) -> LinkView:
    finding, record = link.finding, link.record
    return LinkView(
        verdict=finding.verdict.word,
        words=phrases.verdict_words(link, day, say),
        url=phrases.shown_url(link),
        host=link.host_unicode,
        normal=link.normal,
        href=phrases.href_of(link),
        reason=phrases.reason_words(link, say),
        evidence=phrases.evidence_words(link, day, say),
        suspicious=link.suspicious,
        details=_details(link, day, say),
        copies=() if link.copies is None else copies_html(link.copies, day, say),
        checked=None if record.checked is None else _checked_html(record.checked, day, say),
        status=phrases.status_words(link.status, say, record.http or None) if record.history else None,
        history=[phrases.entry_words(entry, say) for entry in record.history],
        forms=phrases.other_forms(link),
    )


def _details(link: LinkReport, day: int, say: Messages) -> list[str]:
    details: list[str | None] = []
    if link.record.target is not None:
        details.append(say.html("weboid-target", address_html(link.record.target)))
    if link.meant is not None:
        details.append(say.html("weboid-note-meant", address_html(link.meant)))
    if (copy := link.cited_copy) is not None:
        details.append(_copy_html(copy, say))
    details += phrases.file_words(link, say), phrases.report_words(link, day, say), _instead(link, say)
    return [words for words in details if words]


@lru_cache(_KEPT)
def _checked_html(checked: int, day: int, say: Messages) -> Markup:
    return say.html("weboid-asked", time_html(checked, day, say))


def _instead(link: LinkReport, say: Messages) -> Markup | None:
    """The suggested replacement of a dead link, worded with reserve (A-4)."""
    if not link.claims.replacement or link.finding.verdict is not Verdict.DEAD:
        return None
    return say.html("weboid-note-replacement", address_html(link.claims.replacement))


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
    sentence = say.html("weboid-copy-only", copy) if distance is None else say.html("weboid-copy-told", copy, distance)
    return Markup(" ").join([sentence, *notes])


def _copy_html(copy: Snapshot, say: Messages) -> Markup:
    """The archived URL and date that the address of a copy has."""
    original = "" if copy.original is None else address_html(str(copy.original))
    key, parameters = copy_parameters(copy, original, say)
    return say.html(key, *parameters)

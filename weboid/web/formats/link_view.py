"""The values of one link as pages show it: words, addresses, notes. `link_item` writes them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from weboid.core.archive.copies import Copies, ShownSnapshot
from weboid.core.record.status import Status
from weboid.core.url.archives import Snapshot
from weboid.core.verdict.link_report import COPY_WANTED, LinkReport
from weboid.core.verdict.offered_wikitext import offered_wikitext
from weboid.core.verdict.verdict import NO_CLAIMS, Verdict
from weboid.core.wikitext.settings import WikiSettings
from weboid.web.formats.bar_chart import history_svg
from weboid.web.formats.html import address_html, icons, since_html, time_html
from weboid.web.formats.link_item import LinkView, StateView, actions_html, chip_html, escaped, why_html
from weboid.web.words import phrases
from weboid.web.words.copies import copy_parameters, distance_words, remarks, snapshot_words, state_words
from weboid.web.words.messages import Messages

_KEPT: Final = 4_096
_LINK: Final = Markup('<a href="{}" rel="nofollow noopener noreferrer">{}</a>')


def link_view(link: LinkReport, day: int, say: Messages, settings: WikiSettings | None = None) -> LinkView:
    """`settings` are those of the wiki, by which it writes of a copy."""
    first = offered = None
    if link.copies is not None:
        first, offered = link.copies.first, offered_wikitext(link, settings, day)
    shown = (
        _state(link, day, say),
        phrases.shown_url(link),
        link.host_unicode,
        link.normal,
        phrases.href_of(link),
        link.suspicious,
        _details(link, day, say),
        () if link.copies is None else copies_html(link.copies, day, say),
        phrases.other_forms(link),
        link.is_repaired,
        phrases.is_reported(link),
        None if first is None else phrases.href(first.address),
        None if offered is None else offered.template or offered.parameters or offered.dead,
    )
    return tuple.__new__(LinkView, shown)  # in half the time of LinkView(…), for the hundreds of links of a page


def _state(link: LinkReport, day: int, say: Messages) -> StateView:
    (verdict, _, since), history = link.finding, link.record.history
    words, checked, checks = phrases.verdict_words(link, day, say), None, ""
    evidence: list[str] = []
    if verdict in COPY_WANTED:  # not what works, which is most of a page
        words = words if since is None else since_html(since, day, say, words)
        evidence = phrases.evidence_words(link, day, say, lambda first: since_html(first, day, say))
    if history:
        checked, detail = _checked(history[0].last, day, history[0].status, link.record.http or None, say)
        checks = f"{history_svg(history, day, say)}{detail}"
    reason, word = phrases.reason_words(link, day, say, finest=True), verdict.word
    chip, actions = chip_html(word, words, icons()[word]), actions_html(word, say) if history else ()
    why = why_html(reason, evidence)
    return tuple.__new__(StateView, (word, words, reason, evidence, checked, chip, why, checks, actions))


@lru_cache(_KEPT)
def _checked(checked: int, day: int, status: Status, http: int | None, say: Messages) -> tuple[Markup, str]:
    """The day of the newest check, and the paragraph of it."""
    asked = say.html("weboid-asked", time_html(checked, day, say))
    return asked, f'<p class="detail">{asked} · {escape(phrases.status_words(status, say, http))}</p>\n'


def _details(link: LinkReport, day: int, say: Messages) -> list[str]:
    details: list[str | None] = [say.html("weboid-note-repaired")] if link.is_repaired else []
    if link.record.target is not None:
        details.append(say.html("weboid-target", address_html(link.record.target)))
    if link.meant is not None:
        details.append(say.html("weboid-note-meant", address_html(link.meant)))
    if (copy := link.cited_copy) is not None:
        details.append(_copy_html(copy, say))
    if not details and link.record.mime is None and link.claims is NO_CLAIMS:
        return []
    details += phrases.file_words(link, say), phrases.report_words(link, day, say), _instead(link, say)
    return [words for words in details if words]


def _instead(link: LinkReport, say: Messages) -> Markup | None:
    """The suggested replacement of a dead link, worded with reserve (A-4)."""
    if not link.claims.replacement or link.finding.verdict is not Verdict.DEAD:
        return None
    return say.html("weboid-note-replacement", address_html(link.claims.replacement))


def copies_html(copies: Copies, day: int, say: Messages) -> list[Markup]:
    """The copies of a link, each as a sentence with a link; else why there is none."""
    if (why := state_words(copies, day, say, lambda again: time_html(again, day, say))) is not None:
        return [why if isinstance(why, Markup) else escaped(why)]
    return [snapshot_html(shown, map(escape, remarks(shown, say)), say) for shown in copies.snapshots]


def snapshot_html(shown: ShownSnapshot, notes: Iterable[Markup], say: Messages) -> Markup:
    """A copy as a sentence with a link, and these notes."""
    words, distance = snapshot_words(shown, say), distance_words(shown, say)
    href = phrases.href(shown.address)
    copy = escape(words) if href is None else _LINK.format(href, words)
    sentence = say.html("weboid-copy-only", copy) if distance is None else say.html("weboid-copy-told", copy, distance)
    shows = [] if not shown.preview else [say.html("weboid-copy-shows", words_html(shown.preview))]
    return Markup(" ").join([sentence, *notes, *shows])


def words_html(preview: str) -> Markup:
    """A stranger's words: each line in an element of its own, whatever their direction."""
    return Markup(" · ").join(Markup("<bdi>{}</bdi>").format(phrases.visible(line)) for line in preview.split("\n"))


def _copy_html(copy: Snapshot, say: Messages) -> Markup:
    """The archived URL and date that the address of a copy has."""
    original = "" if copy.original is None else address_html(str(copy.original))
    key, parameters = copy_parameters(copy, original, say)
    return say.html(key, *parameters)

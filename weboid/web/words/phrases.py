"""The words about a link: verdict, duration, reason, evidence, status of the server, file type (U-2, U-4, U-7).

One law: every enumeration of the core has a message for each of its members
(`test_no_message_is_missing_and_none_is_unused`).
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from weboid.core.document.card import UNSEEN
from weboid.core.record.history import History
from weboid.core.record.policy import MISSING, NO_PROOF
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import HOST_FAILURES, Status, status_of
from weboid.core.url.classify import UrlClass
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, parse
from weboid.core.verdict.hints import LinkHint
from weboid.core.verdict.link_report import COPY_WANTED, LinkReport
from weboid.core.verdict.verdict import Grounds, Verdict
from weboid.store.lists.health import Amount, Exactness
from weboid.web.words.messages import Messages, Parameter

Since = Callable[[int], Parameter]
"""From a day to how long it is since then."""
_Write = Callable[..., str]
_CLICKABLE: Final = frozenset({"http", "https", "ftp", "ftps"})
_FEW_CODES: Final = 5
_UNKNOWN, _DEAD, _DOUBTFUL, _FAILING = Verdict.UNKNOWN, Verdict.DEAD, Verdict.DOUBTFUL, Outcome.FAILING
_KEPT: Final = 4_096
_DAYS: Final = "\0"
"""Stands for the days of an entry in the words around them, which are made once for a status."""


def visible(text: str) -> str:
    """The text with all invisible and misleading characters written out: ``⟨U+202E⟩``."""
    return UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def visible_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return "\n".join(map(visible, text.split("\n")))


def href(url: Url | str | None) -> str | None:
    """The address that a click may open: the normal form of an http, https, ftp or ftps URL, None of anything else."""
    if isinstance(url, str):
        try:
            url = parse(url)
        except InvalidUrl:
            return None
    return str(url) if url is not None and url.scheme in _CLICKABLE else None


def href_of(link: LinkReport) -> str | None:
    """The same of a link's own URL, whose normal form is known already."""
    return link.normal if link.url is not None and link.url.scheme in _CLICKABLE else None


def amount_words(amount: Amount, say: Messages) -> str:
    """A number as its language writes it, with words for how exactly it is known."""
    match amount.exactness:
        case Exactness.ESTIMATE:
            return say.text("weboid-status-about", amount.value)
        case Exactness.AT_LEAST:
            return say.text("weboid-status-at-least", amount.value)
        case Exactness.EXACT:
            return say.number(amount.value)


def verdict_words(link: LinkReport, day: int, say: Messages) -> str:
    """The verdict and its duration: *dead for three weeks*; the class instead, if the link is not watched."""
    verdict, reason, since = link.finding
    if verdict is _UNKNOWN and link.kind is not UrlClass.WATCHED:
        return say.text(f"weboid-class-{link.kind.value}")
    is_gone = verdict is _DEAD and link.cited_copy is not None
    key = "weboid-verdict-gone" if is_gone else f"weboid-verdict-{verdict.word}"
    if verdict is _UNKNOWN and reason is not None:
        key = "weboid-verdict-temporary"  # it was checked, and the site is being repaired
    if verdict is _DOUBTFUL and reason in NO_PROOF:
        key = "weboid-verdict-unavailable"
    return _since(key, None if since is None else day - since, say)


@lru_cache(_KEPT)
def _since(key: str, days: int | None, say: Messages) -> str:
    return say.text(key) if days is None else say.text("weboid-verdict-since", say.text(key), say.span(days))


def reason_words(link: LinkReport, day: int, say: Messages, *, finest: bool = False) -> str | None:
    """The reason of the verdict, as a sentence, or what is hinted of an unchecked link; None where nothing explains."""
    if (reason := link.finest_reason if finest else link.finding.reason) is not None:
        return say.text(f"weboid-reason-{reason.word}")
    if link.invalid is not None:
        return say.text(f"weboid-invalid-{link.invalid.value}")
    return " ".join([_hint_words(hint, day, say) for hint in link.hints]) or None


def _hint_words(hint: LinkHint, day: int, say: Messages) -> str:
    key = f"weboid-hint-{hint.kind.value}"
    return say.text(key) if hint.since is None else say.text(key, say.span(day - hint.since))


def evidence_words(link: LinkReport, day: int, say: Messages, since: Since | None = None) -> list[str]:
    """The proof that a link is dead, or what is missing yet, as sentences; none where no failure counts.

    They say for how long, never an exact day (U-2); as HTML, if `since` writes how long it is since a day.
    """
    if link.finding.verdict not in COPY_WANTED:
        return []
    reason, grounds = link.record.reason, link.grounds
    write: _Write = say.text if since is None else say.html
    long = since or (lambda first: say.span(day - first))
    if reason is None or reason.outcome is not _FAILING:
        return []
    if grounds is not None and grounds.is_proof:
        return _proof_words(grounds, write, long)
    if reason in NO_PROOF:
        return [write("weboid-evidence-unavailable", long(link.record.history[0].first))]
    if grounds is None:
        return []
    failing = _failing_words(grounds, reason, link.status, write, long)
    # What was reported to work is not called dead at all (H-3).
    return [failing] if link.claims.assumed is not None else [failing, _needed_words(grounds, reason, day, say)]


def _proof_words(grounds: Grounds, write: _Write, long: Since) -> list[str]:
    streak = grounds.streak
    assert streak.since is not None
    if grounds.of_host:
        key = "weboid-evidence-host"
    elif grounds.streak.evidence.is_all_missing:
        key = "weboid-evidence-missing"
    else:
        key = "weboid-evidence-failing"
    words = [write(key, streak.strikes, long(streak.since))]
    if grounds.host_answers:
        words.append(write("weboid-evidence-host-answers"))
    return words


def _failing_words(grounds: Grounds, reason: Reason, status: Status, write: _Write, long: Since) -> str:
    if grounds.of_host:
        key = "weboid-evidence-host-since"
    elif reason in MISSING and grounds.streak.evidence.is_all_missing:
        key = "weboid-evidence-missing-since"
    elif status in HOST_FAILURES:
        key = "weboid-evidence-unreachable-since"
    else:
        key = "weboid-evidence-failing-since"
    assert grounds.streak.since is not None
    return write(key, long(grounds.streak.since), grounds.streak.strikes)


def _needed_words(grounds: Grounds, reason: Reason, day: int, say: Messages) -> str:
    """The time until it will be called dead; no number of days if days alone are not enough any more."""
    is_missing = reason in MISSING and not grounds.of_host
    if grounds.streak.elapsed(day) >= grounds.needs_days or (is_missing and not grounds.streak.evidence.is_all_missing):
        return say.text("weboid-evidence-needs-more")
    if grounds.streak.evidence.relapse:
        return say.text("weboid-evidence-needs-relapse", grounds.needs_days)
    return say.text("weboid-evidence-needs-missing" if is_missing else "weboid-evidence-needs", grounds.needs_days)


def is_reported(link: LinkReport) -> bool:
    """True if somebody reported it to work by hand (H-1): a claim, shown of dead and doubtful links only."""
    return link.claims.reported is not None and link.finding.verdict in COPY_WANTED


def report_words(link: LinkReport, day: int, say: Messages) -> str | None:
    """The claim that it works by hand, and when it was made; None if there is none."""
    if link.claims.reported is None or not is_reported(link):
        return None
    return say.text("weboid-note-reported", say.distance(link.claims.reported - day))


@lru_cache(_KEPT)
def status_words(status: Status, say: Messages, http: int | None = None) -> str:
    """The words for the group of a status (U-4), with the exact HTTP code if it is known to belong to it.

    Otherwise with all codes of the group if they are few, as a single one might be wrong.
    """
    words = say.text(f"weboid-status-{status.value}")
    codes = status.codes
    if http is not None and (http in codes or status in (status_of(http), Status.CORRECTED)):
        codes = (http,)
    if not 1 <= len(codes) <= _FEW_CODES:
        return words
    return say.text("weboid-status-code", words, "/".join(map(str, codes)))


def history_words(history: History, say: Messages) -> list[str]:
    """The entries of a history: their days and their status."""
    return [say.dates(first, last).join(around_days(status, say)) for status, first, last in history]


@lru_cache(_KEPT)
def around_days(status: Status, say: Messages) -> list[str]:
    """The words of an entry before its days, and those after them."""
    return say.text("weboid-history-entry", _DAYS, status_words(status, say)).split(_DAYS)


def file_words(link: LinkReport, say: Messages) -> str | None:
    """A notable file type with its size (U-6), None if the link has none."""
    if link.record.mime is None:
        return None
    if link.record.size_kib is None:
        return say.text("weboid-file", link.record.mime)
    return say.text("weboid-file-size", link.record.mime, link.record.size_kib)


def in_words(link: LinkReport, day: int, say: Messages) -> tuple[str, str | None]:
    """Verdict and reason in one line, and the evidence if there is any, for programs that show it to people."""
    verdict, reason = verdict_words(link, day, say), reason_words(link, day, say)
    summary = verdict if reason is None else say.text("weboid-words", verdict, reason)
    return summary, " ".join(evidence_words(link, day, say)) or None


def other_forms(link: LinkReport) -> list[str]:
    """The forms in which the wiki has the URL, other than its normal form."""
    return [visible(given) for given in link.given if link.url is not None and given != link.normal]


def shown_url(link: LinkReport) -> str:
    """The URL for readers: its normal form, which is ASCII, else the form that the wiki has, with nothing hidden."""
    return link.normal or visible(link.given[0])


def titled_url(link: LinkReport) -> str:
    """The same for a line of plain text: the host in Unicode follows, isolated, as it may run from right to left."""
    shown = link.host_unicode
    return shown_url(link) if shown is None else f"{shown_url(link)} (\u2068{shown}\u2069)"

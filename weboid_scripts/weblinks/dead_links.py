"""Decides which links of a page are dead, by Weboid's verdict or by scans, and since when and why (B-3). Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any

from weboid.bot.answers import FROZEN
from weboid.bot.archived import copy_at, for_readers, innermost, is_fit
from weboid.core.record.reasons import BY_WORD, Outcome
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.link_lists import PERMADEAD, PERMALIVE, SUBSCRIPTION
from weboid_scripts.weblinks.links_found import FoundLink
from weboid_scripts.weblinks.scan_memory import Scan


class LinkStanding(Enum):
    """The judgement on a link; the value is the stable word of tables."""

    DEAD = "dead"
    RECENT = "dead for some days only"
    """Dead, but not for as long as it takes to be reported."""
    FAILING = "failing"
    """Its newest scan failed, and it is not dead."""
    IGNORED = "ignored by code"
    """Dead or failing, with a code that is not to be listed."""
    GOOD = "not dead"
    OPEN = "not judged"
    """Nothing is known, or nothing may be reported: a subscription, a frozen link, one that Weboid does not watch."""


@dataclass(frozen=True, slots=True)
class LinkJudgement:
    """The judgement on one link. `why` is a stable word, `http` the code, `copies` addresses for readers."""

    link: FoundLink
    standing: LinkStanding
    since: date | None = None
    why: str = ""
    http: int | None = None
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule by which links are judged: `by_scans` = by three failures in nine days, else by Weboid's verdict.

    Dead links are reported that have been failing for more than so many `days`, and whose code is not in `ignored`.
    """

    by_scans: bool = False
    days: int = 7
    ignored: frozenset[int] = frozenset()


def judged(
    links: Collection[FoundLink],
    answers: Mapping[str, Mapping[str, Any]],
    scans: Mapping[str, Scan],
    rule: Rule,
    now: datetime,
) -> list[LinkJudgement]:
    """The judgement on each link. `answers` are Weboid's links, `scans` the newest scans, both by normal form."""
    return [_filtered(_judged(link, answers, scans, rule, now), rule, now) for link in links]


def _judged(
    link: FoundLink,
    answers: Mapping[str, Mapping[str, Any]],
    scans: Mapping[str, Scan],
    rule: Rule,
    now: datetime,
) -> LinkJudgement:
    answer, scan = answers.get(link.normal, {}), scans.get(link.normal)
    copies = _copies(answer, link.url, now)
    if (decided := _decided(link, answer)) is not None:
        standing, why = decided
        return LinkJudgement(link, standing, why=why, copies=copies)
    scanned = None if scan is None else _by_scan(link, scan, copies)
    if rule.by_scans:
        return scanned or LinkJudgement(link, LinkStanding.OPEN)
    answered = _by_answer(link, answer, copies)
    if scanned is None or answered.standing is LinkStanding.OPEN:
        # Without a verdict a scan shows that a link fails, and no more.
        return replace(scanned, standing=_not_dead(scanned.standing)) if scanned is not None else answered
    if answered.standing is LinkStanding.DEAD and scanned.standing is LinkStanding.GOOD:
        return scanned
    if answered.standing is LinkStanding.GOOD and scanned.standing in (LinkStanding.DEAD, LinkStanding.FAILING):
        return replace(scanned, standing=LinkStanding.FAILING)
    return answered


def _not_dead(standing: LinkStanding) -> LinkStanding:
    return LinkStanding.FAILING if standing is LinkStanding.DEAD else standing


def _decided(link: FoundLink, answer: Mapping[str, Any]) -> tuple[LinkStanding, str] | None:
    """The judgement of the wiki itself on a link; None = the findings count."""
    given = answer.get("flags")
    flags = link.flags | (frozenset(map(str, given)) if isinstance(given, list) else frozenset())
    if FROZEN in flags:
        return LinkStanding.OPEN, FROZEN
    if PERMADEAD in flags:
        return LinkStanding.DEAD, PERMADEAD
    for flag, standing in ((PERMALIVE, LinkStanding.GOOD), (SUBSCRIPTION, LinkStanding.OPEN)):
        if flag in flags:
            return (LinkStanding.DEAD, "tagged-by-hand") if link.is_tagged else (standing, flag)
    return None


def _by_answer(link: FoundLink, answer: Mapping[str, Any], copies: tuple[str, ...]) -> LinkJudgement:
    verdict, reason, http = answer.get("verdict"), answer.get("reason"), answer.get("http")
    if verdict not in (Verdict.DEAD.word, Verdict.DOUBTFUL.word, Verdict.WORKING.word):
        return LinkJudgement(link, LinkStanding.OPEN, copies=copies)
    return LinkJudgement(
        link,
        LinkStanding.DEAD if verdict == Verdict.DEAD.word else LinkStanding.GOOD,
        _day(answer.get("since")),
        reason if isinstance(reason, str) and reason in BY_WORD else "",
        http if isinstance(http, int) and 100 <= http <= 999 else None,
        copies,
    )


def _by_scan(link: FoundLink, scan: Scan, copies: tuple[str, ...]) -> LinkJudgement:
    if scan.failures:
        standing = LinkStanding.DEAD if scan.is_dead else LinkStanding.FAILING
        return LinkJudgement(link, standing, scan.since and scan.since.date(), scan.reason, scan.http, copies)
    standing = LinkStanding.GOOD if scan.outcome in (Outcome.WORKING, Outcome.DOUBTFUL) else LinkStanding.OPEN
    return LinkJudgement(link, standing, None, scan.reason, scan.http, copies)


def _filtered(found: LinkJudgement, rule: Rule, now: datetime) -> LinkJudgement:
    """Without what the caller does not want reported."""
    if found.http in rule.ignored and found.standing in (LinkStanding.DEAD, LinkStanding.FAILING):
        return replace(found, standing=LinkStanding.IGNORED)
    is_recent = found.since is not None and now.date() - found.since <= timedelta(days=rule.days)
    return replace(found, standing=LinkStanding.RECENT) if found.standing is LinkStanding.DEAD and is_recent else found


def _copies(answer: Mapping[str, Any], url: str, now: datetime) -> tuple[str, ...]:
    """The addresses of copies that are of this page, verified ones first; hostile JSON is none."""
    given = answer.get("snapshots")
    fit = []
    for each in given if isinstance(given, list) else ():
        address = str(each.get("snapshot")) if isinstance(each, dict) else ""
        if (copy := copy_at(address)) is not None and is_fit(copy, url, now.astimezone(UTC)):
            fit.append((each.get("verified") is not True, for_readers(innermost(address))))
    return tuple(address for _, address in sorted(fit, key=lambda each: each[0]))


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None

"""The finding on a link of one wiki (U-7, U-11), of what is remembered, the wiki's thresholds and lists, and what is
known of the link this second. Every interface concludes by `wiki_finding` and nothing else.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.url.classify import UrlClass
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import NO_CLAIMS, Claims, Finding, Verdict, finding_of
from weboid.core.wikitext.link_lists import NO_FLAGS, PERMADEAD, PERMALIVE, SUBSCRIPTION, LinkLists
from weboid.core.wikitext.settings import OfWiki

_INVALID: Final = Finding(Verdict.INVALID)
_SPAM: Final = Finding(Verdict.SPAM)
_UNKNOWN: Final = Finding(Verdict.UNKNOWN)
_ALIVE: Final = Finding(Verdict.WORKING, Reason.PERMALIVE)
_DEAD: Final = Finding(Verdict.DEAD, Reason.PERMADEAD)
_FAILING: Final = frozenset({Verdict.DEAD, Verdict.DOUBTFUL})
_WATCHED, _INVALID_KIND, _IS_DEAD = UrlClass.WATCHED, UrlClass.INVALID, Verdict.DEAD


@dataclass(frozen=True, slots=True)
class WikiRules:
    """The rules by which links are judged on a wiki: its thresholds, and the lists in which it names links itself."""

    policy: Policy = DEFAULT
    lists: LinkLists = field(default_factory=LinkLists)

    def flags_of(self, url: Url | None) -> frozenset[str]:
        """The wiki's own flags of a link: words of ``core/wikitext/link_lists``."""
        return NO_FLAGS if url is None or self.lists.is_empty else self.lists.flags_of(url)


DEFAULT_RULES: Final = WikiRules()


def rules_of(said: OfWiki, policy: Policy) -> WikiRules:
    """The rules of a wiki that says this; `policy` has the thresholds that it does not name."""
    own = said.dead_after
    missing = _first(own.missing, policy.missing_span)
    # That a page is missing proves more than that nobody answers, never less.
    thresholds = replace(
        policy,
        dead_strikes=_first(own.strikes, policy.dead_strikes),
        missing_span=missing,
        dead_span=max(missing, _first(own.unreachable, policy.dead_span)),
        server_span=max(missing, _first(own.server_error, policy.server_span)),
    )
    return WikiRules(thresholds, said.links)


def _first(own: int | None, default: int) -> int:
    return default if own is None else own


def wiki_finding(
    kind: UrlClass,
    rules: WikiRules,
    flags: frozenset[str] = NO_FLAGS,
    record: UrlRecord | None = None,
    host: HostRecord = UNKNOWN_HOST,
    claims: Claims = NO_CLAIMS,
    *,
    spam: bool = False,
) -> Finding:
    """The finding on a link of the wiki; `flags` are what its lists say of it. Record None = nothing is stored.

    `spam`: it is spam on the page in question (L-3), whatever it is on others.
    """
    if kind is _INVALID_KIND:
        return _INVALID
    if spam:
        return _SPAM
    if kind is not _WATCHED:
        return _UNKNOWN
    finding = _UNKNOWN if record is None else finding_of(record, host, rules.policy)
    if finding.verdict is _IS_DEAD and claims.assumed is not None:  # It is probably reachable (H-3, D-44).
        finding = Finding(Verdict.DOUBTFUL, Reason.REPORTED, finding.since)
    return listed(finding, flags) if flags else finding


def listed(finding: Finding, flags: frozenset[str]) -> Finding:
    """The finding with what the wiki's own lists say of the link: the wiki knows better than any check (U-11).

    What it names as always dead is so; what it names as always alive is no doubt either; and no machine says that
    something behind a login is dead.
    """
    verdict = finding.verdict
    if PERMADEAD in flags:
        return finding if verdict is Verdict.DEAD else _DEAD
    if PERMALIVE in flags and verdict in _FAILING:
        return _ALIVE
    if SUBSCRIPTION in flags and verdict is Verdict.DEAD:
        return Finding(Verdict.DOUBTFUL, Reason.SUBSCRIPTION, finding.since)
    return finding

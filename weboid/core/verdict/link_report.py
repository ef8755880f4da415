"""The values of an answer: reports of a link, and of a page with its links (W-1, W-3, W-8).

Words for people are in ``web/words``; ``store`` and ``wiki`` read the data. Their dictionary form is in `report_json`.
"""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol

from weboid.core.archive.copies import Copies, DistanceTo
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostRecord, UrlRecord
from weboid.core.record.status import Status, http_code
from weboid.core.url.archives import Snapshot, is_archive_host, snapshot_of
from weboid.core.url.classify import Classified, UrlClass, class_of_host, classify
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.hosts import InvalidReason, InvalidUrl, host_form, reversed_name
from weboid.core.url.keys import UrlKey, bucket, host_key, key_of, url_key
from weboid.core.url.link_kind import InterwikiLink, LinkOrigin, origin_of
from weboid.core.url.probably_meant import probably_meant
from weboid.core.url.spellings import plainest
from weboid.core.url.urls import DEFAULT_PORTS, Url, plain_parts
from weboid.core.verdict.hints import LinkHint
from weboid.core.verdict.kept_copies import DEFAULT_SERVICES, KeptCopies, Services, shown_copies
from weboid.core.verdict.repaired import shown_by
from weboid.core.verdict.verdict import NO_CLAIMS, Claims, Finding, Grounds, Verdict, finding_of, grounds_of
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, WikiRules, wiki_finding
from weboid.core.wikitext.link_lists import NO_FLAGS
from weboid.mechanism.slices import Steps, batches


class Extent(StrEnum):
    """The links of a page in an answer: W-1's, W-3's default, these and those noted for readers (G-5), or all."""

    DEAD = "dead"
    FINDINGS = "findings"
    NOTES = "notes"
    ALL = "all"


class Known(Protocol):
    """The store's data of a watched URL."""

    @property
    def record(self) -> UrlRecord: ...
    @property
    def host(self) -> HostRecord: ...
    @property
    def next_check(self) -> int | None: ...
    @property
    def claims(self) -> Claims: ...
    @property
    def kept(self) -> KeptCopies: ...
    @property
    def is_frozen(self) -> bool: ...
    @property
    def meant(self) -> str | None: ...


class KeyedLink(NamedTuple):
    """A link with its normal form and its key, None where it has none; the key of an invalid one is that of the URL
    that was probably meant (L-9)."""

    link: Classified
    normal: str | None
    key: UrlKey | None


def keyed_link(link: Classified) -> KeyedLink:
    """The link with its computed values, once for all that needs them."""
    if link.url is None:
        meant = probably_meant(link.given) if link.kind is UrlClass.INVALID else None
        return KeyedLink(link, None, key_of(meant.url) if meant else None)
    return KeyedLink(link, str(link.url), key_of(link.url))


def link_of(url: str, farm: Farm) -> KeyedLink:
    """`keyed_link` of a URL on a page of `farm`, as `classify` has it: nearly all take two thirds of the time so."""
    if not (plain := plain_parts(url)) or (of_host := _of_host(plain[1], farm)) is None:
        return keyed_link(classify(url, farm))
    (scheme, raw, path), (host, kind, in_bucket, of_key) = plain, of_host
    normal = url if host == raw else f"{scheme}://{host}{path}"
    link = tuple.__new__(Classified, (url, kind, tuple.__new__(Url, (scheme, host, 0, path)), None, False))
    return tuple.__new__(KeyedLink, (link, normal, tuple.__new__(UrlKey, (in_bucket, of_key, url_key(normal)))))


@lru_cache(65_536)
def _of_host(raw: str, farm: Farm) -> tuple[str, UrlClass, int, int] | None:
    """The common values of a host's URLs, kept here and so in no other cache; None if it is invalid."""
    try:
        host = host_form.__wrapped__(raw)
    except InvalidUrl:
        return None
    return host, class_of_host.__wrapped__(host, farm), bucket(host), host_key(host)


class LinkReport(NamedTuple):
    """One URL of a page. `given` are the forms of it that the wiki has, sorted; they have one `normal` form (L-6).

    `url` and `normal` are None where the link is ignored or invalid, `due` where nothing is stored of it or it is
    never checked. `copies` are those in web archives, None of a link that needs none: dead and doubtful ones do.
    `origin` is how the page links to it, None where that is not known: the store does not keep it. `is_frozen`: bots
    leave it alone on this wiki, as a repair was reverted and nobody has released it (B-6). `meant`, which works,
    was probably meant by a dead, doubtful or invalid link with a typical error (L-9). `flags` are of the wiki's own
    lists. `hints`: what is known of it this second. `is_repaired`: it is dead or doubtful, and its page offers an
    archived copy of it already (L-10).
    """

    given: tuple[str, ...]
    kind: UrlClass
    url: Url | None
    normal: str | None
    finding: Finding
    record: UrlRecord = UNTRIED
    due: int | None = None
    invalid: InvalidReason | None = None
    suspicious: bool = False
    claims: Claims = NO_CLAIMS
    grounds: Grounds | None = None
    copies: Copies | None = None
    origin: LinkOrigin | None = None
    is_frozen: bool = False
    meant: str | None = None
    flags: frozenset[str] = NO_FLAGS
    hints: tuple[LinkHint, ...] = ()
    is_repaired: bool = False

    @property
    def cited_copy(self) -> Snapshot | None:
        """The copy in a web archive that it is itself, None if it is none."""
        if self.url is None or self.normal is None or not is_archive_host(self.url.host):
            return None
        return snapshot_of(self.normal)

    @property
    def finest_reason(self) -> Reason | None:
        """The reason of its finding; of a host that is down what its own newest check found."""
        return self.record.reason if self.finding.reason is _HOST_DOWN else self.finding.reason

    @property
    def status(self) -> Status:
        """The newest status; INVALID for an invalid link, UNTRIED for one that was never checked."""
        if history := self.record.history:
            return history[0].status
        return Status.INVALID if self.kind is UrlClass.INVALID else Status.UNTRIED

    @property
    def host_unicode(self) -> str | None:
        """Its host as people may be shown it next to the normal form; None where that is the same or would mislead."""
        return None if self.url is None else unicode_host(self.url.host)

    @property
    def http(self) -> int | None:
        """The exact HTTP code of the newest check, or that of its status if none was kept (U-4)."""
        return http_code(self.status) if self.record.http is None else self.record.http or None


class LinkPart(NamedTuple):
    """The shown ones of a page's `total` links: those from `first` to `end`, counted from 0 in their own order."""

    first: int
    end: int
    total: int


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page with its links, sorted. They were read on day `read`: this second if `live`, else at a pass (W-10).

    `prefixed_title` is the title with its namespace's prefix; `part` says which of its links these are, None = all.
    """

    wiki: WikiName
    page: int
    namespace: int
    title: str
    revision: int
    links: tuple[LinkReport, ...]
    read: int
    live: bool
    prefixed_title: str
    part: LinkPart | None = None


_WATCHED, _INVALID, _UNKNOWN, _HOST_DOWN = UrlClass.WATCHED, UrlClass.INVALID, Verdict.UNKNOWN, Reason.HOST_DOWN
_ALL, _DEAD, _NOTES, _PERMADEAD = Extent.ALL, Extent.DEAD, Extent.NOTES, Reason.PERMADEAD
_STEP: Final = 50
"""Links that are reported on without letting others run."""
_PLAIN: Final = LinkReport((), UrlClass.WATCHED, None, None, Finding(Verdict.WORKING))
"""Stands for each working link that an answer only counts: it has no form."""
COPY_WANTED: Final = frozenset({Verdict.DEAD, Verdict.DOUBTFUL})
"""The verdicts on links of which a copy is wanted."""
_NO_HINTS: Final[Mapping[str, tuple[LinkHint, ...]]] = {}
_FINDINGS: Final = frozenset({Verdict.DEAD, Verdict.DOUBTFUL, Verdict.SPAM, Verdict.INVALID})


def is_included(link: LinkReport, extent: Extent) -> bool:
    """True if an answer of that extent has the link."""
    return bool(link.given) and _includes(extent, link.finding.verdict, link.suspicious, link.hints, link.record)


def _includes(extent: Extent, verdict: Verdict, noted: bool, hints: tuple[LinkHint, ...], record: UrlRecord) -> bool:
    """A suspicious path is a finding (W-3); having moved is not. Only a notable file type has a size (U-6)."""
    if extent is _ALL:
        return True
    if extent is _DEAD:
        return verdict is Verdict.DEAD
    if verdict in _FINDINGS or noted or (extent is _NOTES and record.mime is not None):
        return True
    return bool(hints) and any(hint.is_finding for hint in hints)


def link_report(
    link: Classified,
    known: Known | None = None,
    rules: WikiRules = DEFAULT_RULES,
    *,
    spam: bool = False,
    services: Services = DEFAULT_SERVICES,
) -> LinkReport:
    """The report on a link; `spam` as of `wiki_finding`, `services` make the addresses of copies."""
    return _link_report(keyed_link(link), known, rules, (link.given,), spam, services)


def _link_report(
    keyed: KeyedLink,
    known: Known | None,
    rules: WikiRules,
    given: tuple[str, ...],
    spam: bool,
    services: Services,
    origin: LinkOrigin | None = None,
    extent: Extent = Extent.ALL,
    hints: tuple[LinkHint, ...] = (),
) -> LinkReport:
    (_, kind, url, invalid, note), normal, _ = keyed
    record, host, claims, due, grounds, copies, meant = UNTRIED, UNKNOWN_HOST, NO_CLAIMS, None, None, None, None
    if kind is _INVALID:
        meant, known = _meant_by(given[0], known, rules), None
    elif known is not None:
        record, host, claims = known.record, known.host, known.claims
    flags = rules.flags_of(url)
    finding = wiki_finding(kind, rules, flags, None if known is None else record, host, claims, spam=spam)
    if finding.verdict is not _UNKNOWN:
        hints = ()
    if extent is not _ALL and not _includes(extent, finding.verdict, note, hints, record):
        return LinkReport(given, kind, url, normal, finding, UNTRIED, None, invalid, note)
    if known is not None:
        due = known.next_check
        if finding.reason is not _PERMADEAD:
            grounds = grounds_of(record, host, rules.policy)
        if finding.verdict in COPY_WANTED:
            meant = known.meant
            if url and not is_archive_host(url.host):
                copies = shown_copies(known.kept, url, claims.archives, services)
    shown = (given, kind, url, normal, finding, record, due, invalid, note, claims, grounds, copies, origin)
    frozen = known is not None and known.is_frozen
    return tuple.__new__(LinkReport, (*shown, frozen, meant, flags, hints, False))


def _meant_by(written: str, known: Known | None, rules: WikiRules) -> str | None:
    """The URL that was probably meant by an invalid link, of which that is known; None if it does not work."""
    if known is None or finding_of(known.record, known.host, rules.policy).verdict is not Verdict.WORKING:
        return None
    return str(meant.url) if (meant := probably_meant(written)) else None


def keyed_reports(
    links: Iterable[KeyedLink],
    known: Mapping[UrlKey, Known],
    rules: WikiRules = DEFAULT_RULES,
    *,
    spam: Collection[UrlKey] = (),
    services: Services = DEFAULT_SERVICES,
    interwiki: Mapping[str, InterwikiLink] | None = None,
    extent: Extent = Extent.ALL,
    hints: Mapping[str, tuple[LinkHint, ...]] = _NO_HINTS,
    copies: Iterable[KeyedLink] = (),
    working: Set[UrlKey] = frozenset(),
) -> Steps[tuple[LinkReport, ...]]:
    """The reports on a page's links, one per normal form (L-6), in the order of W-3; made in steps.

    `spam` are the keys of spam links; `interwiki` are the interwiki links of the page by their URLs, None where nobody
    knows which they are; `hints` are by normal form; `copies` are links to archives from the rest of the page;
    `working` are the keys of those that work and are only counted. Of links that an answer of that extent only counts,
    the last ones, there is no more than the finding, or the verdict."""
    forms: dict[str, KeyedLink] = {}
    others: dict[str, set[str]] = {}
    for number, keyed in enumerate(links):
        if number % _STEP == 0:
            yield
        if forms.setdefault(form := keyed.normal or keyed.link.given, keyed) is not keyed:
            others.setdefault(form, {forms[form].link.given}).add(keyed.link.given)
    included: list[LinkReport] = []
    counted: list[LinkReport] = []
    for number, (form, keyed) in enumerate(forms.items()):
        if number % _STEP == 0:
            yield
        link, _, key = keyed
        if key in working:
            counted.append(_PLAIN)
            continue
        found, is_spam = None if key is None else known.get(key), key in spam
        given = tuple(sorted(others[form])) if form in others else (link.given,)
        origin = None if interwiki is None else origin_of(given, interwiki)
        report = _link_report(keyed, found, rules, given, is_spam, services, origin, extent, hints.get(form, ()))
        (included if extent is _ALL or is_included(report, extent) else counted).append(report)
    yield
    included.sort(key=place)
    yield
    reports = (*included, *counted)
    is_wanted = any(report.finding.verdict in COPY_WANTED for report in reports)
    if is_wanted and (shown := (yield from _shown_by_copies(chain(forms.values(), copies), known, rules))):
        repaired: list[LinkReport] = []
        for some in batches(reports, _STEP):
            repaired += [_repaired(report, shown) for report in some]
            yield
        return tuple(repaired)
    return reports


def _shown_by_copies(links: Iterable[KeyedLink], known: Mapping[UrlKey, Known], rules: WikiRules) -> Steps[set[Url]]:
    """The pages of which a page's links to archives show copies, as far as these are not dead."""
    shown: set[Url] = set()
    for some in batches([each for each in links if (url := each.link.url) and is_archive_host(url.host)], _STEP):
        for link, _, key in some:
            if (page := link.url and shown_by(link.url)) is None:
                continue
            found = None if key is None else known.get(key)
            record, host = (None, UNKNOWN_HOST) if found is None else (found.record, found.host)
            if wiki_finding(link.kind, rules, rules.flags_of(link.url), record, host).verdict is not Verdict.DEAD:
                shown.add(page)
        yield
    return shown


def _repaired(report: LinkReport, shown: set[Url]) -> LinkReport:
    if report.finding.verdict in COPY_WANTED and report.url and plainest(report.url) in shown:
        return report._replace(is_repaired=True)
    return report


def watched_keys(links: Iterable[KeyedLink]) -> set[UrlKey]:
    """The keys under which the store may know something of these links."""
    return {key for link, _, key in links if key is not None and link.kind in (_WATCHED, _INVALID)}


def place(link: LinkReport) -> tuple[Any, ...]:
    """The sort key of W-3: domain from the top level down, port, scheme, path. Links without a URL come last."""
    if (url := link.url) is None:
        return (1, link.given)
    scheme, host, port, path = url
    return (0, _labels(host), port or DEFAULT_PORTS[scheme], scheme, path)


@lru_cache(65_536)
def _labels(host: str) -> str:
    return reversed_name(host).replace(".", "\0")  # compared sooner than a tuple of the labels, and sorts as that does


def cited_on(link: LinkReport, day: int) -> LinkReport:
    """The same report with the distances of its copies to a citation on that day."""
    if (copies := link.copies) is None or not copies.snapshots:
        return link
    snapshots = tuple(snapshot._replace(wanted=day, wanted_is=DistanceTo.CITATION) for snapshot in copies.snapshots)
    return link._replace(copies=replace(copies, snapshots=snapshots))

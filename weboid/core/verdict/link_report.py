"""The values of an answer: what is reported of a link, and of a page with its links (W-1, W-3, W-8).

Words for people are in ``web/words``; ``store`` and ``wiki`` read the data.
One law: `link_as_json` is the only dictionary form of a link; JSON, JavaScript, XML and ``weboid show`` all use it.
It is described in ``docs/api.md``.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, Protocol

from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.copies import Copies, DistanceTo, copies_as_json
from weboid.core.record.days import iso
from weboid.core.record.history import Entry
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.record import UNTRIED, HostRecord, UrlRecord
from weboid.core.record.status import Status, http_code
from weboid.core.url.archives import Snapshot, is_archive_host, snapshot_of
from weboid.core.url.classify import Classified, UrlClass
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import WikiName
from weboid.core.url.hosts import InvalidReason, reversed_name
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import DEFAULT_PORTS, Url
from weboid.core.verdict.claims import NONE, Claims, with_claims
from weboid.core.verdict.grounds import Grounds, grounds_of
from weboid.core.verdict.kept_copies import DEFAULT_SERVICES, KeptCopies, Services, shown_copies
from weboid.core.verdict.verdict import Finding, Verdict, finding_of

VERSION: Final = 2
"""The version of all documents for machines: they grow by new keys only; whoever changes or drops one counts it up."""


class Extent(StrEnum):
    """Which links of a page an answer has: W-1's, W-3's default, or all."""

    DEAD = "dead"
    FINDINGS = "findings"
    ALL = "all"


class Known(Protocol):
    """What the store knows of a watched URL."""

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


class KeyedLink(NamedTuple):
    """A link with its normal form and its key, None where it has none."""

    link: Classified
    normal: str | None
    key: UrlKey | None


def keyed_link(link: Classified) -> KeyedLink:
    """The link with what is computed of it, once for all that needs it."""
    if link.url is None:
        return KeyedLink(link, None, None)
    normal = str(link.url)
    return KeyedLink(link, normal, key_of(link.url, normal))


class LinkReport(NamedTuple):
    """One URL of a page. `given` are the forms of it that the wiki has, sorted; they have one `normal` form (L-6).

    `url` and `normal` are None where the link is ignored or invalid, `due` where nothing is stored of it or it is
    never checked. `copies` are those in web archives, None of a link that needs none: dead and doubtful ones do.
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
    claims: Claims = NONE
    grounds: Grounds | None = None
    copies: Copies | None = None

    @property
    def cited_copy(self) -> Snapshot | None:
        """What its address says if it is itself a copy in a web archive, None if it is none."""
        if self.url is None or self.normal is None or not is_archive_host(self.url.host):
            return None
        return snapshot_of(self.normal)

    @property
    def status(self) -> Status:
        """The newest status; INVALID for an invalid link, UNTRIED for one that was never checked."""
        if self.kind is UrlClass.INVALID:
            return Status.INVALID
        return self.record.history[0].status if self.record.history else Status.UNTRIED

    @property
    def host_unicode(self) -> str | None:
        """Its host as people may be shown it beside the normal form; None where that is the same or would mislead."""
        return None if self.url is None else unicode_host(self.url.host)

    @property
    def http(self) -> int | None:
        """The exact HTTP code of the newest check, None if it got none.

        Of a check whose code was not kept, that which represents its status (U-4).
        """
        return http_code(self.status) if self.record.http is None else self.record.http or None


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page with its links, sorted. They were read on day `read`: this second if `live`, else at a pass (W-10)."""

    wiki: WikiName
    page: int
    namespace: int
    title: str
    revision: int
    links: tuple[LinkReport, ...]
    read: int
    live: bool


_INVALID: Final = Finding(Verdict.INVALID)
_SPAM: Final = Finding(Verdict.SPAM)
_UNKNOWN: Final = Finding(Verdict.UNKNOWN)
COPY_WANTED: Final = frozenset({Verdict.DEAD, Verdict.DOUBTFUL})
"""The verdicts on links of which a copy is wanted."""
_FINDINGS: Final = frozenset({Verdict.DEAD, Verdict.DOUBTFUL, Verdict.SPAM, Verdict.INVALID})


def is_told(link: LinkReport, extent: Extent) -> bool:
    """Whether an answer of that extent has the link. A suspicious path is a finding (W-3); having moved is not."""
    match extent:
        case Extent.DEAD:
            return link.finding.verdict is Verdict.DEAD
        case Extent.FINDINGS:
            return link.finding.verdict in _FINDINGS or link.suspicious
        case Extent.ALL:
            return True


def link_report(
    link: Classified,
    known: Known | None = None,
    policy: Policy = DEFAULT,
    *,
    spam: bool = False,
    services: Services = DEFAULT_SERVICES,
) -> LinkReport:
    """The report on a link. `spam`: it is spam on the page in question (L-3), whatever it is on others. `services` make
    the addresses of copies."""
    return _link_report(keyed_link(link), known, policy, (link.given,), spam, services)


def _link_report(
    keyed: KeyedLink, known: Known | None, policy: Policy, given: tuple[str, ...], spam: bool, services: Services
) -> LinkReport:
    link = keyed.link
    if link.kind is UrlClass.INVALID:
        finding = _INVALID
    elif spam:
        finding = _SPAM
    elif link.kind is UrlClass.WATCHED and known is not None:
        finding = with_claims(finding_of(known.record, known.host, policy), known.claims)
    else:
        finding = _UNKNOWN
    record, due, claims, grounds, copies = UNTRIED, None, NONE, None, None
    if known is not None:
        record, due, claims = known.record, known.next_check, known.claims
        grounds = grounds_of(record, known.host, policy)
        if finding.verdict in COPY_WANTED and link.url is not None and not is_archive_host(link.url.host):
            copies = shown_copies(known.kept, link.url, claims.archives, services)
    # Positional arguments are faster, and there are hundreds of links on a page.
    return LinkReport(
        given, link.kind, link.url, keyed.normal, finding, record, due, link.reason, link.note, claims, grounds, copies
    )


def link_reports(
    links: Iterable[Classified],
    known: Mapping[UrlKey, Known],
    policy: Policy = DEFAULT,
    *,
    spam: Collection[UrlKey] = (),
    services: Services = DEFAULT_SERVICES,
) -> tuple[LinkReport, ...]:
    """The reports on a page's links, one per normal form, in the order of W-3; `spam` are the keys of spam links."""
    return keyed_reports(map(keyed_link, links), known, policy, spam=spam, services=services)


def keyed_reports(
    links: Iterable[KeyedLink],
    known: Mapping[UrlKey, Known],
    policy: Policy = DEFAULT,
    *,
    spam: Collection[UrlKey] = (),
    services: Services = DEFAULT_SERVICES,
) -> tuple[LinkReport, ...]:
    """Like `link_reports`, for links whose keys have already been computed."""
    forms: dict[str, list[KeyedLink]] = {}
    for keyed in links:
        forms.setdefault(keyed.normal or keyed.link.given, []).append(keyed)
    reports = []
    for same in forms.values():
        first, *others = same
        given = tuple(sorted({form.link.given for form in same})) if others else (first.link.given,)
        found = None if first.key is None else known.get(first.key)
        reports.append(_link_report(first, found, policy, given, first.key in spam, services))
    return tuple(sorted(reports, key=place))


def watched_keys(links: Iterable[KeyedLink]) -> set[UrlKey]:
    """The keys under which the store may know something of these links."""
    return {keyed.key for keyed in links if keyed.key is not None and keyed.link.kind is UrlClass.WATCHED}


def place(link: LinkReport) -> tuple[Any, ...]:
    """The sort key of W-3: domain from the top level down, port, scheme, path. Links without a URL come last."""
    if (url := link.url) is None:
        return (1, link.given)
    return (0, _labels(url.host), url.port or DEFAULT_PORTS[url.scheme], url.scheme, url.path)


@lru_cache(65_536)
def _labels(host: str) -> tuple[str, ...]:
    """The labels of a host from the top level down."""
    return tuple(reversed_name(host).split("."))


def link_as_json(link: LinkReport) -> dict[str, Any]:
    """The one dictionary form of a link: days as ISO dates, unknown things None (U-2, U-4)."""
    finding, record, claims = link.finding, link.record, link.claims
    return {
        "normal": link.normal,
        "host_unicode": link.host_unicode,
        "given": list(link.given),
        "class": link.kind.value,
        "verdict": finding.verdict.word,
        "reason": finding.reason.word if finding.reason else link.invalid and link.invalid.value,
        "since": _iso(finding.since),
        **_status_as_json(link.status),
        "http": link.http,
        "checked": _iso(record.checked),
        "next_check": _iso(link.due),
        "strikes": record.streak.strikes,
        "evidence": None if link.grounds is None else _grounds_as_json(link.grounds),
        "target": record.target,
        "mime": record.mime,
        "size_kib": record.size_kib,
        "suspicious": link.suspicious,
        "reported": _iso(claims.reported),
        "assumed": _iso(claims.assumed),
        "replacement": claims.replacement,
        "archives": _addresses(link),
        **copies_as_json(link.copies),
        "copy_of": None if (copy := link.cited_copy) is None else _copy_as_json(copy),
        "history": [_entry_as_json(entry) for entry in record.history],
    }


def _addresses(link: LinkReport) -> list[str]:
    """The addresses of all copies, those that people chose first."""
    if link.copies is None:
        return list(link.claims.archives)
    return [snapshot.address for snapshot in link.copies.snapshots]


def _copy_as_json(copy: Snapshot) -> dict[str, Any]:
    """What the address of a copy says: ``weboid normalize --json`` gives the same."""
    return {
        "service": copy.archive.name,
        "original": None if copy.original is None else str(copy.original),
        "stamp": None if copy.taken is None else f"{stamp_of(copy.taken):014}",
    }


def cited_on(link: LinkReport, day: int) -> LinkReport:
    """The same report with the distances of its copies to a citation on that day."""
    copies = link.copies
    if copies is None or not copies.snapshots:
        return link
    snapshots = tuple(snapshot._replace(wanted=day, wanted_is=DistanceTo.CITATION) for snapshot in copies.snapshots)
    return link._replace(copies=replace(copies, snapshots=snapshots))


def has_copy(link: LinkReport) -> bool:
    """Whether a copy of a dead or doubtful link can be shown."""
    return link.copies is not None and bool(link.copies.snapshots)


def page_as_json(page: PageReport, extent: Extent) -> dict[str, Any]:
    """The dictionary form of a page with the links of that extent; `counts` is over all of its links, by verdict."""
    counts = {verdict.word: 0 for verdict in Verdict}
    for link in page.links:
        counts[link.finding.verdict.word] += 1
    return {
        "wiki": str(page.wiki),
        "id": page.page,
        "namespace": page.namespace,
        "title": page.title,
        "revision": page.revision,
        "live": page.live,
        "read": iso(page.read),
        "counts": counts,
        "links": [link_as_json(link) for link in page.links if is_told(link, extent)],
    }


def state_word(status: Status) -> str:
    """The stable word of a status, e.g. ``dns-gone``: also where HTTP has no code for it."""
    return status.name.lower().replace("_", "-")


@cache
def _status_as_json(status: Status) -> dict[str, Any]:
    """The status byte (U-4), the HTTP code that represents its group, None where HTTP has none, and its word.

    To be copied: it is the same for all.
    """
    return {"status": int(status), "http": http_code(status), "state": state_word(status)}


def _grounds_as_json(grounds: Grounds) -> dict[str, Any]:
    streak = grounds.streak
    return {
        "strikes": streak.strikes,
        "missing": grounds.missing,
        "since": _iso(streak.since),
        "until": _iso(streak.until),
        "days": grounds.days,
        "needs_days": grounds.needs_days,
        "weekdays": streak.evidence.weekdays,
        "hours": streak.evidence.hours,
        "of_host": grounds.of_host,
    }


def _entry_as_json(entry: Entry) -> dict[str, Any]:
    return {
        **_status_as_json(entry.status),
        "first": iso(entry.first),
        "last": iso(entry.last),
    }


def _iso(day: int | None) -> str | None:
    return None if day is None else iso(day)

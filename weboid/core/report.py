"""The values of an answer: what is told of a link, and of a page with its links (W-1, W-3, W-8).

Words for people are the web's business, reading and storing that of the floors between.
One law: `link_as_json` is the only dictionary form of a link; JSON, JavaScript, XML and ``weboid show`` all carry it.
It is described in ``docs/api.md``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Final, Protocol

from weboid.core.classify import Classified, UrlClass
from weboid.core.days import iso
from weboid.core.farms import WikiName
from weboid.core.history import Entry
from weboid.core.hosts import InvalidReason, reversed_name
from weboid.core.keys import UrlKey, key_of
from weboid.core.notes import NONE, Notes, found_with
from weboid.core.policy import DEFAULT, Policy
from weboid.core.record import UNTRIED, HostRecord, UrlRecord
from weboid.core.status import Status, http_code
from weboid.core.urls import DEFAULT_PORTS, Url
from weboid.core.verdict import Finding, Verdict, finding_of

VERSION: Final = 1
"""The version of the dictionary form: it grows by new keys only; whoever changes or drops one counts it up."""


class Extent(StrEnum):
    """Which links of a page are told: W-1's, W-3's default, or all."""

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
    def due(self) -> int: ...
    @property
    def notes(self) -> Notes: ...


@dataclass(frozen=True, slots=True)
class LinkReport:
    """One URL of a page. `given` are the forms of it that the wiki has, sorted; they have one normal form.

    `url` is None where the link is ignored or invalid, `due` where nothing is stored of it.
    """

    given: tuple[str, ...]
    kind: UrlClass
    url: Url | None
    finding: Finding
    record: UrlRecord = UNTRIED
    due: int | None = None
    invalid: InvalidReason | None = None
    suspicious: bool = False
    notes: Notes = NONE

    @property
    def normal(self) -> str | None:
        """The normal form (L-6)."""
        return None if self.url is None else str(self.url)

    @property
    def status(self) -> Status:
        """The newest status; INVALID and UNTRIED where nobody ever asked."""
        if self.kind is UrlClass.INVALID:
            return Status.INVALID
        return self.record.history[0].status if self.record.history else Status.UNTRIED


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


_FINDINGS: Final = frozenset({Verdict.DEAD, Verdict.DOUBTFUL, Verdict.SPAM, Verdict.INVALID})


def is_told(link: LinkReport, extent: Extent) -> bool:
    """Whether an answer of that extent has the link. A note makes a finding (W-3); having moved does not."""
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
    given: Sequence[str] = (),
    spam: bool = False,
) -> LinkReport:
    """What is told of a link. `given` are all its forms, if there are others than the link's own.

    `spam`: it is so on the page that is told of (L-3), whatever it may be on others.
    """
    if link.kind is UrlClass.INVALID:
        finding = Finding(Verdict.INVALID)
    elif spam:
        finding = Finding(Verdict.SPAM)
    elif link.kind is UrlClass.WATCHED and known is not None:
        finding = found_with(finding_of(known.record, known.host, policy), known.notes)
    else:
        finding = Finding(Verdict.UNKNOWN)
    return LinkReport(
        given=tuple(sorted({link.given, *given})) if given else (link.given,),
        kind=link.kind,
        url=link.url,
        finding=finding,
        record=UNTRIED if known is None else known.record,
        due=None if known is None else known.due,
        invalid=link.reason,
        suspicious=link.note,
        notes=NONE if known is None else known.notes,
    )


def link_reports(
    links: Iterable[Classified],
    known: Mapping[UrlKey, Known],
    policy: Policy = DEFAULT,
    *,
    spam: Collection[UrlKey] = (),
    keys: Mapping[Url, UrlKey] | None = None,
) -> tuple[LinkReport, ...]:
    """The reports on a page's links, one for each normal form, sorted as W-3 has them; `spam` are those that are.

    `keys` are those that the caller has computed already (`watched_urls`).
    """
    keys = keys or {}
    forms: dict[Url | str, list[Classified]] = {}
    for link in links:
        forms.setdefault(link.url or link.given, []).append(link)
    reports = []
    for url, same in forms.items():
        key = (keys.get(url) or key_of(url)) if isinstance(url, Url) else None
        found = known.get(key) if key else None
        others = [form.given for form in same] if len(same) > 1 else ()
        reports.append(link_report(same[0], found, policy, given=others, spam=key in spam))
    return tuple(sorted(reports, key=place))


def watched_keys(links: Iterable[Classified]) -> set[UrlKey]:
    """The keys under which the store may know something of these links."""
    return set(watched_urls(links).values())


def watched_urls(links: Iterable[Classified]) -> dict[Url, UrlKey]:
    """The URLs of these links that are watched, with their keys."""
    return {link.url: key_of(link.url) for link in links if link.kind is UrlClass.WATCHED and link.url is not None}


def place(link: LinkReport) -> tuple[Any, ...]:
    """The sorting key of W-3: domain from the top level down, port, scheme, path. What is no URL comes last."""
    if (url := link.url) is None:
        return (1, link.given)
    return (0, _labels(url.host), url.port or DEFAULT_PORTS[url.scheme], url.scheme, url.path)


@lru_cache(65_536)
def _labels(host: str) -> tuple[str, ...]:
    """From the top level down."""
    return tuple(reversed_name(host).split("."))


def link_as_json(link: LinkReport) -> dict[str, Any]:
    """The one dictionary form of a link: days as ISO dates, unknown things None (U-2, U-4)."""
    finding, record, notes = link.finding, link.record, link.notes
    return {
        "normal": link.normal,
        "given": list(link.given),
        "class": link.kind.value,
        "verdict": finding.verdict.word,
        "reason": finding.reason.word if finding.reason else link.invalid and link.invalid.value,
        "since": _iso(finding.since),
        **_status_as_json(link.status),
        "asked": _iso(record.asked),
        "due": _iso(link.due),
        "strikes": record.row.strikes,
        "target": record.target,
        "mime": record.mime,
        "kib": record.size_kib,
        "suspicious": link.suspicious,
        "reported": _iso(notes.reported),
        "assumed": _iso(notes.assumed),
        "replacement": notes.replacement,
        "archives": list(notes.archives),
        "history": [_entry_as_json(entry) for entry in record.history],
    }


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


def _entry_as_json(entry: Entry) -> dict[str, Any]:
    return {
        **_status_as_json(entry.status),
        "first": iso(entry.first),
        "last": iso(entry.last),
    }


def _iso(day: int | None) -> str | None:
    return None if day is None else iso(day)

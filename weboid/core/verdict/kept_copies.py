"""The stored copies of a URL, and which of them are shown in which state (A-1, W-8).

Shown are snapshots of services to which people may be sent, at most one of each, and a copy that somebody chose takes
the place of the one of its service that was chosen by rule.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from weboid.core.archive.addresses import reader_address
from weboid.core.archive.choice import Note
from weboid.core.archive.copies import PENDING, Copies, CopyOrigin, CopyState, ShownSnapshot, copies_of
from weboid.core.archive.dialects.replies import moment_of
from weboid.core.archive.outcomes import LookupOutcome, overall
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.archive.visits import withdrawn_stamp
from weboid.core.url.archives import BY_NUMBER, snapshot_of
from weboid.core.url.urls import Url

Services = Mapping[int, ArchiveService]
"""The services that make addresses for readers, by the number of their archive."""

_SHOWN_ONLY: Final = {
    "loc": "https://webarchive.loc.gov/all",
    "stanford": "https://swap.stanford.edu",
    "parliament": "https://webarchive.parliament.uk",
    "veebiarhiiv": "https://veebiarhiiv.digar.ee/a",
    "ghostarchive": "https://ghostarchive.org/archive",
}
"""Archives that are not asked, but whose copies pages cite: what their addresses begin with."""

DEFAULT_SERVICES: Final[Services] = {
    archive.number: SERVICES.get(archive.name)
    or ArchiveService(archive, Dialect.PYWB, _SHOWN_ONLY[archive.name], _SHOWN_ONLY[archive.name], 0, 0)
    for archive in BY_NUMBER.values()
    if archive.is_offered and (archive.name in SERVICES or archive.name in _SHOWN_ONLY)
}

_ORIGINS: Final = (CopyOrigin.CITED, CopyOrigin.CHOSEN)
"""By stored number."""


class KeptSnapshot(NamedTuple):
    """A row of the table ``snapshot``. `asked` and `wanted` are days, `origin` and `note` stored numbers.

    `address` is the snapshot's own, None where it follows from stamp and URL; `strikes` are the visits in a row that
    did not find it; `preview` is its title and first heading.
    """

    archive: int
    stamp: int
    asked: int | None
    origin: int
    wanted: int | None = None
    note: int = 0
    address: str | None = None
    strikes: int = 0
    preview: str | None = None

    @property
    def is_verified(self) -> bool:
        """True if its newest visit that proved anything played it (A-3); one that pages cite may wait for its first
        (D-254)."""
        return self.asked is not None and not self.strikes


class KeptLookup(NamedTuple):
    """A row of the table ``lookup``: the answer of a service on day `asked`; `due` is the day of the next look-up."""

    archive: int
    outcome: LookupOutcome
    asked: int
    due: int
    passed: str = ""


class KeptCopies(NamedTuple):
    """All that is stored of the copies of one URL."""

    snapshots: tuple[KeptSnapshot, ...] = ()
    lookups: tuple[KeptLookup, ...] = ()


NOTHING: Final = KeptCopies()


def services_of(asked: Iterable[ArchiveService]) -> Services:
    """The services as they are configured, and as usual those that are not asked here."""
    return {**DEFAULT_SERVICES, **{service.archive.number: service for service in asked}}


def shown_copies(
    kept: KeptCopies, url: Url, suggested: Collection[str] = (), services: Services = DEFAULT_SERVICES
) -> Copies:
    """The copies of `url` as they are shown; `suggested` are addresses of copies that people chose and that work."""
    if not (suggested or kept.snapshots or kept.lookups):
        return PENDING
    near = next((row.wanted for row in kept.snapshots if row.wanted is not None), None)  # when the link was first seen
    shown = {snapshot.service.number: snapshot for snapshot in _chosen_by_people(suggested, near)}
    for snapshot in _chosen_by_rule(kept.snapshots, url, services):
        shown.setdefault(snapshot.service.number, snapshot)
    checked = max((lookup.asked for lookup in kept.lookups), default=None)
    again = min((lookup.due for lookup in kept.lookups), default=None)
    withdrawn = None if shown else _withdrawn(kept.lookups)
    state = CopyState.WITHDRAWN if withdrawn else _state(kept.lookups)
    return replace(copies_of(shown.values(), state, checked, again), withdrawn=withdrawn)


def _chosen_by_people(addresses: Iterable[str], near: int | None) -> Iterator[ShownSnapshot]:
    for address in addresses:
        snapshot = snapshot_of(address)
        if snapshot is not None and snapshot.archive.is_offered:
            original = None if snapshot.original is None else str(snapshot.original)
            # What people chose is here only while its newest visit played it.
            shown = ShownSnapshot(snapshot.archive, address, original, snapshot.taken, CopyOrigin.SUGGESTED)
            yield shown._replace(wanted=near, is_verified=True)


def _chosen_by_rule(rows: Iterable[KeptSnapshot], url: Url, services: Services) -> Iterator[ShownSnapshot]:
    for row in rows:
        address, taken = _address(row, url, services), moment_of(str(row.stamp))
        if address is None or taken is None:
            continue
        shown = ShownSnapshot(BY_NUMBER[row.archive], address, str(url), taken, _ORIGINS[row.origin], row.asked)
        yield shown._replace(note=Note(row.note), wanted=row.wanted, is_verified=row.is_verified, preview=row.preview)


def _address(row: KeptSnapshot, url: Url, services: Services) -> str | None:
    """The address for readers; None where they may not be sent to, or where no address has the moment."""
    archive, service = BY_NUMBER.get(row.archive), services.get(row.archive)
    if archive is None or not archive.is_offered:
        return None
    if service is None or (service.dialect is Dialect.PERMA and not row.address):
        return row.address
    return reader_address(service, row.stamp, url, row.address)


def _state(lookups: tuple[KeptLookup, ...]) -> CopyState:
    """The state where no snapshot is kept: a copy that was found then is gone, so it is to be looked up."""
    outcomes: list[LookupOutcome] = [lookup.outcome for lookup in lookups if lookup.outcome is not LookupOutcome.FOUND]
    return CopyState(overall(outcomes).word) if outcomes else CopyState.PENDING


def _withdrawn(lookups: tuple[KeptLookup, ...]) -> datetime | None:
    """The moment of the newest copy that was withdrawn since the last look-up."""
    stamps = [stamp for lookup in lookups if (stamp := withdrawn_stamp(lookup.passed)) is not None]
    return moment_of(str(max(stamps))) if stamps else None

"""The result of a look-up: the copy that was chosen, and the outcome at each service (A-1, A-2)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from weboid.core.archive.choice import Note
from weboid.core.archive.outcomes import LookupOutcome, overall
from weboid.core.archive.rows.fitness import PassedOver
from weboid.core.archive.services import ArchiveService
from weboid.core.url.urls import Url

_NOT_FOUND: Final = "not-found"


@dataclass(frozen=True, slots=True)
class GivenCopy:
    """A copy that somebody has chosen already: a page cites it, or it was given in place of its original."""

    service: ArchiveService
    taken: datetime
    original: Url


@dataclass(frozen=True, slots=True)
class FoundCopy:
    """The copy that was chosen. `original` is the captured URL as the service spells it, `address` the one for readers.

    `own_address` is set where the address does not follow from the moment and the URL that was looked up.
    """

    service: ArchiveService
    stamp: int
    original: str
    taken: datetime
    address: str
    note: Note = Note.NONE
    own_address: str | None = None
    is_given: bool = False
    preview: str = ""
    """Its title and first heading; none of one that redirects."""


@dataclass(frozen=True, slots=True)
class ServiceTry:
    """The outcome at one service; `why` is a stable word, or empty. `passed`: why captures were passed over.

    `rest_s` = it was not asked to the end, for it rests for so many seconds more: nothing is to be remembered of this.
    """

    service: ArchiveService
    outcome: LookupOutcome
    why: str = ""
    passed: tuple[PassedOver, ...] = ()
    rest_s: float | None = None
    is_given: bool = False
    """It was only asked for the given copy."""


@dataclass(slots=True)
class LookUpResult:
    """The result of a look-up, with the services in the order in which they were asked."""

    tries: list[ServiceTry] = field(default_factory=list)
    found: FoundCopy | None = None
    requests: int = 0
    is_broken: bool = False
    """It failed by a fault of ours."""

    @property
    def outcome(self) -> LookupOutcome:
        """The outcome of all services together."""
        if self.found is not None:
            return LookupOutcome.FOUND
        # A given copy that is merely not found says nothing; whatever else it shows, there was one.
        return overall([one.outcome for one in self.tries if not one.is_given or one.why != _NOT_FOUND])

    @property
    def has_none_of_it(self) -> bool:
        """True if no service has a copy of this very URL; some list those of other sessions of its page."""
        is_other = all(one.why == "other-page" for one in self.tries if one.outcome is LookupOutcome.UNSUITABLE)
        return is_other and self.outcome in (LookupOutcome.NONE, LookupOutcome.UNSUITABLE)

    @property
    def rest_s(self) -> float | None:
        """Seconds until all services that rest may be asked; None if none does."""
        return max((tried.rest_s for tried in self.tries if tried.rest_s is not None), default=None)

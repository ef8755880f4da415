"""The exceptions that Weboid itself raises; failures of other servers are values (``core/observe``), not exceptions.

There is a class only if some caller treats it differently from the others.
"""

from typing import ClassVar


class WeboidError(Exception):
    """An error that the operator or caller can fix; its text says what to do next. Exit status 2, HTTP 400."""

    exit_status: ClassVar[int] = 2


class OutputClosedError(Exception):
    """Nobody reads the results any more: a command ends without a word."""


class NoNetwork(WeboidError):
    """Nobody answers, so that nothing can be concluded of any link."""

    exit_status: ClassVar[int] = 3


class ConfigError(WeboidError):
    """A configuration file or variable that cannot be used."""


class StoreError(WeboidError):
    """The database cannot be started, reached or migrated."""


class StoreAway(StoreError):
    """The database cannot be reached, or cannot do its work now; a process that runs permanently waits until it can."""


class StoreConflict(StoreAway):
    """The database has ended a transaction for the sake of another one (deadlock, serialization): repeated, it works.

    The order of our locks is wrong where that happens (docs/architecture.md, "Locks").
    """


class StoreRefuses(StoreError):
    """The server refuses a call, in words; nothing was written."""


class ValuesRefused(StoreError):
    """The server takes none of the values of a call, whenever it is made."""


class DayRefused(WeboidError):
    """The clock has jumped; nobody has confirmed the day, so nothing is checked on it."""


class SourceError(WeboidError):
    """A wiki (its API, replica or dump) does not return what was requested."""


class NotContacted(SourceError):
    """A wiki at an address that this installation must not contact; only its operator can change that."""


class TooManyLinks(SourceError):
    """The pages that were requested have more links than the caller wants to read at once."""


class NotFound(WeboidError):
    """A given wiki, page or URL does not exist."""

"""The exceptions that Weboid itself raises; the faults of other people's servers are values, not exceptions.

One law: a class stands here only if some caller treats it differently from the others.
"""


class WeboidError(Exception):
    """Something the operator or caller can mend; its text says what to do next. Exit status 2, HTTP 400."""


class ConfigError(WeboidError):
    """A configuration file or variable that cannot be used."""


class StoreError(WeboidError):
    """The database cannot be started, reached or migrated."""


class LeaseLost(WeboidError):
    """Another worker has taken over a bucket; nothing may be written for it any more (lease epoch)."""


class SourceError(WeboidError):
    """A wiki (its API or its dump) does not give what was asked for."""


class NotFound(WeboidError):
    """A wiki, page or URL that was named does not exist."""

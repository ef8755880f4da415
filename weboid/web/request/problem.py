"""Errors of requests: an HTTP status, and a message key with its parameters.

A problem has no text of its own; it is worded in the language and written in the format of the request.
"""

from collections.abc import Sequence
from typing import Final

from weboid.errors import WeboidError


class Problem(WeboidError):
    """The reason why a request gets an error. `retry_s`: seconds after which it may be repeated, 0 = not stated; `near`
    are titles that its wiki offers instead of one that it does not have, with their addresses here."""

    def __init__(self, http: int, key: str, *parameters: str | int, retry_s: int = 0) -> None:
        super().__init__(key)
        self.http = http
        self.key: Final = f"weboid-error-{key}"
        self.parameters: Final = parameters
        self.retry_s: Final = retry_s
        self.near: Sequence[tuple[str, str]] = ()

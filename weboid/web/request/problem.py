"""What is wrong with a request, or with us: a status, and a message key with its parameters for people.

One law: a problem carries no text of its own; it is said in the language and in the format of whoever asked.
"""

from typing import Final

from weboid.errors import WeboidError


class Problem(WeboidError):
    """A request that gets an error instead of an answer; it may be made again after `retry_s`, 0 = nothing is said."""

    def __init__(self, http: int, key: str, *parameters: str | int, retry_s: int = 0) -> None:
        super().__init__(key)
        self.http = http
        self.key: Final = f"weboid-error-{key}"
        self.parameters: Final = parameters
        self.retry_s: Final = retry_s

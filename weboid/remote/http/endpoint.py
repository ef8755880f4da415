"""The endpoints of a server: one for each kind of remote processes, with tokens of its own.

A token opens one endpoint: who may write verdicts may not write pages, nor the other way round (D-390).
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint for the processes of one command: its `word`, the authentication `scheme` of their tokens, next to
    ``Bearer`` of trusted clients, and their `plural`, which is also the key of their tokens in ``[web]``.
    """

    word: str
    scheme: str
    plural: str

    @property
    def path(self) -> str:
        """The path of the calls, below the address of the server."""
        return f"/internal/{self.word}/"

    @property
    def kind(self) -> str:
        """The media type of requests and answers."""
        return f"application/vnd.weboid.{self.word}"

    @property
    def token(self) -> str:
        """The variable with the token of a process."""
        return f"WEBOID_{self.word.upper()}_TOKEN"

    @property
    def server(self) -> str:
        """The variable with the address of the server."""
        return f"WEBOID_{self.word.upper()}_CORE"

    @property
    def tokens(self) -> str:
        """The server's variable with the hashes of the tokens."""
        return f"WEBOID_WEB_{self.plural.upper()}"


CRAWLERS: Final = Endpoint("crawl", "Weboid-Crawler", "crawlers")
FEEDERS: Final = Endpoint("feed", "Weboid-Feeder", "feeders")

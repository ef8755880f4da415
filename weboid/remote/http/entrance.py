"""The entrances of a server: one for each kind of remote processes, with tokens of its own.

One law: a token opens one entrance. Who may write verdicts may not write pages, nor the other way round (D-390).
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Entrance:
    """Where the parts of one command call. `word` is that of the command, `scheme` the authentication scheme of their
    tokens, next to ``Bearer`` of trusted clients; `parts` is their plural, and the key of their tokens in ``[web]``.
    """

    word: str
    scheme: str
    parts: str

    @property
    def path(self) -> str:
        """Where the calls are, below the address of the core."""
        return f"/internal/{self.word}/"

    @property
    def kind(self) -> str:
        """The media type of requests and answers."""
        return f"application/vnd.weboid.{self.word}"

    @property
    def token(self) -> str:
        """The variable with the token of a part."""
        return f"WEBOID_{self.word.upper()}_TOKEN"

    @property
    def core(self) -> str:
        """The variable with the address of the core."""
        return f"WEBOID_{self.word.upper()}_CORE"

    @property
    def tokens(self) -> str:
        """The variable of the core with the hashes of the tokens."""
        return f"WEBOID_WEB_{self.parts.upper()}"


CRAWLERS: Final = Entrance("crawl", "Weboid-Crawler", "crawlers")
FEEDERS: Final = Entrance("feed", "Weboid-Feeder", "feeders")

"""The body of a reply while it arrives: decompressed, cut, and of HTML no more than it takes to have some text (C-13).

``net/response_parser`` finds its bytes in the stream, ``core/document/skim`` decides what is kept of HTML. Pure.
One law: what is kept is bounded, and so is what is taken from the server, whatever it sends.
"""

from collections.abc import Mapping

from weboid.core.document.skim import Skim
from weboid.net.content_coding import Decoder


class Body:
    """One body: its first `body_bytes`, decompressed; of an HTML document with status 2xx that begins with too little
    text also what is text in its first `text_bytes`.
    """

    def __init__(self, code: int, headers: Mapping[str, str], *, body_bytes: int, text_bytes: int) -> None:
        most = text_bytes if 200 <= code <= 299 else 0
        self._decoder = Decoder(headers.get("content-encoding", ""))
        self._skim = Skim(body_bytes, most, headers.get("content-type", ""))
        self._body_bytes = body_bytes
        self._most_sent = max(body_bytes, most)
        self._sent = 0

    def take(self, data: bytes) -> bool:
        """Takes the next bytes as sent; returns whether no more are needed."""
        if room := self._skim.room:
            self._sent += len(data)
            self._skim.take(self._decoder.take(data, room))
        limit = self._body_bytes if self._decoder.is_at_end else self._most_sent
        return not self._skim.room or self._sent >= limit

    def content(self) -> bytes:
        """What is kept; nothing can be taken any more."""
        return self._skim.kept()

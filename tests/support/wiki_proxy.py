"""What stands between a bot and the wiki in tests: it passes requests on, and lets a test act right before one.

So somebody saves a page between the moments when a bot reads and saves it, without anything that depends on time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final
from urllib.parse import parse_qsl, urlsplit

_LIMIT_S: Final = 60.0
_OURS: Final = {"connection", "content-length", "transfer-encoding", "date", "server"}

Question = dict[str, str]
"""The parameters of a request to the API."""


@dataclass
class WikiProxy:
    """A running proxy: `domain` is its host and port, `asked` all questions so far.

    `before` is called before a question is passed on; what it returns, if anything, is the answer in JSON instead.
    """

    domain: str
    asked: list[Question] = field(default_factory=list)
    before: Callable[[Question], bytes | None] = lambda question: None

    def edits(self, page: int | None = None) -> list[Question]:
        """The questions so far that were to save a page, or the one with this number."""
        saves = [question for question in self.asked if question.get("action") == "edit"]
        return saves if page is None else [question for question in saves if question.get("pageid") == str(page)]


@contextmanager
def open_wiki_proxy(port: int) -> Iterator[WikiProxy]:
    proxy = WikiProxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._pass_on(b"")

        def do_POST(self) -> None:
            self._pass_on(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _pass_on(self, body: bytes) -> None:
            question = dict(parse_qsl(urlsplit(self.path).query) + parse_qsl(body.decode()))
            proxy.asked.append(question)
            if instead := proxy.before(question):
                return self._answer(200, [("Content-Type", "application/json; charset=utf-8")], instead)
            connection = HTTPConnection("127.0.0.1", port, timeout=_LIMIT_S)
            connection.request(self.command, self.path, body, dict(self.headers))
            with connection.getresponse() as answer:
                answered = answer.read()
            return self._answer(answer.status, answer.getheaders(), answered)

        def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in _OURS:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is written to the tests' own output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        proxy.domain = f"127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()

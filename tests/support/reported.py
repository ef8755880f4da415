"""The vocabulary of `reported_headers` and `reported_refusals`: hosts as public reports of link checkers describe them.

A row is the slug of a behaviour with a report of it (a repository and the number of its thread; *a sibling* is of the
same kind, without one), the script of the host, and the outcomes that are right.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from support.misbehaving import Act, Asked, Script, head_only, reply

from weboid.core.record.reasons import Outcome, Reason

PATH: Final = "/a/the-mill-race.html"
HOST: Final = "mill.demo"
WORDS: Final = (
    "the quick brown fox jumps over the lazy dog near the bank of a river while seven wise owls watch in silence "
)
Row = tuple[str, Script, set[Outcome]]
DeadRow = tuple[str, Script, Reason]
Condition = Callable[[Asked], bool]
WORKS, DOUBTFUL, REFUSED = {Outcome.WORKING}, {Outcome.DOUBTFUL}, {Outcome.REFUSED}
NO_FAILURE: Final = WORKS | DOUBTFUL | REFUSED


def page(title: str, text: str = WORDS * 3) -> bytes:
    return f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1><p>{text}</p></html>".encode()


FINE: Final = reply(200, body=page("The mill on the dam"))
HOME: Final = reply(200, body=page("The society of millers"))
MISSING: Final = reply(404, body=page("Page not found", "Sorry, nothing is here."))
PDF: Final = b"%PDF-1.7\n" + bytes(range(256)) * 20
PICTURE: Final = b"\x89PNG\r\n" + bytes(range(256)) * 20
ROBOTS: Final = reply(200, body=b"User-agent: *\nDisallow: /search\n", kind="text/plain")


def header(asked: Asked, name: str) -> str:
    return asked.headers.get(name, "")


def accepts(asked: Asked) -> str:
    return header(asked, "Accept")


def speaks(asked: Asked) -> str:
    return header(asked, "Accept-Language")


def names_html(asked: Asked) -> bool:
    return "text/html" in accepts(asked)


def has_star(asked: Asked) -> bool:
    return "*" in speaks(asked)


def is_plain_tag(asked: Asked) -> bool:
    return bool(re.fullmatch(r"[a-z]{2}(-[A-Z]{2})?", speaks(asked)))


def sent(asked: Asked, act: Act) -> Act:
    """An answer, without its body if it was asked by HEAD."""
    return head_only(asked, act) if isinstance(act, bytes) else act


def unless(is_fine: Condition, code: int, *lines: str, body: bytes = b"no", fine: bytes = FINE) -> Script:
    return lambda asked: sent(asked, fine if is_fine(asked) else reply(code, *lines, body=body))


def everywhere(code: int, *lines: str, body: bytes = b"no", kind: str = "text/html") -> Script:
    return lambda asked: sent(asked, reply(code, *lines, body=body, kind=kind))


def only_here(act: Act, front: Act = HOME) -> Script:
    """A host whose front page is `front`; everything else is `act`."""
    return lambda asked: sent(asked, {"/": front, "/robots.txt": reply(404)}.get(asked.target, act))


def site(pages: Mapping[str, Act], other: Act = MISSING) -> Script:
    """A host with these pages; everything else is `other`."""
    return lambda asked: sent(asked, pages.get(asked.target, other))


def but_robots(script: Script) -> Script:
    """The same host, which answers for robots.txt as if nothing were wrong."""
    return lambda asked: sent(asked, ROBOTS) if asked.target == "/robots.txt" else script(asked)


def one_in(number: int, act: bytes, script: Script) -> Script:
    """A host that answers every so many requests with `act`."""
    return lambda asked: sent(asked, act) if asked.count % number == 0 else script(asked)


def after(number: int, act: bytes, script: Script) -> Script:
    """A host that answers with `act` once it was asked so many times."""
    return lambda asked: sent(asked, act) if asked.count > number else script(asked)


def by_method(head: Script, get: Script) -> Script:
    return lambda asked: (head if asked.method == "HEAD" else get)(asked)


def at(asked: Asked, host: str, path: str) -> str:
    """A URL of another host, at the port of the one that was asked."""
    port = header(asked, "Host").partition(":")[2]
    return f"http://{host}{':' * bool(port)}{port}{path}"

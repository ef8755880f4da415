"""What a person sees of a URL of a world on a day: the truth next to which what the crawler says is held.

One law: a person is a browser with patience and without credentials: walls for machines, slowness, hatred of HEAD and
wrong codes do not stop her; nothing that is not the content satisfies her.
"""

from enum import Enum
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from weboid.demo.replies import ReceivedRequest, plain_of
from weboid.demo.world import (
    Behaviour,
    BotWall,
    Chain,
    Code,
    Drip,
    HostState,
    Loop,
    NoHead,
    Page,
    Plain,
    RecordedReply,
    Redirect,
    Slow,
    Trouble,
    World,
    answer_of,
    host_state,
)

PATIENCE_S: Final = 60.0
"""As long as a check waits for an answer (C-2)."""
HEAD_BYTES: Final = 256
"""What comes before the content; a tarpit that takes longer for it than the patience lasts shows nothing."""
REDIRECTS: Final = 20
"""As many as browsers follow."""


class Sight(Enum):
    """SEEN = the content. HIDDEN = something answers, but it is not the content. GONE = a failure."""

    SEEN = "seen"
    HIDDEN = "hidden"
    GONE = "gone"


_REFUSALS: Final = frozenset({401, 402, 403, 407, 429, 451, 509, 999})
_NO_PORT: Final = {"http": HostState.NO_HTTP, "https": HostState.TLS_BROKEN}


def sight_of(world: World, url: str, day: int, hour: int = 0) -> Sight:
    """What a person sees at a moment who follows a link to a URL, without a port, of the world; outages of our own are
    not hers.

    Where a scheme does not work at all she tries the other one; warnings of certificates she passes; a redirect from a
    page to the root of a site does not lead to the content.
    """
    return sight_and_hosts(world, url, day, hour)[0]


def sight_and_hosts(world: World, url: str, day: int, hour: int) -> tuple[Sight, frozenset[str]]:
    """What a person sees at a moment, and the hosts on whom that depends."""
    parts = urlsplit(url)
    if host_state(world, parts.netloc, day, hour) is _NO_PORT.get(parts.scheme):
        parts = parts._replace(scheme="http" if parts.scheme == "https" else "https")
    sight, end, hosts = _followed(world, parts.geturl(), day, hour)
    if sight is Sight.SEEN and _is_root(end) and not _is_root(url):
        return Sight.HIDDEN, hosts
    return sight, hosts


def is_walled(world: World, url: str, day: int, hour: int = 0) -> bool:
    """Whether a machine meets a wall there, so that it cannot know what a person sees."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    behaviour: Behaviour | None = answer_of(world, parts.netloc, _target(parts), day, hour, secure=secure)
    while isinstance(behaviour, Slow | NoHead):
        behaviour = behaviour.inside
    return isinstance(behaviour, BotWall)


def _target(parts: SplitResult) -> str:
    return f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def _followed(world: World, url: str, day: int, hour: int) -> tuple[Sight, str, frozenset[str]]:
    """What stands at the end of a URL's redirects, where that is, and the hosts on the way."""
    hosts: set[str] = set()
    for _ in range(REDIRECTS):
        parts = urlsplit(url)
        host = parts.netloc.lower()
        hosts.add(host)
        if host_state(world, host, day, hour) is _NO_PORT.get(parts.scheme):
            return Sight.GONE, url, frozenset(hosts)
        target = _target(parts)
        person = ReceivedRequest(
            "GET", host, target, {"user-agent": "Mozilla/5.0", "referer": f"{parts.scheme}://{host}/"}, keeps=False
        )
        behaviour = answer_of(world, host, target, day, hour, secure=parts.scheme == "https")
        plain, waits_s = plain_of(behaviour, person)
        if waits_s > PATIENCE_S:
            return Sight.GONE, url, frozenset(hosts)
        if not isinstance(plain, Redirect):
            return _sight(plain), url, frozenset(hosts)
        url = urljoin(url, plain.to)
    return Sight.GONE, url, frozenset(hosts)


def _sight(plain: Plain) -> Sight:
    match plain:
        case Page(shows=shows) | RecordedReply(shows=shows):
            return Sight.SEEN if shows else Sight.HIDDEN
        case Code():
            return _sight_of_code(plain)
        case Chain(hops):
            return Sight.SEEN if hops < REDIRECTS else Sight.GONE
        case Drip(pause_s, tarpit):
            return Sight.GONE if tarpit and pause_s * HEAD_BYTES > PATIENCE_S else Sight.SEEN
        case Redirect() | Loop() | NoHead() | BotWall() | Trouble():
            return Sight.GONE


def _sight_of_code(status: Code) -> Sight:
    if status.page:
        return _sight(status.page)
    if 200 <= status.code <= 299 or (status.code >= 400 and status.kind != "text/html"):
        return Sight.SEEN
    return Sight.HIDDEN if status.code in _REFUSALS or status.retry_after_s is not None else Sight.GONE

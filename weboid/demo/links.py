"""The links of the demo's articles: each with its life and its expected verdict, and short functions to write them.

A life begins with a page, unless its first turn is on day 0. The expected verdict is written by hand, with each link,
so that it can prove the crawler right or wrong.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.record.reasons import Reason
from weboid.core.url.classify import UrlClass
from weboid.core.verdict.verdict import Verdict
from weboid.demo.world import Behaviour, HostBehaviour, HostState, Life, Page, Spell


@dataclass(frozen=True, slots=True)
class Link:
    """A link with its life and the expected end: its verdict, and one of the reasons; `was_dead` = it must have been
    reported dead before."""

    url: str
    caption: str
    life: Life[Behaviour] = ()
    verdict: Verdict = Verdict.WORKING
    reasons: tuple[Reason, ...] = ()
    was_dead: bool = False
    kind: UrlClass = UrlClass.WATCHED
    copy_of: str = ""
    """For a copy in a web archive, which no round of the link checker visits: the URL of which it is one."""

    @property
    def is_checked(self) -> bool:
        """Returns whether the link checker visits it."""
        return self.kind is UrlClass.WATCHED and not self.copy_of


@dataclass(frozen=True, slots=True)
class Article:
    """An article, or with `redirect` another title of an article."""

    title: str
    text: str = ""
    links: tuple[Link, ...] = ()
    interwiki: tuple[tuple[str, str], ...] = ()
    redirect: str | None = None


Turn = tuple[int, Behaviour]
"""A day and how the address behaves from that day on."""


def _life(caption: str, turns: tuple[Turn, ...]) -> Life[Behaviour]:
    begin = () if turns and turns[0][0] == 0 else (Spell[Behaviour](0, Page(title=caption)),)
    return (*begin, *(Spell(day, behaviour) for day, behaviour in turns))


def works(url: str, caption: str, *turns: Turn, reason: Reason = Reason.OK, was_dead: bool = False) -> Link:
    """A link that works in the end."""
    return Link(url, caption, _life(caption, turns), Verdict.WORKING, (reason,), was_dead)


def doubtful(url: str, caption: str, reason: Reason, *turns: Turn) -> Link:
    """A link that is doubtful in the end: it answers unusually, or not to us."""
    return Link(url, caption, _life(caption, turns), Verdict.DOUBTFUL, (reason,))


def dead(url: str, caption: str, reason: Reason, *turns: Turn) -> Link:
    """A link that is dead in the end by its own failures."""
    return Link(url, caption, _life(caption, turns), Verdict.DEAD, (reason,))


def dead_with_host(url: str, caption: str, reason: Reason) -> Link:
    """A link that dies with its host: by its own failures, or by the host's if other URLs of it were checked."""
    return Link(url, caption, _life(caption, ()), Verdict.DEAD, (reason, Reason.HOST_DOWN))


def unwatched(url: str, kind: UrlClass, caption: str = "") -> Link:
    """A link that is never checked, because of its class."""
    return Link(url, caption, kind=kind)


def cited_copy(stamp: str, url: str, caption: str) -> Link:
    """A link to a copy of `url` in an archive, taken at a moment of 14 digits."""
    return Link(f"https://web.archive.org/web/{stamp}/{url}", caption, reasons=(Reason.OK,), copy_of=url)


UP: Final[HostBehaviour] = HostState.UP


def host_life(*turns: tuple[int, HostBehaviour]) -> Life[HostBehaviour]:
    """A host that is up until its first turn."""
    later: list[Spell[HostBehaviour]] = [Spell(day, behaviour) for day, behaviour in turns]
    return (Spell(0, UP), *later)

"""The world in which laid-out pages stand: each under its own name, its host answering other paths as configured.

A usurped page is another, living page for the first half of the days; its host is an honest one until then.
One law: what the crawler could not watch in life (other farms' own pages, addresses without a name) is left out, and
said to be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit
from zlib import crc32

from benchmarks.content.manifest import PageClass, Siblings, Specimen
from benchmarks.worlds.troubles import OwnTroubles
from benchmarks.worlds.worldfile import WorldFile
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import WMFLABS
from weboid.core.url.hosts import is_ip
from weboid.demo.world import Behaviour, Code, Host, Life, Page, RecordedReply, Redirect, Spell, World

_NOT_FOUND: Final = Page(
    title="Page not found", text="Sorry, the page you are looking for could not be found on {host}.", shows=False
)
_HONEST: Final = Page(
    title="Notes on tides",
    text="\n".join(
        f"On day {day} the water of the harbour stood {day % 7} feet above the mark, and the ferry left in time."
        for day in range(40)
    ),
)
"""What a usurped page was before, where no living page is at hand."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A world of pages: their specimens by the URLs as they are played, and why others are not in it, by URL."""

    file: WorldFile
    played: Mapping[str, Specimen]
    left_out: Mapping[str, str]
    turn: int
    """The day on which pages are usurped."""


def staged(specimens: Sequence[Specimen], days: int) -> Staged:
    """The world of some pages for so many days."""
    turn = days // 2
    living = [each for each in specimens if each.cls is PageClass.LIVE and each.status == 200]
    played: dict[str, Specimen] = {}
    left_out: dict[str, str] = {}
    hosts: dict[str, dict[str, Life[Behaviour]]] = {}
    firsts: dict[str, tuple[Specimen, str]] = {}
    for specimen in specimens:
        url, reason = _played(specimen.url)
        host, target = _place(url)
        if not reason and target in hosts.get(host, {}):
            reason = "the same address stands on an earlier line"
        if reason:
            left_out.setdefault(specimen.url, reason)
            continue
        played[url] = specimen
        hosts.setdefault(host, {})[target] = _life(specimen, living, turn)
        if host not in firsts or firsts[host][0].siblings is Siblings.NOT_FOUND:
            firsts[host] = specimen, url
    world = World({name: _host(paths, *firsts[name], turn) for name, paths in hosts.items()})
    file = WorldFile("pages", days, world, tuple(played), {}, {}, OwnTroubles())
    return Staged(file, MappingProxyType(played), MappingProxyType(left_out), turn)


def _played(url: str) -> tuple[str, str]:
    """A URL without port and fragment, in its normal form; or why it cannot be watched."""
    link = classify(url, WMFLABS)
    if link.url is None or link.kind is not UrlClass.WATCHED:
        return url, f"{link.kind}{f': {link.reason}' if link.reason else ''}"
    parts = urlsplit(str(link.url))
    if is_ip(link.url.host.strip("[]")):
        return url, "a host without a name"
    return parts._replace(netloc=link.url.host, fragment="").geturl(), ""


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.hostname or "", unquote(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")


def _capture(specimen: Specimen) -> RecordedReply:
    shows = specimen.cls is PageClass.LIVE
    return RecordedReply(specimen.body, specimen.status, specimen.ctype, specimen.headers, shows)


def _life(specimen: Specimen, living: Sequence[Specimen], turn: int) -> Life[Behaviour]:
    now = _capture(specimen)
    if specimen.cls is not PageClass.USURPED or not turn:
        return (Spell(0, now),)
    return (Spell(0, _before(specimen, living)), Spell(turn, now))


def _before(specimen: Specimen, living: Sequence[Specimen]) -> Behaviour:
    if specimen.before is not None:
        return RecordedReply(specimen.before, kind=specimen.ctype)
    return _capture(living[crc32(specimen.url.encode()) % len(living)]) if living else _HONEST


def _host(paths: Mapping[str, Life[Behaviour]], first: Specimen, url: str, turn: int) -> Host:
    others, root = _others(first, url), _root(first, url)
    if first.cls is not PageClass.USURPED or not turn:
        return Host(paths={"/": (Spell(0, root),), **paths}, others=(Spell(0, others),))
    honest: Behaviour = Page(title=urlsplit(url).hostname or "")
    front: Life[Behaviour] = (Spell(0, honest), Spell(turn, root))
    return Host(paths={"/": front, **paths}, others=(Spell(0, Code(404)), Spell(turn, others)))


def _others(specimen: Specimen, url: str) -> Behaviour:
    """What all paths of a host do that are none of its pages."""
    match specimen.siblings:
        case Siblings.NOT_FOUND:
            return Code(404)
        case Siblings.SAME:
            return _capture(specimen)
        case Siblings.TEMPLATE:
            return _capture(specimen) if specimen.cls is PageClass.SOFT404 else _NOT_FOUND
        case Siblings.CANONICAL:
            return Redirect(url)


def _root(specimen: Specimen, url: str) -> Behaviour:
    """What a host's root does: hosts that know their own paths have a front page."""
    if specimen.siblings is Siblings.SAME:
        return _capture(specimen)
    return Page(title=urlsplit(url).hostname or "")

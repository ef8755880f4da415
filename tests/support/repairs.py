"""What tests of repairs share: shipped settings with other options, answers, and what holds of every repair."""

import json
import random
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from weboid.assets import asset
from weboid.bot.answers import KnownLinks, key_of, read_answers
from weboid.bot.repair import RepairedPage, repair
from weboid.core.url.archives import snapshot_of
from weboid.core.wikitext.nodes import TemplateNode
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import WikiSettings, parse_settings

NOW: Final = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
URL: Final = "http://www.town.example.org/history.html"
COPY: Final = f"https://web.archive.org/web/20120507093011/{URL}"
FOUND: Final = {"url": COPY, "stamp": "20120507093011"}
WIKIS: Final = ("enwiki", "dewiki", "frwiki", "ptwiki")

_ADDRESS: Final = re.compile(r"(?:(?:https?|ftp):)?//[^\s\[\]{}<>|\"]+", re.IGNORECASE)
_COPY_GIVEN: Final = re.compile(r"\|\s*ar(?:chive?|quivo)-?url\s*=\s*([^\s|{}<>]+)", re.IGNORECASE)
"""What authors gave for a copy, whatever it is."""
_ACCESSED: Final = re.compile(r"\|\s*(?:access-?date|abruf|zugriff|consulté le|acessodata)\s*=\s*[^|}\s]")
_TITLED: Final = re.compile(r"\|\s*(?:title|titel|titre|título|titulo|text)\s*=\s*[^|}\s]")


@cache
def _page(wiki: str) -> str:
    return (asset("wikis") / f"{wiki}.json").read_text(encoding="utf-8")


def settings_of(wiki: str = "enwiki", *, links: Mapping[str, list[str]] | None = None, **options: Any) -> WikiSettings:
    """The shipped settings of a wiki, with other options and lists of links."""
    return parse_settings(json.dumps(json.loads(_page(wiki)) | {"options": options, "links": links or {}}))


def known(verdict: Any = "dead", archive: Any = FOUND, url: str = URL) -> KnownLinks:
    """What is known of one link; `archive` as in a case, "absent" = nobody has asked."""
    return read_answers({url: verdict}, {} if archive == "absent" else {url: archive}, NOW)


def repaired(text: str, wiki: str = "enwiki", *, links: KnownLinks | None = None, **options: Any) -> str:
    """The text after its repair; by default the link is dead, and archived."""
    return repair(text, settings_of(wiki, **options), links or known(), now=NOW).text


def random_answers(text: str, dice: random.Random) -> KnownLinks:
    """Anything at all of all addresses in a text, and of those in the addresses of copies."""
    verdicts: dict[str, Any] = {}
    archives: dict[str, Any] = {}
    for address in sorted(_addresses(text)):
        url = address.rstrip(".,;:!?)'")
        snapshot = snapshot_of(url)
        if snapshot is not None and snapshot.original is not None:
            url = str(snapshot.original)
        flags = dice.choice([[], [], [], ["permalive"], ["permadead"], ["subscription"], ["frozen"]])
        word = dice.choice(["dead", "dead", "dead", "working", "doubtful", "unknown", "invalid", "spam"])
        verdicts[url] = {"verdict": word, "flags": flags}
        stamp = f"20{dice.randrange(10, 24)}0507093011"
        copy = {"url": f"https://web.archive.org/web/{stamp}/{key_of(url) or url}", "stamp": stamp}
        archives[url] = dice.choice([copy, copy, None, "unknown", "error"])
    return read_answers(verdicts, archives, NOW)


def unsound(before: str, page: RepairedPage) -> list[str]:
    """What is wrong with a repair, whatever it repaired; empty if nothing is."""
    after = page.text
    wrong = [f"balance of {one!r} {other!r}" for one, other in _PAIRS if _balance(before, one, other, after)]
    copies = {url for url in _addresses(before) if snapshot_of(url) is not None or "archive." in url}
    kept = _addresses(before) - copies - set(_COPY_GIVEN.findall(before))
    wrong += [f"lost {url}" for url in kept if url.rstrip(".,;:!?)'") not in after]
    if len(_ACCESSED.findall(after)) > len(_ACCESSED.findall(before)):
        wrong.append("an access date is invented")
    if "archived copy" in after.lower() and "archived copy" not in before.lower():
        wrong.append("a title is invented")
    if not page.changes and after != before:
        wrong.append("changed without a change")
    wrong += [f"{piece[:60]!r} is not left alone" for piece in _astray(_outside(before), after)]
    return wrong


def titles_in(text: str) -> int:
    """How many parameters for titles have a value."""
    return len(_TITLED.findall(text))


_PAIRS: Final = (("{{", "}}"), ("[", "]"), ("<ref", "</ref>"), ("<!--", "-->"))


def _balance(before: str, opening: str, closing: str, after: str) -> bool:
    return before.count(opening) - before.count(closing) != after.count(opening) - after.count(closing)


def _addresses(text: str) -> set[str]:
    """The addresses in a text, comments and all, without quotes that end them."""
    return {re.split("''|&lt;", found)[0] for found in _ADDRESS.findall(text)}


_TAKEN_ALONG: Final = " \t\r\n,;()"


def _outside(text: str) -> list[str]:
    """The pieces of a text between its templates and links, without blanks and what a mark that goes takes along at
    their edges."""
    wikitext = read_wikitext(text)
    pieces, place = [], 0
    nodes: Iterable[Any] = (*wikitext.links, *(each for each in wikitext.templates if _is_small(each)))
    for node in sorted(nodes, key=lambda each: (each.start, -each.end)):
        if node.start >= place:
            pieces.append(text[place : node.start].strip(_TAKEN_ALONG))
        place = max(place, node.end)
    return [piece for piece in [*pieces, text[place:].strip(_TAKEN_ALONG)] if piece]


def _is_small(template: TemplateNode) -> bool:
    """Whether a template may be repaired itself; what is in those that have links or templates inside is compared."""
    return template.end - template.start < 3_000


def _astray(pieces: Iterable[str], text: str) -> list[str]:
    """The pieces that do not stand in the text, in their order."""
    astray, place = [], 0
    for piece in pieces:
        found = text.find(piece, place)
        if found < 0:
            astray.append(piece)
        else:
            place = found + len(piece)
    return astray


def options_of(dice: random.Random) -> Mapping[str, Any]:
    """Options, each turned some way."""
    yes = {name: dice.random() < 0.5 for name in ("trust_tags", "only_with_archive", "living_archives", "revive")}
    more = {name: dice.random() < 0.3 for name in ("cosmetic_only_edits", "convert_bare_refs")}
    return {**yes, **more, "scope": dice.choice(["all", "all", "references"])}

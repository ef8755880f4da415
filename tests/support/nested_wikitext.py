"""Random pages in which everything stands in everything: links in labels, citations in citations, references in
parameters, marks between all of them."""

import random
from typing import Final

_URLS: Final = (
    "http://www.town.example.org/history.html",
    "http://www.town.example.org/history.html",
    "https://other.example.com/a?b=c",
    "http://news.example.net/x,y",
)
_MOST_DEPTH: Final = 4
_COPY: Final = "https://web.archive.org/web/20120507093011/"

# ``%u`` is an address, ``%i`` anything that stands in a line.
_LEAVES: Final = (
    "A",
    "A ''b''",
    "%u",
    "[%u]",
    "[%u A]",
    "{{cite web|url=%u|title=A}}",
    "{{Internetquelle |url=%u |titel=A}}",
    "{{Lien web|titre=A|url=%u}}",
    "{{Citar web|url=%u|titulo=A}}",
    "{{dead link|date=May 2015|bot=X}}",
    "{{dead link}}",
    "{{Toter Link|date=2018-12}}",
    "{{Toter Link|url=%u|date=2018-12|archivebot=2018-12-03 X}}",
    "{{webarchive|url=" + _COPY + "%u|date=7 May 2012}}",
    "{{Webarchiv|url=%u|wayback=20120507093011}}",
    "{{Wayback|url=%u|date=20120507093011}}",
    "([" + _COPY + "%u archived])",
    "[" + _COPY + "%u A]",
    "{{subscription required}}",
    "{{cbignore}}",
    "<ref name=a />",
)
_NESTS: Final = (
    "[%u %i]",
    "[%u A %i]",
    "[%u %i %i]",
    "[//other.example.com/a?b=c %i]",
    "[" + _COPY + "%u %i]",
    "[%u %i\n]",
    "{{cite web|url=%u|title=%i}}",
    "{{cite web |url=%u |title=A |quote=%i %i}}",
    "{{cite book|title=A|url=%u|chapter=%i|archive-url=" + _COPY + "%u|archive-date=7 May 2012}}",
    "{{cite web|url=%u|title=A|archive-url=https://archive.today/20120507/%u|archive-date=%i}}",
    "{{cite web\n | url = %u\n | title = %i\n}}",
    "{{Internetquelle |url=%u |titel=%i |offline=ja}}",
    "{{Internetquelle |url=%u |titel=A |zitat=%i}}",
    "{{Lien web|titre=%i|url=%u|brisé le=2019}}",
    "{{Citar web|url=%u|titulo=%i|wayb=20120507093011}}",
    "{{Toter Link|url=%u|text=%i|date=2018-12}}",
    "{{Lien brisé |url=%u |titre=%i}}",
    "{{Webarchiv|url=%u|wayback=20120507093011|text=%i}}",
    "{{webarchive|url=" + _COPY + "%u|date=7 May 2012|title=%i}}",
    "{{small|%i}}",
    "{{Infobox|a=%i|b=%i}}",
    "{{#if:x|%i|%i}}",
    "{{lang|en|[%u %i]}}",
    "<ref>%i</ref>",
    "<ref>%i %i</ref>",
    "<ref name=a>%i</ref>%i",
    "<!-- %i -->",
    "<nowiki>%i</nowiki>",
    "<small>%i</small>",
    "<poem>%i\n%i</poem>",
    "[[File:A.jpg|thumb|%i]]",
    "[[A|%i]]",
    "''%i''",
    "(%i)",
    "%i, %i.",
    "%i%i",
)
_BLOCKS: Final = (
    "%i\n",
    "* %i %i\n",
    "== %i ==\n",
    "{| class=x\n| %i || %i\n|-\n! a | %i\n|}\n",
    "<gallery>\nFile:A.jpg|%i\nB.png|%i\n</gallery>\n",
    "<references><ref name=b>%i</ref> <ref name=c>%i</ref></references>\n",
    "{{Infobox\n| a = %i\n| b = %i<ref>%i</ref>\n}}\n",
)


def nested_page(dice: random.Random) -> str:
    """A random page of one to four blocks, in which things stand in each other four deep at most."""
    return "".join(_filled(dice.choice(_BLOCKS), dice, 0) for _ in range(dice.randrange(1, 5)))


def _filled(form: str, dice: random.Random, depth: int) -> str:
    first, *others = form.split("%")
    return first + "".join(_piece(other[0], dice, depth) + other[1:] for other in others)


def _piece(kind: str, dice: random.Random, depth: int) -> str:
    if kind == "u":
        return dice.choice(_URLS)
    is_leaf = depth == _MOST_DEPTH or dice.random() < 0.3
    inner = _filled(dice.choice(_LEAVES if is_leaf else _NESTS), dice, depth + 1)
    return (
        inner
        + dice.choice(("", "", " "))
        + (_filled(dice.choice(_LEAVES), dice, depth + 1) if dice.random() < 0.2 else "")
    )

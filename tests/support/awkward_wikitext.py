"""Wikitext that parsers stumble over, and random pages made of it; and pages in which everything stands in everything:
links in labels, citations in citations, references in parameters, marks between all of them."""

import random
from typing import Final

_FRAGMENTS: Final = (
    "{{cite web|url=%s|title=A}}",
    "{{Cite web |url=%s |title=A |access-date=5 May 2012}}",
    "{{cite web\n | url          = %s\n | title        = A\n | access-date  = 5 May 2012\n}}",
    "{{cite web\r\n|url=%s\r\n|title=A\r\n}}",
    "{{cite web|url=%s<!-- seen --> |title=<!-- | }} --> A <!-- x -->|archive-url=<!-- none -->|archive-date=}}",
    "{{cite web|url=<!--a-->%s<!--b-->|url-status=live|archive-url=|archive-date= |title=}}",
    "{{cite web|url=%s|title={{lang|en|[[A|b]]}}|archive-url=http://web.archive.org/web/2012/%s}}",
    "{{cite web|url=%s|archive-url=https://archive.today/20120507/%s|archive-date=7 May 2012|url-status=dead}}",
    "{{cite web|url=https://web.archive.org/web/20120507093011/%s|title=A|}}",
    "{{cite web|url=%s|deadurl=no|deadurl=yes|url=%s}}",
    "{{cite web|url=%s|title=A {{dead link|date=May 2015}}|id={{subscription required}}}}",
    "{{cite web|url=%s|chapter-url=%s|archive-url=//web.archive.org/web/20120507093011/%s}}",
    "{{cite book|url=%s|map-url=%s|archive-url=http://web.archive.org/web/20120507093011/%s|archive-date=2012}}",
    "{{cite web|title=A|%s}}",
    "{{cite web|url=[%s A]|title=B}}",
    "{{cite web|url=%s|title=[[A}}",
    "{{Internetquelle |url=%s |titel=A |offline=ja |archiv-bot=2019-01-01 X}}",
    "{{Toter Link|url=%s|text=A=b|date=2018-12}}",
    "{{Toter Link|date=2018-12|archivebot=2018-12-03 X}}",
    "{{Webarchiv|url=%s|wayback=20120507093011|text=A}}",
    "{{Lien web|titre=A|url=%s|brisé le=2019}}",
    "{{Lien brisé |url=%s |titre=A |auteur=B}}",
    "{{Citar web|url=%s|wayb=20120507093011|urlmorta=não}}",
    "{{Wayback|url=%s|date=20120507093011}}",
    "{{webarchive|url=https://web.archive.org/web/20120507093011/%s|date=7 May 2012}}",
    "{{webarchive |url=https://archive.today/x1Y2 |date=May 7, 2012}}",
    "{{dead link|date=May 2015}}",
    " {{dead link|date=May 2015|bot=X|fix-attempted=yes}}",
    "{{cbignore}}",
    "{{cbignore|bot=medic}}",
    "{{subscription required}}",
    "{{Infobox|a=%s|b=[%s x]|c=<ref>[%s y]</ref>|d={{cite web|url=%s}}}}",
    "{{{1|%s}}} {{{{{x}}} [%s y]}}",
    "{{#if:x|[%s y]|%s}}",
    "[%s]",
    "[%s A ''b'' [[C|d]] {{e|f}}]",
    "[%s A] ([https://web.archive.org/web/20120507093011/%s archived])",
    "[%s A] {{wayback}} {{Wayback|url=%s|date=20120507093011}}",
    "-{[%s A]}- -{zh-hans:%s;zh-hant:{{cite web|url=%s}}}-",
    "[%s A|b}} c]",
    "[%s A\nb]",
    "[[%s A]]",
    "[%s [%s A] B]",
    "[//www.town.example.org/history.html A]",
    "[%s{{{id}}} A]",
    "[%s{{PAGENAME}} A]",
    "%s{{dead link}}x",
    "%s.",
    "(%s), ",
    "''%s''",
    "%s<!-- c -->tail",
    "%s&lt;b",
    "%s?a=b&amp;c=d[1]",
    "<span title='%s'>x</span>",
    "== [%s A] ==",
    "[[File:A.jpg|thumb|link=%s|See [%s the town] of %s]]",
    "[[A|%s]]",
    "<gallery mode=packed>\nFile:A.jpg|link=%s|See [%s A]\nB.png|%s\n</gallery>",
    "{| class=x\n| %s || [%s A]\n|-\n! a | {{cite web|url=%s}}\n|}",
    "<ref>%s</ref>",
    "<ref name=a>[%s A], p. 3.</ref>{{dead link|date=May 2015}}",
    "<ref name=a />",
    "<ref>{{cite web|url=%s|title=A</ref>",
    "<references><ref name=b>{{cite web|url=%s|title=A}} {{cite web|url=%s}}</ref></references>",
    "<nowiki>[%s A]</nowiki>",
    "<pre>%s {{cite web|url=%s}}</pre>",
    "<code>[%s A]</code>",
    "<syntaxhighlight lang=x>%s</syntaxhighlight>",
    "<source>%s</source>",
    "<math>\\frac{{cite web|url=%s}}</math>",
    '<templatedata>{"a": "%s"}</templatedata>',
    "<!-- [%s A] {{cite web|url=%s}} -->",
    "<nowiki>",
    "</ref>",
    "<ref>",
    "{{",
    "}}",
    "[[",
    "]]",
    "|",
    "=",
    "\n",
    "\n\n* ",
    " ",
    "\ufeff",
    "\ud800",
    "\r\n",
    "äöü €𝒳",
    "'''",
)
_RARELY: Final = ("<!--", "{{nobots}}", "<noinclude>", "<includeonly>[%s A]</includeonly>")
_URLS: Final = (
    "http://www.town.example.org/history.html",
    "http://www.town.example.org/history.html#s2",
    "https://other.example.com/a?b=c",
    "http://www.müller.example.net/ä(b)",
    "HTTP://News.Example.org:80/x,y",
)


def awkward_page(dice: random.Random) -> str:
    parts = [dice.choice(_FRAGMENTS) for _ in range(dice.randrange(1, 14))]
    if dice.random() < 0.1:
        parts.insert(dice.randrange(len(parts) + 1), dice.choice(_RARELY))
    return "".join(_filled(part, dice) + dice.choice(("", " ", "\n")) for part in parts)


def _filled(part: str, dice: random.Random) -> str:
    pieces = part.split("%s")
    return pieces[0] + "".join(dice.choice(_URLS) + piece for piece in pieces[1:])


_ADDRESSES: Final = (
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
    return "".join(_nested(dice.choice(_BLOCKS), dice, 0) for _ in range(dice.randrange(1, 5)))


def _nested(form: str, dice: random.Random, depth: int) -> str:
    first, *others = form.split("%")
    return first + "".join(_piece(other[0], dice, depth) + other[1:] for other in others)


def _piece(kind: str, dice: random.Random, depth: int) -> str:
    if kind == "u":
        return dice.choice(_ADDRESSES)
    is_leaf = depth == _MOST_DEPTH or dice.random() < 0.3
    inner = _nested(dice.choice(_LEAVES if is_leaf else _NESTS), dice, depth + 1)
    return (
        inner
        + dice.choice(("", "", " "))
        + (_nested(dice.choice(_LEAVES), dice, depth + 1) if dice.random() < 0.2 else "")
    )

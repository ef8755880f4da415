"""Wikitext that parsers stumble over, and random pages made of it."""

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
    """A random page of awkward fragments."""
    parts = [dice.choice(_FRAGMENTS) for _ in range(dice.randrange(1, 14))]
    if dice.random() < 0.1:
        parts.insert(dice.randrange(len(parts) + 1), dice.choice(_RARELY))
    return "".join(_filled(part, dice) + dice.choice(("", " ", "\n")) for part in parts)


def _filled(part: str, dice: random.Random) -> str:
    pieces = part.split("%s")
    return pieces[0] + "".join(dice.choice(_URLS) + piece for piece in pieces[1:])

"""Articles that we wrote, full of links that differ between wikitext, tables and browser; the templates that exports of
Wikipedias lack; and an interwiki map for both.

Hosts are real-looking, as reserved ones are of a class of their own; nobody asks them.
"""

import struct
import zlib
from typing import Final

from support.mediawiki import Interwiki

from weboid.assets import toml_next_to

_CITATION: Final = (
    "{{#if:{{{url|{{{URL|}}}}}}|[{{{url|{{{URL}}}}}} {{{title|link}}}]|{{{title|}}}}}"
    "{{#if:{{{archiveurl|{{{archive-url|}}}}}}| [{{{archiveurl|{{{archive-url}}}}}} Archived]}}"
    "{{#if:{{{chapter-url|{{{chapterurl|}}}}}}| [{{{chapter-url|{{{chapterurl}}}}}} {{{chapter|chapter}}}]}}"
    "{{#if:{{{doi|}}}| [[doi:{{{doi}}}|doi]] [//dx.doi.org/{{urlencode:{{{doi}}}}} {{{doi}}}]}}"
    "{{#if:{{{pmid|}}}| [//www.ncbi.nlm.nih.gov/pubmed/{{{pmid}}} {{{pmid}}}]}}"
    "{{#if:{{{jstor|}}}| [//www.jstor.org/stable/{{{jstor}}} {{{jstor}}}]}}"
    "{{#if:{{{bibcode|}}}| [http://adsabs.harvard.edu/abs/{{urlencode:{{{bibcode}}}}} {{{bibcode}}}]}}"
    "{{#if:{{{oclc|}}}| [https://www.worldcat.org/oclc/{{{oclc}}} {{{oclc}}}]}}"
)
_CITING: Final = (
    *("Cite web", "Cite book", "Cite journal", "Cite news", "Cite encyclopedia", "Cite press release", "Cite episode"),
    *("Cite conference", "Cite techreport", "Cite thesis", "Cite AV media", "Cite video", "Cite speech", "Citation"),
)
TEMPLATES: Final = {
    **{f"Template:{name}": _CITATION for name in _CITING},
    "Template:Reflist": "{{#tag:references|{{{refs|}}}|group={{{group|}}}}}",
    "Template:Notelist": "{{#tag:references|{{{notes|{{{refs|}}}}}}|group={{{group|lower-alpha}}}}}",
    "Template:Wayback": "[http://web.archive.org/web/{{{date|*}}}/{{{url}}} {{{title|Archived}}}]",
    "Template:Official website": "[{{{1}}} Official website]",
    "Template:URL": "[{{{1}}} {{{2|{{{1}}}}}}]",
    "Template:Dmoz": "[https://www.dmoz.org/{{{1}}} {{{2|{{{1}}}}}}]",
    "Template:IMDb name": "[http://www.imdb.com/name/nm{{{id|{{{1}}}}}}/ IMDb]",
    "Template:Gutenberg author": "[https://www.gutenberg.org/author/{{{id|{{{1}}}}}} Works]",
    "Template:Librivox author": "[https://librivox.org/author/{{{id|0}}} Works]",
    "Template:Internet Archive author": (
        '[https://archive.org/search.php?query=%28subject%3A%22{{urlencode:{{PAGENAME}}}}%22+OR+creator%3A"x"%29 Works]'
    ),
}
INTERWIKIS: Final = (
    *(Interwiki(code, f"https://{code}.wikipedia.org/wiki/$1", local=True) for code in ("de", "fr", "ru", "pt", "lv")),
    *(Interwiki(prefix, "https://en.wikipedia.org/wiki/$1", local=True) for prefix in ("w", "en")),
    *(Interwiki(prefix, "https://en.wiktionary.org/wiki/$1", local=True) for prefix in ("wikt", "wiktionary")),
    *(Interwiki(prefix, "https://commons.wikimedia.org/wiki/$1", local=True) for prefix in ("c", "commons")),
    Interwiki("s", "https://en.wikisource.org/wiki/$1", local=True),
    Interwiki("d", "https://www.wikidata.org/wiki/$1", local=True),
    Interwiki("m", "https://meta.wikimedia.org/wiki/$1", local=True),
    Interwiki("mw", "https://www.mediawiki.org/wiki/$1", local=True),
    Interwiki("doi", "https://dx.doi.org/$1"),
    Interwiki("hdl", "//hdl.handle.net/$1"),
    Interwiki("nost", "https://nostalgia.wikipedia.org/wiki/$1"),
    Interwiki("phab", "https://phabricator.wikimedia.org/$1"),
    Interwiki("bugzilla", "https://bugzilla.wikimedia.org/show_bug.cgi?id=$1"),
    Interwiki("google", "https://www.google.com/search?q=$1"),
    Interwiki("openstreetmap", "http://WIKI.OpenStreetMap.org/wiki/$1"),
    Interwiki("sofar", "//sofar.3sat.de/wiki/$1?x=y"),
    Interwiki("idn", "https://wörter.net/wiki/$1"),
)
_CASES = toml_next_to(__file__)
ARTICLES: dict[str, str] = _CASES["articles"]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def dot() -> bytes:
    """A PNG of 20 × 20 grey pixels."""
    size = struct.pack(">IIBBBBB", 20, 20, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * 20) * 20)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", size) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")

"""Compares copies of one page that all seem good: a front page or a beginning gives way to the page itself (A-1).

Only what copies show is compared. One that looks like a site's front page, or has few words, is kept until another
content was tried; of the same title the longer text wins.
"""

import re
from typing import Final, NamedTuple

from weboid.core.archive.captures import Capture, ServiceReply
from weboid.core.archive.rows.fitness import GOOD, Wish
from weboid.core.archive.verification import stored_response
from weboid.core.document.card import plain
from weboid.core.document.document import Document
from weboid.core.document.folding import folded, phrases, segments
from weboid.core.signs.soft404 import is_in_path
from weboid.core.url.spellings import archived, is_front
from weboid.core.url.urls import Url

_FEW_WORDS: Final = 100
"""A copy with fewer may be the beginning of a text that others have whole."""
_MUCH_MORE: Final = 1.5
"""Times as many words has a copy that is preferred to another of the same title."""
_NAME_WORDS: Final = 3
"""A beginning of a title that is the heading, too, and has no more words may be the name of a site or of its part."""
_HOME: Final = frozenset(
    phrases(
        "home|homepage|home page|front page|startseite|accueil|page d accueil|inicio|página principal|início|"
        "página inicial|главная|главная страница|головна|strona główna|hem|forside|etusivu|"
        "úvodní stránka|kezdőlap|ana sayfa|αρχική|トップページ|ホーム|首页|首頁|홈|الرئيسية|דף הבית|trang chủ|beranda"
    )
)


class Gist(NamedTuple):
    """The part of a copy that is compared: its folded title, and its number of words.

    `looks_front`: it looks like a front page, though the URL is another one's.
    """

    title: str
    words: int
    looks_front: bool

    @property
    def is_settled(self) -> bool:
        """True if no other copy needs to be tried."""
        return not self.looks_front and self.words >= _FEW_WORDS


def gist_of(capture: Capture, reply: ServiceReply, wish: Wish) -> Gist | None:
    """The gist of a copy that ``verification`` found good; None of what is no page."""
    asked = archived(capture.original) or wish.url
    document = stored_response(reply, str(asked), GOOD).document
    if not document.is_page:
        return None
    return Gist(folded(document.title), len(document.words), _looks_front(document, asked))


def preview_of(reply: ServiceReply, url: str) -> str:
    """The title and the first heading of what a copy shows, 200 bytes at most, with a line break between them.

    Without what the title says already; empty of what is no page.
    """
    document = stored_response(reply, url, GOOD).document
    title, heading = plain(document.title, 120), plain(next(iter(document.headings), ""), 79)
    return title if f" {folded(heading)} " in f" {folded(title)} " else f"{title}\n{heading}".strip()


def is_better(other: Gist, kept: Gist) -> bool:
    """True if one copy shows more of the cited page than that which was kept so far, and is nearer to the citation."""
    if other.looks_front or kept.looks_front:
        # A title that begins with the other's is that of the same page.
        return kept.looks_front and not other.looks_front and not f"{other.title} ".startswith(f"{kept.title} ")
    return other.title == kept.title and other.words >= _MUCH_MORE * kept.words


def _looks_front(document: Document, asked: Url) -> bool:
    """True if a document seems to be the site's front page, under the URL of another page."""
    if is_front(asked) or document.is_article or is_in_path(str(asked), document.title):
        return False
    canonical = archived(document.canonical) if document.canonical else None
    if canonical is not None and canonical.host == asked.host and is_front(canonical):
        return True
    parts = {folded(part) for part in segments(document.title)} - {""}
    if not parts.isdisjoint(_HOME):
        return True
    name = next((folded(part) for part in segments(document.title)[1:] if folded(part)), "")
    if name and name.replace(" ", "") in re.sub(r"[.-]", "", asked.host):
        return True
    return bool(name) and len(name.split()) <= _NAME_WORDS and name in map(folded, document.headings[:1])

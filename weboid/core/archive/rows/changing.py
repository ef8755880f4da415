"""Pages that always change, of which no copy shows what was cited: front pages, live scores, the weather (A-1)."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from weboid.core.document.folding import words_of
from weboid.core.url.spellings import is_front
from weboid.core.url.urls import Url

FEWEST_ROWS: Final = 20
"""Captures of one year of which is judged; fewer prove nothing."""
CHANGING_SHARE: Final = 0.6
"""More different contents than this share of the captures, and the page is always changing."""
_YEAR: Final = timedelta(days=365)
_LIST_FIELDS: Final = words_of(
    "q query search s suche suchwort keyword keywords term words page seite pg start offset from limit sort sortby "
    "order orderby dir list cat cats category categories kategorie rubrik section tag tags topic filter view mode date "
    "day tag month monat year jahr to city ort station location region land country zip plz league liga team saison "
    "season lang language locale hl l sprache feed type format results num count find"
)
_DOCUMENT_FIELDS: Final = words_of(
    "id article articleid article_id artikel artikelid aid nid pid p post story storyid sid item itemid doc docid "
    "document file datei f download title titel name isbn issn doi oldid curid diff revision t tid thread threadid "
    "showtopic v video record key num_id uid objectid oid contentid content_id newsid news_id press pressid key_id url"
)


def is_changing(contents: set[tuple[datetime, str]], url: Url) -> bool:
    """True if the captures of a URL, by moment and digest, show that it is always changing, whatever day is asked for.

    That is so if in some year nearly each has another content, and its address names a place, not a document (D-127).
    """
    if not _names_a_place(url):
        return False
    rows = sorted(contents)
    counts: Counter[str] = Counter()
    start = 0
    for end, (taken, digest) in enumerate(rows):
        counts[digest] += 1
        while taken - rows[start][0] > _YEAR:
            left = rows[start][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            start += 1
        size = end - start + 1
        if size >= FEWEST_ROWS and len(counts) > CHANGING_SHARE * size:
            return True
    return False


def _names_a_place(url: Url) -> bool:
    """True if a URL is that of a site's front page or of a list that a query makes, so what is there may change."""
    query = url.path.partition("?")[2]
    if not query:
        return is_front(url)
    fields = {field.partition("=")[0].lower() for field in query.split("&")}
    return bool(fields & _LIST_FIELDS) and not fields & _DOCUMENT_FIELDS

"""Pages that always change, of which no copy shows what was cited: front pages, live scores, the weather (A-1)."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from weboid.core.archive.captures import Capture
from weboid.core.document.folding import words_of
from weboid.core.url.spellings import is_front
from weboid.core.url.urls import Url

FEWEST_ROWS: Final = 20
"""Captures of one year of which is judged; fewer prove nothing."""
CHANGING_SHARE: Final = 0.6
"""More different contents than this share of the captures, and the page is always changing."""
_YEAR: Final = timedelta(days=365)
_SHORTLY: Final = timedelta(days=31)
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


def is_changing(captures: Iterable[Capture], url: Url, *, best: datetime, wanted: datetime) -> bool:
    """Whether the captures of a URL show that it was always changing when the best of them was taken: in one year, with
    `best` in it, nearly each has another content, and its address names a place, not a document.

    What stood there shortly before and after `wanted` is what was cited, however much the page changes otherwise
    (D-127).
    """
    if not names_a_place(url):
        return False
    rows = sorted({(row.taken, row.digest) for row in captures if row.digest})
    around = [(taken, digest) for taken, digest in rows if abs(taken - best) <= _YEAR]
    return _changes_in_a_year(around, best) and not _stood(rows, wanted)


def _changes_in_a_year(rows: list[tuple[datetime, str]], best: datetime) -> bool:
    """Whether there is a year around a moment whose captures, in order, are enough and nearly all different."""
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
        if size >= FEWEST_ROWS and rows[start][0] <= best <= taken and len(counts) > CHANGING_SHARE * size:
            return True
    return False


def _stood(rows: list[tuple[datetime, str]], wanted: datetime) -> bool:
    """Whether the captures next to a moment, before and after it, have the same content, and are near each other."""
    before = [row for row in rows if row[0] <= wanted]
    after = [row for row in rows if row[0] > wanted]
    if not before or not after:
        return False
    (first, content), (last, same) = before[-1], after[0]
    return content == same and last - first <= _SHORTLY


def names_a_place(url: Url) -> bool:
    """Whether a URL is that of a site's front page or of a list that a query makes, so what is there may change."""
    query = url.path.partition("?")[2]
    if not query:
        return is_front(url)
    fields = {field.partition("=")[0].lower() for field in query.split("&")}
    return bool(fields & _LIST_FIELDS) and not fields & _DOCUMENT_FIELDS

"""Revisions and edits in answers of the Action API: what is not as MediaWiki gives it is left out."""

from typing import Any, Final

import pytest

from weboid.wiki.api_pages import edits_of, texts_of
from weboid.wiki.source import ListedEdit, RevisionText

_MAIN: Final = {"main": {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": "a ä\n"}}
_FIRST: Final = {"revid": 2, "parentid": 0, "slots": _MAIN}


def test_texts_are_those_of_wikitext_that_is_not_hidden() -> None:
    hidden = {"revid": 3, "parentid": 2, "slots": {"main": {"contentmodel": "wikitext", "texthidden": True}}}
    script = {"revid": 4, "parentid": 3, "slots": {"main": {**_MAIN["main"], "contentmodel": "javascript"}}}
    assert texts_of([{"pageid": 1, "ns": 0, "title": "A", "revisions": [_FIRST, hidden, script]}]) == {
        2: RevisionText(1, 2, 0, "a ä\n"),
        3: RevisionText(1, 3, 2, None),
        4: RevisionText(1, 4, 3, None),
    }


def test_edits_are_those_of_the_page_in_the_wikis_order_without_what_is_hidden() -> None:
    shown = {"revid": 5, "parentid": 2, "comment": "c\x00\ud800", "user": "U", "timestamp": "2026-11-29T01:55:30Z"}
    hidden = {"revid": 6, "parentid": 5, "commenthidden": True, "userhidden": True, "timestamp": 7}
    pages = [{"pageid": 2, "revisions": [shown]}, {"pageid": 1, "revisions": [shown, hidden]}]
    assert edits_of(1, pages) == [
        ListedEdit(5, 2, "c\ufffd\ufffd", "U", "2026-11-29T01:55:30Z"),
        ListedEdit(6, 5, "", "", ""),
    ]


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [None, "x", {"pageid": 1}, {"pageid": "1", "revisions": [_FIRST]}, {"pageid": 1, "revisions": {}}],
        [{"pageid": 1, "missing": True}],
        [{"pageid": 1, "revisions": [None, {}, {"revid": "2", "parentid": 0}, {"revid": -1, "parentid": 0}]}],
        [{"pageid": 1 << 40, "revisions": [_FIRST]}],
    ],
)
def test_what_is_no_revision_is_left_out(listed: list[Any]) -> None:
    assert (texts_of(listed), edits_of(1, listed)) == ({}, [])

import re
from pathlib import Path

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.hosts import InvalidReason
from weboid.core.url.urls import FORM_VERSION

_DOC = Path(__file__).parents[3] / "docs" / "normal-form.md"
_ROW = re.compile(r"^\| `(?P<given>[^`]+)` \| (?:`(?P<normal>[^`]+)`|\*(?P<word>[a-z0-9-]+)\*) \|$", re.MULTILINE)


def test_every_example_of_the_page_holds() -> None:
    text = _DOC.read_text(encoding="utf-8")
    rows = list(_ROW.finditer(text))
    assert len(rows) == text.count("\n| `") > 50, "a table row that this test cannot read"
    for row in rows:
        found = classify(row["given"], None)
        word = "ignored" if found.kind is UrlClass.IGNORED else found.reason
        assert (str(found.url) if found.url else None, word) == (row["normal"], row["word"]), row["given"]


def test_the_page_names_every_reason_and_the_version() -> None:
    text = _DOC.read_text(encoding="utf-8")
    for reason in set(InvalidReason) - {InvalidReason.PROTOCOL}:
        assert f"*{reason}*" in text, reason
    assert f"version {FORM_VERSION}." in text

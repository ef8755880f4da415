import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.wiki.source import clean_text, default_model


@pytest.mark.parametrize(
    ("namespace", "title", "model"),
    [
        (0, "Node.js", "wikitext"),
        (2, "Ann", "wikitext"),
        (2, "Ann.js", "wikitext"),
        (2, "Ann/common.js", "javascript"),
        (2, "Ann/vector.css", "css"),
        (3, "Ann/common.js", "wikitext"),
        (8, "Common.css", "css"),
        (8, "Sidebar", "wikitext"),
        (8, "Gadget.json", "json"),
        (10, "Cite_web", "wikitext"),
        (828, "Citation", "Scribunto"),
        (828, "Citation/doc", "wikitext"),
    ],
)
def test_a_page_without_a_model_has_that_of_its_name(namespace: int, title: str, model: str) -> None:
    assert default_model(namespace, title) == model


@given(st.text(st.characters()))
def test_clean_text_can_be_encoded_stored_and_written_on_a_line(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert not set(clean) & {"\0", "\n", "\r", "\t"}
    assert len(clean) == len(text)
    assert clean_text(clean) == clean


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_text_that_mediawiki_can_store_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.wiki.source import clean_text, default_model

_CASES = toml_next_to(__file__)


@pytest.mark.parametrize(("namespace", "title", "model"), _CASES["models"])
def test_a_page_without_a_model_has_that_of_its_name(namespace: int, title: str, model: str) -> None:
    assert default_model(namespace, title) == model


@given(st.text(st.characters()))
def test_clean_text_can_be_encoded_stored_and_written_on_a_line(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert not set(clean) & {"\0", "\n", "\r", "\t"}
    assert len(clean) == len(text)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_text_that_mediawiki_can_store_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text

"""Phrases and texts are folded alike."""

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.document.folding import first_of, folded, phrases


def test_only_the_letters_stay() -> None:
    for text, form in [
        ("Página NO encontrada!", "pagina no encontrada"), ("can’t", "can t"), ("SAYFA BULUNAMADI", "sayfa bulunamadi"),
        ("Sayfa bulunamadı", "sayfa bulunamadi"), ("Straße", "strasse"), ("404 - Page_not_found", "404 page not found"),
        ("页面不存在。", "页面不存在"), ("", ""),
    ]:  # fmt: skip
        assert folded(text) == form


@given(st.text(max_size=200))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_the_longest_phrase_is_found_first() -> None:
    assert first_of(phrases("for sale|is for sale|"), "example com is for sale") == "is for sale"


def test_phrases_end_where_words_end_unless_a_script_has_no_spaces() -> None:
    assert first_of(phrases("not found"), "cannot founder") is None
    assert first_of(phrases("页面不存在"), "抱歉页面不存在了") == "页面不存在"

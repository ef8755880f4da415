from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.document.fingerprint import words
from weboid.core.document.folding import first_of, folded, phrases
from weboid.core.document.language import UNKNOWN, language_of, number_of

_CASES = toml_next_to(__file__)
TEXTS: dict[str, str] = _CASES["texts"]


def test_a_text_is_known_by_its_words_or_its_script() -> None:
    for code in TEXTS:
        assert language_of(words(TEXTS[code])) == number_of(code) != UNKNOWN


def test_what_says_too_little_or_is_in_two_languages_is_in_none() -> None:
    for text in ["", "Home About Contact News Press Login " * 9, "kak lom pun tok " * 40, TEXTS["en"][:20]]:
        assert language_of(words(text)) == UNKNOWN
    assert language_of(words(TEXTS["en"] + 2 * TEXTS["de"])) == UNKNOWN


def test_a_script_outweighs_names_and_menus_in_latin_letters() -> None:
    assert language_of(words(TEXTS["ru"] + " Menu Home Login Facebook")) == number_of("ru")


def test_relatives_and_variants_are_one_language() -> None:
    assert number_of("de-AT") == number_of("DE_ch") == number_of("de")
    assert number_of("nb") == number_of("da")
    assert number_of("uk") == number_of("ru")
    assert number_of("x-klingon") == UNKNOWN


def test_the_stored_numbers_stay_as_they_are() -> None:
    codes = (
        "ru el he ar hi th ka hy am ko ja zh en de fr es pt it nl sv da fi pl cs hu ro tr id vi hr lt ca eu cy tl sw"
    )
    assert [number_of(code) for code in codes.split()] == list(range(1, 37))


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

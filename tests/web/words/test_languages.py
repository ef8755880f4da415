"""Languages: all of MediaWiki's, their fallbacks and directions; which one a request gets; numbers and days in them."""

import re
from datetime import UTC, datetime

import pytest
from babel import Locale, localedata

from weboid.web.words import messages
from weboid.web.words.language import accepted_language, languages, offered_languages, requested_language
from weboid.web.words.messages import Messages, messages_in

_ALL = list(languages().values())
_TAG = re.compile(
    r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-x(-[a-z0-9]{1,8})+)?"
)
_MEDIAWIKIS = (
    "als bat-smg be-x-old be-tarask cbk-zam crh-latn de-formal eml fiu-vro gsw kk-arab map-bms nb nds-nl no nrm pt-br "
    "roa-rup roa-tara simple sr-ec sr-el uz-cyrl zh zh-classical zh-cn zh-hans zh-hant zh-hk zh-min-nan zh-tw zh-yue"
)


def say(code: str) -> Messages:
    return messages_in(languages()[code])


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    given: dict[str, dict[str, str]] = {}
    monkeypatch.setattr(messages, "catalogue", lambda code: given.get(code, {}))
    monkeypatch.setattr(messages, "_own_pattern", messages._own_pattern.__wrapped__)
    return given


def worded(code: str, *parameters: str | int) -> str:
    return Messages(languages()[code]).text("key", *parameters)


def test_mediawikis_languages_are_there() -> None:
    assert set(_MEDIAWIKIS.split()) <= languages().keys()
    assert len(languages()) > 800


def test_every_row_can_be_used() -> None:
    for language in _ALL:
        assert _TAG.fullmatch(language.bcp47), language.code
        assert language.direction in ("ltr", "rtl"), language.code
        assert language.autonym.strip(), language.code
        assert localedata.normalize_locale(language.locale) == language.locale, language.code
        assert Locale.parse(language.locale), language.code
        assert language.relative is None or Locale.parse(language.relative), language.code
        assert languages().keys() >= set(language.fallbacks)
        assert language.code not in language.fallbacks


def test_numbers_and_days_can_be_worded_in_every_language() -> None:
    for language in {(language.locale, language.relative): language for language in _ALL}.values():
        say = Messages(language)
        for text in (say.distance(-21), say.date(3600), say.dates(3500, 3600), say.text("weboid-page-counts", 5)):
            assert text.strip(), language.code
            assert not re.search(r"-\d+ w$|M11|[{}]", text), (language.code, text)


def test_mediawikis_odd_codes_mean_what_they_mean_there() -> None:
    for code, bcp47, direction, locale in [
        ("als", "gsw", "ltr", "gsw"), ("ar", "ar", "rtl", "ar"), ("arz", "arz", "rtl", "ar"),
        ("azb", "azb", "rtl", "fa"), ("he", "he", "rtl", "he"), ("yi", "yi", "rtl", "yi"),
        ("ks-deva", "ks-Deva", "ltr", "ks_Deva"), ("no", "nb", "ltr", "nb"), ("sr-el", "sr-Latn", "ltr", "sr_Latn"),
        ("simple", "en-simple", "ltr", "en"), ("zh-tw", "zh-Hant-TW", "ltr", "zh_Hant_TW"),
        ("zh-yue", "yue", "ltr", "yue"), ("roa-tara", "nap-x-tara", "ltr", "it"),
    ]:  # fmt: skip
        language = languages()[code]
        assert (language.bcp47, language.direction, language.locale) == (bcp47, direction, locale), code


def test_fallbacks_are_mediawikis() -> None:
    for code, chain in [
        ("gsw", ("de",)), ("als", ("gsw", "de")), ("zh-hk", ("zh-hant", "zh-hans")), ("pt-br", ("pt",)),
        ("sr", ("sr-ec", "sr-cyrl")), ("lmo", ("pms", "eml", "lij", "vec", "it")), ("en", ()),
    ]:  # fmt: skip
        assert languages()[code].fallbacks == chain, code


def test_a_message_comes_from_the_nearest_language_that_has_it(texts: dict[str, dict[str, str]]) -> None:
    texts["en"] = {"key": "english"}
    assert worded("gsw") == "english"
    texts["de"] = {"key": "deutsch"}
    assert worded("gsw") == worded("als") == "deutsch"
    texts["gsw"] = {"key": "schwyzerdütsch"}
    assert worded("gsw") == worded("als") == "schwyzerdütsch"
    assert worded("fr") == "english"


def test_chains_lead_to_the_files_that_translatewiki_writes(texts: dict[str, dict[str, str]]) -> None:
    for code, file in [("sr", "sr-ec"), ("sr-cyrl", "sr-ec"), ("zh-hk", "zh-hant"), ("pt-br", "pt"), ("no", "nb")]:
        texts.update({"en": {"key": "english"}, file: {"key": file}})
        assert worded(code) == file, code


def test_forms_are_chosen_as_the_language_has_them_that_they_are_written_in(texts: dict[str, dict[str, str]]) -> None:
    texts["en"] = {"key": "{{PLURAL:$1|one link|$1 links}}"}
    # To French nothing is singular, to Japanese one is no different from two.
    assert (worded("fr", 0), worded("ja", 1), worded("ar", 2)) == ("0 links", "one link", "2 links")
    texts["ar"] = {"key": "{{PLURAL:$1|z|o|t|f|m|x}}"}
    assert "".join(worded("ar", count) for count in (0, 1, 2, 3, 10, 11, 99, 100, 102, 103)) == "zotffmmxxf"
    texts["ar"] = {"key": "{{PLURAL:$1|0=none|1=single|z|o|t|f|m|x}}"}
    assert [worded("ar", count) for count in (0, 1, 2, 3)] == ["none", "single", "t", "f"]


def test_of_a_person_whose_gender_is_unknown_the_neutral_form_is_shown(texts: dict[str, dict[str, str]]) -> None:
    texts["en"] = {"key": "{{GENDER:$1|his|her|their}} {{GENDER:$1|er|sie}} {{GENDER:$1|same}}"}
    assert worded("en", "Ann") == "their er same"


def test_a_message_that_would_be_misread_is_passed_over(texts: dict[str, dict[str, str]]) -> None:
    texts.update({"en": {"key": "english"}, "de": {"key": "{{PLURAL:$1|a: b|c}}"}})
    assert worded("de", 1) == "english"


def test_numbers_and_days_are_as_cldr_has_them() -> None:
    for code, number, weeks, day in [
        ("en", "12,345", "3 weeks ago", "November 10, 2026"),
        ("de", "12.345", "vor 3 Wochen", "10. November 2026"),
        ("ar", "12,345", "قبل 3 أسابيع", "10 نوفمبر 2026"),
        ("he", "12,345", "לפני 3 שבועות", "10 בנובמבר 2026"),
        ("fa", "۱۲٬۳۴۵", "۳ هفته پیش", "۱۰ نوامبر ۲۰۲۶"),
        ("bn", "১২,৩৪৫", "৩ সপ্তাহ আগে", "১০ নভেম্বর, ২০২৬"),
        ("fr", "12\u202f345", "il y a 3 semaines", "10 novembre 2026"),
        ("zh-tw", "12,345", "3 週前", "2026年11月10日"),
        ("ckb", "١٢٬٣٤٥", "3 weeks ago", "١٠ی تشرینی دووەمی ٢٠٢٦"),
    ]:
        messages = say(code)
        assert re.search(f"(?<!\\w){number}(?!\\w)", messages.text("weboid-count-dead", 12_345)), code
        assert (messages.distance(-21), messages.date(3600)) == (weeks, day), code


def test_arabic_counts_as_arabic_does() -> None:
    for count, pages in [
        *((1, "صفحة أخرى"), (2, "صفحتين أخريين"), (3, "3 صفحات أخرى"), (11, "11 صفحة أخرى"), (100, "100 صفحة أخرى"))
    ]:
        assert say("ar").text("weboid-feed-more", count) == f"وفي {pages}.", count


def test_in_a_page_a_sentence_of_the_other_direction_is_kept_together(texts: dict[str, dict[str, str]]) -> None:
    texts.update({"en": {"key": "None.", "other": "None."}, "ar": {"key": "لا شيء."}})
    arabic = Messages(languages()["ar"])
    assert arabic.html("key") == "لا شيء."
    assert (arabic.html("other"), arabic.text("other")) == ("\u2066None.\u2069", "None.")
    assert Messages(languages()["fr"]).html("other") == "None."


def test_moments_and_durations_have_the_digits_of_their_language() -> None:
    for code, number, duration, moment in [
        ("en", "1,234", "2 hours", "Apr 30, 2017, 4:05:06 PM UTC"),
        ("de", "1.234", "2 Stunden", "30.04.2017, 16:05:06 UTC"),
        ("fa", "۱٬۲۳۴", "۲ ساعت", "۱۶:۰۵:۰۶"),
    ]:
        words = say(code)
        assert (words.number(1234), words.duration(7_200)) == (number, duration), code
        assert moment in words.moment(datetime(2017, 4, 30, 16, 5, 6, tzinfo=UTC)), code


def test_codes_of_browsers_and_old_ones_are_understood() -> None:
    for code, got in [
        *(("zh-TW", "zh-tw"), ("zh-Hant-TW", "zh-tw"), ("zh-Hant", "zh-hant"), ("zh-Hans-SG", "zh-sg")),
        *(("pt-BR", "pt-br"), ("nb-NO", "nb"), ("sr-Latn-RS", "sr-latn"), ("iw", "he"), ("in-ID", "id")),
        *(("ji", "yi"), ("als", "als"), ("gsw-CH", "gsw"), ("tlh", "en"), ("zz-zz", "en"), ("xx-hans", "en")),
        *(("de", "de"), ("DE-li", "de"), ("DE-at", "de-at"), ("qqx", "qqx")),
    ]:
        assert requested_language(code).code == got, code


def test_a_browser_gets_a_language_that_has_words() -> None:
    for header, code in [
        *(("gsw-CH, en;q=0.5", "gsw"), ("ar-EG", "ar"), ("tlh, de;q=0.1", "de"), ("en-US,en;q=0.9", "en")),
        *(("de-CH, en;q=0.5", "de-ch"), ("en-GB, de;q=0.9", "en-gb"), ("qqx, de;q=0.5", "de")),
        *(("", "en"), ("fr, en;q=0.3, de;q=0.7", "de"), ("de;q=0, en", "en"), (",;q=,de;q=9", "en")),
        ("*;q=1, " + "x" * 9_000, "en"),
    ]:
        assert accepted_language(header).code == code, header


def test_a_page_offers_the_languages_that_have_words_and_its_own() -> None:
    offered = [language.code for language in offered_languages(languages()["nqo"])]
    assert {"en", "de", "ar", "nqo"} <= set(offered)
    assert {"qqq", "qqx", "gsw"}.isdisjoint(offered)
    assert offered.count("nqo") == 1

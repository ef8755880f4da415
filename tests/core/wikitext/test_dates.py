from datetime import date

from weboid.core.wikitext.dates import day_in

_DAY = date(2012, 5, 7)


def test_days_and_months_are_read_as_people_write_them_in_the_language_of_the_wiki() -> None:
    for text, language in [
        ("2012-05-07", "en"), ("2012-5-7", "ja"), ("7 May 2012", "en"), ("May 7, 2012", "en"),
        ("  may 7th,  2012 ", "en"), ("7. Mai 2012", "de"), ("07.05.2012", "de"), ("7. 5. 2012", "de"),
        ("7 mai 2012", "fr"), ("07/05/2012", "fr"), ("7 de maio de 2012", "pt"), ("7 de Maio de 2012", "pt"),
        ("7-5-2012", "pt"), ("7 May 2012", "pt"), ("[[7 May]] [[2012]]", "en"), ("[[May 7|7 May]], [[2012]]", "en"),
        ("2012年5月7日", "ja"), ("2012年05月07日", "zh"), ("2012년 5월 7일", "ko"), ("7 tháng 5 năm 2012", "vi"),
        ("ngày 7 tháng 5, 2012", "vi"), ("7 мая 2012 года", "ru"), ("7 мая 2012\u202fг.", "ru"), ("7 במאי 2012", "he"),
        ("2012 m. gegužės 7 d.", "lt"), ("৭ মে, ২০১২", "bn"), ("७ मई २०१२", "hi"), ("7 de maig del 2012", "ca"),
        ("7 พฤษภาคม 2555", "th"), ("7 พ.ค. พ.ศ. 2555", "th"), ("7 พฤษภาคม ค.ศ. 2012", "th"),
    ]:  # fmt: skip
        assert day_in(text, language) == _DAY
    for text, language, month in [
        ("1er mars 2012", "fr", 3), ("1º de março de 2012", "pt", 3), ("1. März 2012", "de", 3),
        ("1. Jänner 2012", "de", 1), ("1 févr. 2012", "fr", 2), ("1 fevrier 2012", "fr", 2), ("1. Sept. 2012", "de", 9),
        ("1 set. 2012", "pt", 9), ("Sept 1, 2012", "en", 9), ("1 जनवरी 2012", "hi", 1), ("1 மார்ச், 2012", "ta", 3),
        ("1 มี.ค. 2012", "th", 3), ("2012. gada 1. janvāris", "lv", 1),
    ]:  # fmt: skip
        assert day_in(text, language) == date(2012, month, 1)
    for text in ["May 2012", "2012-05", "Mai 2012", "2012年5月"]:
        assert day_in(text, "de") == date(2012, 5, 15)


def test_what_is_no_single_day_is_not_read_unless_two_ways_of_writing_agree() -> None:
    for text in [
        "", "2012", "yesterday", "05/06/2012", "5-6-2012", "31 February 2012", "2012-13-01", "7 May 1912", "7 May 12",
        "5 or 7 May 2012", "7 May–9 June 2012", "{{date|2012-05-07}}", "7 May 2012 <!--", "7 May 2012 at the town hall",
        "[[7 May]", "7 Mai 2012" * 100, "99999999999999999999 May 7", "7 May 2012 (¹)", "\ud800 May 2012",
    ]:  # fmt: skip
        assert day_in(text, "en") is None
    assert day_in("13/05/2012", "en") == date(2012, 5, 13)
    assert day_in("05/05/2012", "en") == date(2012, 5, 5)

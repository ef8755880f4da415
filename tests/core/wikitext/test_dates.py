from datetime import date

from weboid.assets import toml_next_to
from weboid.core.wikitext.dates import day_in

_CASES = toml_next_to(__file__)


def test_days_and_months_are_read_as_people_write_them_in_the_language_of_the_wiki() -> None:
    for text, language in _CASES["days"]:
        assert day_in(text, language) == date(2012, 5, 7), text
    for text, language, month in _CASES["firsts"]:
        assert day_in(text, language) == date(2012, month, 1), text
    for text in ["May 2012", "2012-05", "Mai 2012", "2012年5月"]:
        assert day_in(text, "de") == date(2012, 5, 15)


def test_what_is_no_single_day_is_not_read_unless_two_ways_of_writing_agree() -> None:
    for text in [*_CASES["none"], "7 Mai 2012" * 100, "\ud800 May 2012"]:
        assert day_in(text, "en") is None, text
    assert day_in("13/05/2012", "en") == date(2012, 5, 13)
    assert day_in("05/05/2012", "en") == date(2012, 5, 5)

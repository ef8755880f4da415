import pytest
from support.pages import page, prose

from weboid.assets import toml_next_to
from weboid.core.document.document import document_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.trades import trade_in, trade_suspicion

_CASES = toml_next_to(__file__)

ASKED = "http://www.oldmill.test/history/1890.html"
SPAM = _CASES["spam"]


def test_a_trade_is_named() -> None:
    for title in _CASES["titles"]:
        assert trade_in(title)


def test_other_titles_name_none() -> None:
    for title in [
        "", "The history of the mill", "Toto 1982", "Alphabet 1234", "Tibet 1950",
        "Better loans of books between libraries", "Toto, the band: albums", "Essay on the nature of writing",
        "Apache Pig 4.0", "Die Wetten des Herrn Fogg",
    ]:  # fmt: skip
        assert trade_in(title) is None


def suspicion(title: str, text: str, asked: str = ASKED, head: str = "") -> Reason | None:
    content = page(title, body=f"<h1>{title}</h1><p>{text}</p>", head=head)
    found = trade_suspicion(asked, document_of(content, "text/html", asked))
    return found.reason if found else None


@pytest.mark.parametrize("title", SPAM)
def test_a_trades_page_where_the_url_does_not_say_so_is_a_strangers_at_first_sight(title: str) -> None:
    assert suspicion(title, f"{SPAM[title]} {prose(80)}") is Reason.REPLACED


@pytest.mark.parametrize(
    ("title", "text", "asked"),
    [
        ("Best online casino", SPAM["Best online casino"], "http://www.casino-news.test/1"),
        ("Best online casino", SPAM["Best online casino"], "http://news.test/2014/online-gambling-laws"),
        ("Situs slot gacor", SPAM["Situs slot gacor hari ini"], "http://slotmaster.test/"),
        ("Casino burns down", "The casino burned. Nobody had placed a bet.", ASKED),
        ("Minister wants to ban the online casino", f"No deposit bonus, he said. {prose(200)}", ASKED),
        ("Harbour Resort & Casino", f"Slots, poker, sportsbook and a casino. {prose(100)}", ASKED),
        ("The history of the mill", SPAM["Best online casino"], ASKED),
    ],
)
def test_what_its_url_names_or_what_is_about_such_a_trade_is_not(title: str, text: str, asked: str) -> None:
    assert suspicion(title, text, asked) is None


def test_an_article_about_such_a_trade_is_not() -> None:
    head = '<meta property="article:published_time" content="2026">'
    assert suspicion("Best online casino", SPAM["Best online casino"], head=head) is None

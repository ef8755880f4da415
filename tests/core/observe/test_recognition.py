"""Portraits of documents, and the bonds of a document to the one that was there before."""

from dataclasses import replace

from support.pages import page, prose

from weboid.core.document.document import document_of
from weboid.core.document.portrait import BLANK, Newcomer, Portrait, is_replaced
from weboid.core.observe.recognition import adds_to, is_known, portrait_in

ASKED = "http://www.old-mill.demo/history.html"
EARLIER = Portrait((1, 2), 0, 2**64 - 1, 15)


def portrait(title: str, words: int = 300, *, text: str = "", head: str = "", final: str = ASKED) -> Portrait:
    body = f"<p>{prose(words)} {text}</p>"
    return portrait_in(document_of(page(title, body=body, head=head), "text/html", final), ASKED, EARLIER)


def test_a_document_with_much_text_is_its_own() -> None:
    assert portrait("Another one").is_own
    assert not portrait("Another one", 140).is_own
    assert portrait("Another one", 20) == BLANK


def test_a_short_page_has_a_portrait_if_its_title_is_of_a_trade() -> None:
    seen = portrait("Situs slot gacor", 12)
    assert seen.in_trade
    assert is_replaced(EARLIER, seen)
    assert portrait("The old mill at work", 12) == BLANK


def test_what_names_the_domain_or_the_earlier_language_is_not() -> None:
    assert not portrait("Welcome to Old Mill").is_own
    assert not portrait("Another one", text="© OldMill Ltd").is_own
    assert not portrait("Another one", final="http://www.another.demo/").is_own
    assert not portrait("Another one", head="<link rel=alternate hreflang=fr-FR href=/fr>").is_own


def test_a_name_is_known_in_either_spelling_of_umlauts_and_a_trade_by_the_title() -> None:
    asked = "http://muehlenhof.demo/"
    for body in ("Der Mühlenhof", "Der Muehlenhof", "Muhlen-Hof"):
        document = document_of(page("Neu", body=f"<p>{prose(300)} {body}</p>"), "text/html", asked)
        assert not portrait_in(document, asked, EARLIER).is_own
    assert portrait("Lucky casino", 60).in_trade
    assert not portrait("Another one", text="Lucky casino").in_trade


def test_a_portrait_that_says_nothing_new_or_is_known_by_its_title_is_not_wanted() -> None:
    other = replace(EARLIER, title=(7, 8), fingerprint=0)
    assert adds_to(None, BLANK, portrays=True)
    assert not adds_to(None, EARLIER, portrays=False)
    assert not adds_to(EARLIER, EARLIER, portrays=False)
    assert not adds_to(EARLIER, BLANK, portrays=True)
    assert adds_to(BLANK, EARLIER, portrays=True)
    assert adds_to(EARLIER, EARLIER, portrays=True)
    assert adds_to(EARLIER, other, portrays=False)
    assert adds_to(replace(EARLIER, newcomer=Newcomer(other, 5)), EARLIER, portrays=False)
    assert adds_to(replace(EARLIER, language=0), EARLIER, portrays=False)
    for title, words in (("The old mill", 300), ("The old mill, and more of it", 300), ("The old mill", 20)):
        document = document_of(page(title, body=f"<p>{prose(words)}</p>"), "text/html", ASKED)
        earlier = document_of(page("An old mill", body=f"<p>{'of the mill and that is to be in ' * 30}</p>"))
        now = portrait_in(earlier, ASKED)
        assert is_known(document, now)
        assert not adds_to(now, portrait_in(document, ASKED, now), portrays=False)
        for another in (None, BLANK, replace(now, newcomer=Newcomer(now, 5)), EARLIER):
            assert not is_known(document, another)
        unknown = replace(now, language=0)
        assert is_known(document, unknown)
        assert not adds_to(unknown, portrait_in(document, ASKED, unknown), portrays=False)
        assert not is_known(earlier, unknown)

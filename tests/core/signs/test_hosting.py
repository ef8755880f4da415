"""Default pages of servers and panels, and suspended sites; the pages are composed of titles and sayings (C-11)."""

from support.pages import filled, page, prose

from weboid.assets import toml_next_to
from weboid.core.document.document import document_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.hosting import hosting_suspicion, hosting_words, suspensions
from weboid.core.signs.suspicion import Suspicion

CASES = toml_next_to(__file__)
ASKED = "http://www.oldpress.test/history/1890.html"


def judged(title: str, body: str = "", *, asked: str = ASKED, head: str = "") -> Suspicion | None:
    content = page(title, body=filled(body), head=head)
    return hosting_suspicion(asked, document_of(content, "text/html", asked), content)


SHOWN = CASES["shown"]
SUSPENDED = [(language, text) for language, texts in CASES["suspended"].items() for text in texts]


def test_every_products_own_page_is_no_site() -> None:
    assert {name for name, *_ in SHOWN} == {page.name for page in hosting_words().default}
    for name, title, body in SHOWN:
        seen = judged(title, body)
        assert seen is not None, name
        assert (seen.reason, seen.signals[0]) == (Reason.PLACEHOLDER, f"default:{name}")


def test_every_language_says_that_a_site_is_suspended() -> None:
    assert {language for language, _ in SUSPENDED} >= suspensions().keys()
    for language, text in SUSPENDED:
        for title, body in (
            (text, ""),
            ("oldpress.test", f"<h1>{text}!</h1><p>{prose(20)}</p>"),
            (f"{text} | Host", ""),
        ):
            seen = judged(title, body)
            assert (seen and seen.reason) is Reason.SUSPENDED, language


def test_a_suspended_account_is_known_by_its_only_sentence_or_by_its_markup() -> None:
    for title, body in CASES["marked"]:
        seen = judged(title, body)
        assert (seen and seen.reason) is Reason.SUSPENDED, body


def test_a_short_page_that_says_it_is_a_site_under_repair() -> None:
    for title, body in CASES["maintenance"]:
        seen = judged(title, body)
        assert (seen and seen.reason) is Reason.MAINTENANCE, title
        assert judged(title, f"{body}<p>{prose(60)}</p>") is None, title


def test_a_cited_page_that_says_nothing_but_that_it_is_being_built_is_a_placeholder() -> None:
    for title in ("Sitio en Construcción", "工事中", "Press - Under construction"):
        seen = judged(title, "<img src='/men-at-work.jpg'>")
        assert (seen and seen.reason) is Reason.PLACEHOLDER, title
        assert judged(title, f"<p>{prose(20)}</p>") is None
        assert judged(title, asked="http://tiny.test/") is None


def test_what_lives_and_an_article_are_no_default() -> None:
    for title, body, *asked in CASES["living"]:
        assert judged(title, body, asked="".join(asked) or ASKED) is None
    head = '<meta property="article:published_time" content="2026">'
    assert judged("Account suspended", head=head) is None

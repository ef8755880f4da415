"""Soft 404s: documents sent with a success code that report that nothing was found (C-11)."""

import re

from support.pages import page, prose

from weboid.assets import toml_next_to
from weboid.core.document.document import document_of
from weboid.core.signs.missing_words import spaceless, vocabularies
from weboid.core.signs.soft404 import Saying, document_suspicion, redirect_suspicion, saying, says_missing

CASES = toml_next_to(__file__)
ASKED = "http://site.test/deep/story-17.html"

PLAIN = [(language, text) for language, texts in CASES["plain"].items() for text in texts]


def found(title: str, *, h1: str = "", words: int = 0, asked: str = ASKED, head: str = "") -> tuple[str, ...]:
    """The signals of a page with a title, a heading and so many words of text."""
    heading = f"<h1>{h1}</h1>" if h1 else ""
    return signals(title, f"{heading}<p>{prose(words)}</p>", asked=asked, head=head)


def signals(title: str, body: str, *, asked: str = ASKED, head: str = "") -> tuple[str, ...]:
    seen = document_suspicion(asked, document_of(page(title, body=body, head=head)))
    return seen.signals if seen else ()


def test_every_language_says_it_plainly() -> None:
    assert {language for language, _ in PLAIN} == vocabularies().keys() | spaceless().keys()
    for language, text in PLAIN:
        assert saying(text) is Saying.PLAIN, language
        assert found(f"{text} – Site") == ("title",), language
        assert found("Site", h1=text, words=100) == ("heading",), language


def test_a_text_that_says_something_else_is_no_error() -> None:
    for text in CASES["living"]:
        assert saying(text) is Saying.NOTHING
        assert found(text, h1=text, words=30) == ()


def test_a_bare_number_or_word_could_be_a_name() -> None:
    for text in ["404", "Error 404", "Error404", "HTTP 404", "Not found", "Nicht gefunden"]:
        assert saying(text) is Saying.BARE
        assert found(text, words=30) == ()
        assert found(text, h1="Bus timetable", words=30) == ()


def test_a_bare_title_counts_if_the_page_says_it_too() -> None:
    assert signals("404", "<h1>404</h1><p>The page was not found on this server.</p>") == ("title", "heading", "text")


def test_a_title_is_read_part_by_part() -> None:
    for title in ("Page not found", "Site - Page not found", "Site: Page not found", "404 » Page not found « Site"):
        assert found(title, words=100)


def test_a_site_that_is_called_so_lives_unless_a_number_stands_before_it() -> None:
    assert found("How I met my cat | Page Not Found", h1="How I met my cat", words=300) == ()
    assert found("Error 404: Page not found » Old Press", words=300) == ("title",)
    assert found("Error 404: Page not found", words=300) == ("title",)


def test_a_page_of_one_sentence_is_what_it_says_and_a_long_one_needs_a_title_and_a_heading() -> None:
    assert found("Page not found", words=900) == ()
    assert found("Page not found", h1="Page not found", words=900) == ("title",)
    assert found("Site", h1="Page not found", words=600) == ()
    assert signals("", "<p>File not found.</p>") == ("text",)


def test_the_only_text_outside_of_links_is_read_like_a_heading() -> None:
    frame = "<a href=/>Home</a> <a href=/news>News</a>"
    for title, body in CASES["only-texts"]:
        text = body if "error" in body or "mysql" in body else f"{frame}{body}"
        assert signals(title, text), body
    for body in ["404", "Not found: a novel in letters", "Uncaught: songs", "<h1>Poems</h1>Not found", "Fatal error"]:
        assert signals("Site", body) == (), body
    for path, title, body in CASES["named"]:
        assert signals(title, body, asked=f"http://site.test{path}") == (), path


def test_a_work_may_be_called_so() -> None:
    story = "<p>The novel is about a librarian in an old town. The manuscript that she looks for was sold by monks.</p>"
    for title, body in [
        ("Page not found (novel)", ""), ("Không tìm thấy trang: bài hát", ""), ("Sidan hittades inte (låt)", ""),
        ("पृष्ठ नहीं मिला – उपन्यास", ""), ("ページが見つかりません (曲)", ""), ("Page not found: an essay", ""),
        ("Nie znaleziono – powieść", "<p>2009, 210 stron.</p>"),
        ("404 Not Found - song and lyrics by Ann Mill | Spotify", ""), ("Error 404 - Album by Ann Mill | Spotify", ""),
        ("Page Not Found by Ann Mill | Goodreads", ""), ("File Not Found (Short 2019) - IMDb", ""), ("404 (2014)", ""),
        ("Δεν βρέθηκε: ποίημα", ""), ("404 Sayfa Bulunamadı - Kitap 2012", ""), ("Page not found - Old Press", story),
    ]:  # fmt: skip
        heading = re.split(r" [-–(]|: | by ", title)[0]
        assert signals(title, f"<h1>{heading}</h1>{body}") == (), title
    for title in ("Page not found | Powered by Mill", "Not found - Theme by Ann Mill", "404 Not Found (nginx 1.2)"):
        assert signals(title, "<h1>Page not found</h1>"), title
    lost = "<p>Either it was moved to another place. Or the page was not found on this server at all today.</p>"
    assert signals("Page not found", f"<h1>Page not found</h1>{lost}")


def test_an_article_that_says_when_it_was_published_or_has_its_title_in_its_address_lives() -> None:
    head = '<meta property="article:published_time" content="2026-01-01">'
    assert found("Page not found", h1="Page not found", words=100, head=head) == ()
    asked = "http://site.test/wiki/P%C3%A1gina_inexistente"
    assert not says_missing(asked)
    assert found("Página inexistente", words=50, asked=asked) == ()


def test_a_page_whose_own_address_speaks_of_errors_lives() -> None:
    for asked in [
        "http://site.test/notfound", "http://site.test/en/page-not-found/", "http://site.test/wiki/HTTP_404",
        "http://site.test/404.html", "http://site.test/demo?page=NotFound", "http://site.test/wiki/Page_not_found",
        "http://site.test/hilfe/seite-nicht-gefunden", "http://site.test/errors/1",
    ]:  # fmt: skip
        assert says_missing(asked)
        assert found("404 - Page not found", h1="Page not found", words=20, asked=asked) == ()
        assert redirect_suspicion(asked, "http://site.test/404") is None
    assert not says_missing("http://site.test/2404/14041.html")
    assert not says_missing("http://site.test/a/foundation")


def test_a_redirect_to_an_error_page_is_one() -> None:
    for final in [
        "http://site.test/404", "http://site.test/404.html", "https://www.site.test/en/page-not-found/",
        "http://site.test/errors/404/", "http://site.test/Pages/PageNotFoundError.aspx?requestUrl=http://site.test/a",
        "http://site.test/Error.aspx?aspxerrorpath=/deep/story-17.html", "http://site.test/error.php",
        "http://site.test/pagina-no-encontrada", "http://site.test/fehler404.html", "http://site.test/?error=404",
        "http://site.test/404-seite-nicht-gefunden", "http://site.test/index.php?a=1&status_code=404",
        "https://s.yimg.com/pw/images/en-us/photo_unavailable_l.png",  # noflo/noflo-image#151
    ]:  # fmt: skip
        seen = redirect_suspicion(ASKED, final)
        assert seen is not None, final
        assert seen.signals[0].startswith("redirect:"), final


def test_another_redirect_is_none() -> None:
    for final in [
        "http://site.test/new/story-17.html", "http://site.test/", "http://site.test/404-media/story",
        "http://site.test/a/1404", "http://site.test/terror.html", "http://site.test/trial-and-error",
        "http://site.test/4040", "http://site.test/a/410", "http://site.test/?code=404", "http://site.test/?error=4041",
    ]:  # fmt: skip
        assert redirect_suspicion(ASKED, final) is None


def test_a_title_that_is_a_number_counts_where_a_heading_says_it_in_words() -> None:
    assert found("404 | Old Press", h1="Page not found", words=400) == ("title",)
    assert found("404 | Old Press", h1="404 error", words=150) == ("title",)
    assert found("Old Press - Not found", h1="Not found", words=150) == ("title",)
    assert found("404 | Lines", h1="404", words=150) == ()


def test_a_site_whose_frame_holds_nothing_need_not_say_it_in_a_heading() -> None:
    links = "".join(f'<a href="/{word}">{word}</a> ' for word in prose(300).split())
    assert signals("Old Press - Page Not Found", links) == ("title",)


def test_a_page_of_a_code_and_its_title_needs_no_language() -> None:
    assert signals("Womeke ɖe eŋu o", "<div>404</div><div>Womeke ɖe eŋu o</div>") == ("text",)
    assert found("Peugeot", h1="Peugeot 404") == ()

"""The texts of cards: a document's own words, right in real markup and harmless in hostile one."""

from time import process_time

import pytest

from weboid.core.document.card import AUTHOR_BYTES, DESCRIPTION_BYTES, TITLE_BYTES, CardText, card_text, plain

_ARTICLE = """<!doctype html><html lang="en"><head><title>The Tower - Daily</title>
<meta name="description" content="What stands  there.">{}</head><body><h1>The Tower</h1><p>{}</p><h4>More</h4>
<img src=a><img src=b><a href=c>c</a><!-- <h2><img> --><script>"<h3>"</script></body></html>"""
_GERMAN = "Der Turm ist das, was von der Stadt und dem Hafen auf dem Berg und in den Gassen nicht zu sehen ist. " * 20


def _card(head: str = "", text: str = "", content_type: str = "text/html; charset=utf-8") -> CardText:
    return card_text(_ARTICLE.format(head, text).encode(), content_type)


def test_a_card_has_the_texts_of_the_document_and_counts_what_is_in_it() -> None:
    assert _card('<meta name="author" content="By Ann Lee">') == CardText(
        "The Tower - Daily", "Ann Lee", "What stands there.", "en", headings=2, links=1, pictures=2
    )


@pytest.mark.parametrize(
    ("head", "author"),
    [
        (
            '<meta name="citation_author" content="Lee, A."><meta name="citation_author" content="Roe, B.">',
            "Lee, A.; Roe, B.",
        ),
        ('<meta property="article:author" content="https://news.demo/ann">', ""),
        ('<script type="application/ld+json">{"author":{"@type":"Person","name":"Ann &amp; Bo"}}</script>', "Ann & Bo"),
        (
            '<meta name="author" content="Daily"><script type="application/ld+json">{"@graph":[{"author":{"@id":"#1"}},'
            '{"@id":"#1","@type":"Person","name":"Ann Lee"}]}</script>',
            "Ann Lee",
        ),
        (
            '<meta name="author" content="Ann Lee"><script type="application/ld+json">'
            '[{"author":[{"@type":"Organization","name":"Daily"}]}]</script>',
            "Ann Lee",
        ),
        ('<script type="application/ld+json">{"author":' + "[" * 5_000 + "</script>", ""),
        ('<script type="application/ld+json">{"author":[7,null,{"name":{}}],"@graph":7}</script>', ""),
        ('<body><a rel="author" href="/ann">Ann Lee</a><a rel="author" href="/ann">Ann Lee</a>', "Ann Lee"),
        ('<body><a rel="author" href="/ann">Ann Lee</a><a rel="author" href="/bo">Bo Roe</a>', ""),
    ],
)
def test_an_author_is_found_where_documents_name_theirs(head: str, author: str) -> None:
    assert _card(head).author == author


def test_the_language_is_that_of_the_text_where_that_is_plain() -> None:
    assert _card(text=_GERMAN).language == "de"
    assert _card(text="Der Turm und das Meer.").language == "en"
    assert card_text(b"<title>a</title>", language="pt_BR").language == "pt-br"
    assert card_text(("<p>" + "Привет мир и всем " * 100).encode()).language == ""


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<title>Погода</title>".encode(), "text/html; charset=windows-1251"),
        ('<meta charset="windows-1251"><title>Погода</title>'.encode(), "text/html"),
        ("<title>Погода</title>".encode("cp1251"), "text/html; charset=windows-1251"),
        ("<title>Погода</title>".encode("utf-16"), "text/html"),
    ],
)
def test_a_wrong_charset_does_not_garble_what_is_plainly_utf_8(body: bytes, content_type: str) -> None:
    assert card_text(body, content_type).title == "Погода"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Weboid: safe", "Weboid: safe"),
        ("\u202egnp.exe\u202c \u2066x\u2069\u200f", "gnp.exe x"),
        ("a\x00b\x1b[31mc\u2028d\U000e0041", "ab[31mc d"),
        ("<b onclick=x>bold</b>&lt;script&gt;", "bold"),
        ("Z" + "\u0335" * 300 + "algo", "Z" + "\u0335" * 4 + "algo"),
        ("سلام دنیا می\u200cخواهم", "سلام دنیا می\u200cخواهم"),
    ],
)
def test_a_hostile_title_is_one_line_of_characters_that_can_be_seen(title: str, shown: str) -> None:
    assert plain(title.replace("&lt;", "<").replace("&gt;", ">"), TITLE_BYTES) == shown


def test_texts_are_bounded_in_bytes_and_cut_between_characters() -> None:
    long = "字" * 2_000
    card = _card(
        f'<title>{long}</title><meta name="author" content="{long}"><meta name="description" content="{long}">'
    )
    assert len(card.title.encode()) <= TITLE_BYTES
    assert len(card.author.encode()) <= AUTHOR_BYTES
    assert len(card.description.encode()) <= DESCRIPTION_BYTES
    assert plain(long, 100) == "字" * 32 + "…"


@pytest.mark.parametrize(
    "piece",
    ["<a rel=author>", "<script type=application/ld+json>", "<!--", "<h1", "<script", "<meta name=author content=a"],
)
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    begun = process_time()
    card_text((piece * 65_536)[:65_536].encode(), "text/html")
    assert process_time() - begun < 2

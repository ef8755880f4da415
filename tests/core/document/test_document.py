"""The reading of a linked document (C-11)."""

from urllib.parse import urljoin

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.document.document import MAX_BODY, document_of, is_html

URL = "http://site.test/a/b.html"


def test_a_page_tells_title_headings_text_language_and_author() -> None:
    body = (
        "<h1>The <b>first</b> one</h1><p>Some<i>thing</i> to&nbsp;read</p><h2>Second</h2>"
        "<a href=/x>link</a><p>end<br>here</p>"
    )
    seen = document_of(
        page(" A\n title ", body=body, head='<meta name="author" content="A. Writer">', lang="en-GB"), ""
    )
    assert (seen.title, seen.headings) == ("A title", ("The first one", "Second"))
    assert seen.text == "The first one Something to read Second link end here"
    assert (seen.language, seen.author, seen.links) == ("en-gb", "A. Writer", 1)
    assert len(seen.own_text) < len(seen.text)
    assert seen.is_page


def test_what_nobody_sees_is_no_text() -> None:
    for hidden in [
        "<script>word</script>", "<style>word</style>", "<template><p>word</p></template>",
        "<svg><title>word</title></svg>", "<select><option>word</select>",
        "<div hidden><p>word</p><div>word</div>word</div>", '<div style="color:red; display: none">word</div>',
        "<!-- word -->", "<noscript>word</noscript>", "<textarea>word</textarea>", "<iframe src=x>word</iframe>",
    ]:  # fmt: skip
        assert document_of(page(body=f"before {hidden} after")).text == "before after"


def test_what_can_be_seen_is_text() -> None:
    for shown in ["<div hidden=until-found>word</div>", "<input hidden>word", "<p class=hidden>word</p>"]:
        assert "word" in document_of(page(body=shown)).text
    # A page that is hidden until its scripts run is read.
    assert document_of(b'<html hidden><body style="display:none">text').text == "text"


def test_what_stands_for_missing_scripts_is_kept_apart() -> None:
    seen = document_of(page(body="<noscript>Please enable <b>scripts</b></noscript>"))
    assert seen.unscripted_text.startswith("Please enable")
    assert seen.text == ""


def test_authors_are_named_in_several_ways() -> None:
    for head, author in [
        ('<meta name="author" content="A &amp; B">', "A & B"),
        ('<meta name="DC.creator" content="A">', "A"),
        ('<meta property="article:author" content="A">', "A"),
        ('<meta content=A name=author><meta name="dc.creator" content="B">', "A"),
        ('<meta name="author" content="">', None),
        ('<meta name="description" content="A">', None),
    ]:
        assert document_of(page(head=head)).author == author


def test_a_language_is_one_or_none() -> None:
    for language, expected in [
        ("de", "de"), ("pt-BR", "pt-br"), ("zh_Hant_TW", "zh-hant-tw"), ("", None), ("deutsch!", None),
        ("{{lang}}", None),
    ]:  # fmt: skip
        assert document_of(page(lang=language)).language == expected


def test_a_refresh_that_leads_to_another_page_soon_is_a_redirect() -> None:
    for content, target in [
        ("0; url=/new", "http://site.test/new"), ("0;URL='http://other.test/x'", "http://other.test/x"),
        ("3, url = c.html", "http://site.test/a/c.html"), ("5;c.html", "http://site.test/a/c.html"),
        ("0; url=/it's", "http://site.test/it's"), ("0; url='/new' soon", "http://site.test/new"),
        ("0 url=/new", "http://site.test/new"), (".5,url=/new", "http://site.test/new"),
        ("0;;url=/new", "http://site.test/new"), ("0; URL=\nhttp://other.test/x", "http://other.test/x"),
        ("0url=/new", None), ("; url=/new", None), ("soon; url=/new", None),
        ("30; url=/new", None), ("300", None), ("0", None), ("", None), ("0; url=http://[", None),
    ]:  # fmt: skip
        head = f'<meta http-equiv="Refresh" content="{content}">'
        assert document_of(page(head=head), "", URL).refresh == target, content


def test_a_document_that_is_nothing_but_a_forward_leads_on_at_once() -> None:
    meta = '<meta http-equiv=refresh content="{}; url=/new">'
    text = "<p>" + "There are some words of its own. " * 10
    for body, is_forward in [
        (meta.format(0), True), (meta.format(1) + text, True), (meta.format(2), False),
        (f"<noscript>{meta.format(0)}</noscript>", False), (f"<!-- {meta.format(0)} -->", False),
        ("<script>location = '/new'</script>", True), ("<script>window.location.href=\"/new\";</script>", True),
        ("<script>\n<!--\ntop.location.replace('\\/new');\n//-->\n</script>", True),
        ("<script>document.location.assign( '/new' )</script><p>Moved. <a href=/new>Go on</a>", True),
        ("<script>location='/new'</script><noscript>" + meta.format(0) + "</noscript>", True),
        ("<script>location='/new'</script>" + text, False),
        ("<script>location='/new'</script><script src=app.js></script>", False),
        ("<script>location='/new'</script><script>go()</script>", False),
        ("<script>if (old) location='/new'</script>", False), ("<script>location=target</script>", False),
        ("<script>document.cookie='a=1';location='/new'</script>", False), ("<script></script>", False),
        ("<button onclick=\"window.location='/new'\">", False), ("<script>location.reload()</script>", False),
    ]:  # fmt: skip
        assert (document_of(page(body=body), "", URL).forward == "http://site.test/new") is is_forward, body


def test_links_are_resolved_by_the_pages_base() -> None:
    head = '<base href="http://other.test/z/"><link rel="shortcut canonical" href="c">'
    seen = document_of(page(head=head, body="<iframe src=//frames.test/f></iframe><script src=s.js></script>"), "", URL)
    assert seen.canonical == "http://other.test/z/c"
    assert seen.sources == ("http://frames.test/f", "http://other.test/z/s.js")
    odd = "/b?v=/../1 /a/../b /a;?x /a; /a?#f /a? /a# /a/. /. / /a//b //o.test/d/../e //o.test /[ /a?b //o.test/c"
    read = document_of("".join(f'<iframe src="{each}"></iframe>' for each in odd.split()).encode(), "text/html", URL)
    assert read.sources == tuple(urljoin(URL, each) for each in odd.split())


def test_a_page_that_scripts_fill_in_is_a_shell() -> None:
    for body, is_shell in [
        ('<div id="root"></div><script src=app.js></script>', True), ("<div class=x id=app> </div>", True),
        ("<my-app>Loading…</my-app>", True), ('<div id="root"><p>text</p></div>', False),
        ('<div data-id="root"></div>', False), ('<div id="rooted"></div>', False),
        ("<share-button></share-button>", False),
    ]:  # fmt: skip
        assert document_of(page(body=body)).is_shell is is_shell


def test_a_form_that_asks_for_a_password_is_seen() -> None:
    assert document_of(page(body="<form><input type=Password></form>")).asks_password
    assert not document_of(page(body="<form><input type=text></form>")).asks_password


def test_only_the_beginning_of_a_body_is_looked_at() -> None:
    seen = document_of(page(body="x " * MAX_BODY + "<h1>late</h1>"))
    assert seen.headings == ()
    assert len(seen.text) <= MAX_BODY


def test_pages_are_reported_from_other_files() -> None:
    for content_type, body, expected in [
        ("text/html", b"", True), ("Text/HTML; charset=x", b"", True), ("application/xhtml+xml", b"", True),
        ("application/pdf", b"<html>", False), ("text/plain", b"<html>", False), ("", b"\n<!DOCTYPE html>", True),
        ("", b"%PDF-1.4", False),
    ]:  # fmt: skip
        assert is_html(content_type, body) is expected


@given(st.binary(max_size=400), st.text(max_size=40), st.text(max_size=40))
def test_any_bytes_give_a_document(body: bytes, content_type: str, url: str) -> None:
    seen = document_of(body, content_type, url)
    assert len(seen.text) <= 2 * len(body)
    assert seen.fingerprint is None or len(seen.words) > 2


def test_the_same_page_has_the_same_fingerprint_in_another_dress() -> None:
    text = prose(300)
    plain = document_of(page("t", body=f"<p>{text}</p>"))
    dressed = document_of(page("t", body=f"<div class=x><!-- c --><p><b>{text}</b></p><script>x</script></div>"))
    assert plain.fingerprint == dressed.fingerprint

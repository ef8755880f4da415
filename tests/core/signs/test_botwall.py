"""Bot walls by headers, by URL and by content; the excerpts are composed of the vendors' marks (U-5, U-7)."""

from support.pages import filled, page, prose

from weboid.assets import toml_next_to
from weboid.core.document.document import document_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.botwall import wall_by_content, wall_by_headers, walls
from weboid.core.signs.suspicion import Suspicion

CASES = toml_next_to(__file__)
URL = "http://site.test/deep/page"


def on(code: int, content: bytes) -> Suspicion | None:
    return wall_by_content(code, content, document_of(content, "text/html", URL))


PAGES = [
    (name, code, page(title, body=filled(body), head="".join(head)))
    for name, code, title, body, *head in CASES["pages"]
]
HEADERS, ENDS = CASES["headers"], CASES["ends"]


def test_a_vendors_page_is_a_wall_and_a_challenge_with_whatever_code_it_is_sent() -> None:
    for name, code, content in PAGES:
        is_challenge = code in (200, 202) and name != "captcha"
        for sent in (code, *((200, 403, 405, 429, 503) if is_challenge else ())):
            assert on(sent, content) == Suspicion(Reason.BOT_WALL, (f"vendor:{name}", "page"))


def test_a_mark_that_no_other_document_has_needs_no_short_text() -> None:
    for name, mark in [
        ("anubis", '<script id="anubis_challenge" type="application/json">{}</script>'),
        ("anubis", '<script id="anubis_version" type="application/json">"v1.14.2"</script>'),
        ("go-away", '<script src="/.well-known/.git.gammaspectra.live/a.mjs"></script>'),
        ("google", '<form id="captcha-form" action="index" method="post"></form>'),
        ("cloudflare", '<form action="/cdn-cgi/l/chk_captcha" method="get"></form>'),
    ]:
        # Anubis explains itself at length, and hands on what the site's own metadata says.
        head = f'<meta property="article:published_time" content="2026">{mark}'
        seen = on(200, page("Ujišťujeme se, že nejste robot!", head=head, body=f"<p>{prose(400)}</p>"))
        assert seen == Suspicion(Reason.BOT_WALL, (f"vendor:{name}", "page"))


def test_a_long_text_is_a_wall_by_cloudflares_title_or_where_it_is_refused() -> None:
    head = "<meta name='captcha-bypass' id='captcha-bypass'>"
    assert on(200, page("Attention Required! | Cloudflare", head=head, body=prose(250))) is not None
    assert on(200, page("A home page", head=head, body=prose(250))) is None
    assert on(403, page("Attention", body=f"<div id='px-captcha'></div><p>{prose(500)}</p>")) is not None
    assert on(200, page("Attention", body=f"<div id='px-captcha'></div><p>{prose(500)}</p>")) is None


def test_a_vendors_page_header_or_redirect_is_a_wall_and_each_vendor_has_one() -> None:
    for name, code, headers in HEADERS:
        seen = wall_by_headers(code, headers, URL)
        assert seen is not None, name
        assert seen.signals == (f"vendor:{name}", f"header:{next(iter(headers))}")
    for name, final, code in ((*end, code) for end in ENDS for code in (200, 404, 500)):
        seen = wall_by_headers(code, {}, final)
        assert seen is not None, name
        assert seen.signals == (f"vendor:{name}", "redirect")
    assert {name for name, *_ in [*PAGES, *HEADERS, *ENDS]} == {vendor.name for vendor in walls().vendor}


def test_who_demands_a_human_without_a_name_is_a_wall_too() -> None:
    for code, title, body in CASES["unnamed"]:
        seen = on(code, page(title, body=body))
        assert seen is not None, code
        assert seen.signals[0] == "vendor:unnamed", code


def test_a_walls_title_over_a_guards_own_script_is_a_wall_that_shows_nothing_without_scripts() -> None:
    script = "<script>window._pxAppId='PX1'</script>"
    seen = on(200, page("Access to this page has been denied", body=script))
    assert seen == Suspicion(Reason.BOT_WALL, ("vendor:perimeterx", "title", "page"))
    assert on(200, page("Access to the harbour", body=script)) is None
    assert on(200, page("Access denied", body="<div class='g-recaptcha'></div>")) is None


def test_what_is_no_wall_and_a_guards_name_alone_is_none() -> None:
    for code, title, body in CASES["living"]:
        assert on(code, page(title, body=filled(body))) is None
    for code, headers in [
        (200, {"x-datadome": "protected"}), (200, {"server": "ddos-guard"}), (503, {"server": "ddos-guard"}),
        (403, {"server": "cloudflare", "cf-ray": "1"}), (404, {"cf-mitigated": "challenge"}), (200, {}),
    ]:  # fmt: skip
        assert wall_by_headers(code, headers, URL) is None
    for final in CASES["no-ends"]:
        assert wall_by_headers(200, {}, final) is None, final

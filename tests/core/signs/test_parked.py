"""Parked and for-sale domains by several signals (C-11, U-7)."""

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.document.document import Document, document_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.parked import parked_suspicion
from weboid.core.signs.suspicion import Suspicion

ASKED = "http://www.oldpress.test/history/1890.html"
LINKS = "".join(f'<a href="/?q={n}">Topic {n}</a>' for n in range(12))


def judged(
    title: str = "",
    body: str = "",
    *,
    asked: str = ASKED,
    final: str | None = None,
    head: str = "",
) -> Suspicion | None:
    """The finding of a page, by default at the URL that was asked for."""
    content = page(title, body=body, head=head)
    end = final or asked
    return parked_suspicion(asked, end, document_of(content, "text/html", end), content)


def test_two_kinds_of_signals_are_enough() -> None:
    for title, body, reason in [
        ("oldpress.test is for sale", "<h1>oldpress.test</h1><p>Make an offer</p>", "for-sale"),
        ("oldpress.test", "<p>This domain may be for sale. Buy this domain.</p>", "for-sale"),
        ("OLDPRESS.TEST - Domain for sale", "", "for-sale"),
        ("oldpress.test", "<p>Diese Domain steht zum Verkauf!</p>", "for-sale"),
        ("oldpress.test steht zum Verkauf", "", "for-sale"),
        ("", "<h1>oldpress.test</h1><p>Ce nom de domaine est à vendre</p>", "for-sale"),
        ("oldpress.test", "<p>Este dominio está en venta</p>", "for-sale"),
        ("oldpress.test", "<p>Questo dominio è in vendita</p>", "for-sale"),
        ("oldpress.test", "<p>Deze domeinnaam is te koop</p>", "for-sale"),
        ("oldpress.test", "<p>Ta domena jest na sprzedaż</p>", "for-sale"),
        ("Домен oldpress.test продается", "<p>Купить домен</p>", "for-sale"),
        ("oldpress.test", "<p>此域名出售</p>", "for-sale"),
        ("oldpress.test", "<p>このドメインは販売中です</p>", "for-sale"),
        ("oldpress.test", "<p>Bu alan adı satılıktır</p>", "for-sale"),
        ("oldpress.test", f"<p>This domain is parked free, courtesy of a registrar.</p>{LINKS}", "parked"),
        ("oldpress.test", f"<p>Domain parking</p>{LINKS}", "parked"),
        ("oldpress.test", "<p>This domain has expired. Is this your domain? Renew it now.</p>", "parked"),
        ("oldpress.test", f"{LINKS}<script src='//www.google.com/adsense/domains/caf.js'></script>", "parked"),
        ("", "<iframe src='http://www.sedoparking.com/oldpress.test'></iframe>", "parked"),
        ("", '<script>window.onload=function(){window.location.href="/lander"}</script>', "parked"),
        ("oldpress.test", '<script>window.park = "eyJ1dWlk"</script>', "parked"),
        ("", '<script>window.onload=function(){location.replace("/lander")}</script>', "parked"),
        ("", "<p>Domain oldpress.test is parked.</p><p>This domain has expired</p>", "parked"),
        ("AfterMarket :: domena oldpress.test", "<p>Domena oldpress.test została zarejestrowana</p>", "parked"),
        ("oldpress.test", "<p>Votre domaine a bien été créé chez nous.</p>", "parked"),
        ("oldpress.test", "<p>Denna domän är parkerad.</p>", "parked"),
        ("Doména oldpress.test je zaregistrována", "", "parked"),
        ("This domain was registered by Registrar", "<div id=root></div>", "parked"),
        ("Parked at Loopia", f"<p>This domain has been purchased and parked.</p><p>{prose(120)}</p>", "parked"),
    ]:
        seen = judged(title, body)
        assert seen is not None, title
        assert seen.reason.word == reason, title
        assert len(seen.signals) >= 2, title


def test_a_redirect_to_a_market_that_names_the_domain_needs_no_body() -> None:
    for final, signal, reason in [
        ("https://www.hugedomains.com/domain_profile.cfm?d=oldpress.test", "market:hugedomains.com", Reason.FOR_SALE),
        ("https://dan.com/buy-domain/oldpress.test", "market:dan.com", Reason.FOR_SALE),
        ("https://www.afternic.com/forsale/oldpress.test?utm=x", "market:afternic.com", Reason.FOR_SALE),
        ("http://oldpress.test.parkingcrew.net/?x=1", "parking:parkingcrew.net", Reason.PARKED),
    ]:
        seen = parked_suspicion(ASKED, final, Document(url=final), b"")
        assert seen == Suspicion(reason, (signal, "own-name:oldpress.test")), final


def test_a_numbered_host_with_hardly_a_text_is_parked() -> None:
    seen = judged("oldpress.test", LINKS, final="http://ww25.oldpress.test/history/1890.html?subid1=1")
    assert seen == Suspicion(Reason.PARKED, ("numbered-host:ww25.oldpress.test", "own-name:oldpress.test", "thin"))
    assert judged("oldpress.test", LINKS + prose(120), final="http://ww2.oldpress.test/") is None


def test_the_page_of_the_largest_registrar_is_made_by_a_script() -> None:
    head = (
        '<script>window.LANDER_SYSTEM="PW"</script>'
        '<script defer src="https://img1.wsimg.com/parking-lander/static/js/main.1.js"></script>'
    )
    seen = judged(head=head, body='<div id="root"></div>')
    assert seen is not None
    assert seen.reason is Reason.PARKED
    assert judged("How GoDaddy parks", f"<p>It sets {prose(400)} window.LANDER_SYSTEM</p>") is None


def test_a_markets_title_needs_neither_the_name_nor_a_short_text() -> None:
    for end in ["| HugeDomains", "| Buy with Epik.com", "- Afternic"]:
        seen = judged(f"AustinDetails.com is for sale {end}", f"<p>{prose(700)}</p>")
        assert seen is not None, end
        assert seen.reason is Reason.FOR_SALE, end
        assert judged("Twitter.com is for sale | The Old Press", f"<p>{prose(700)}</p>") is None, end


def test_a_domain_in_its_own_letters_is_recognised() -> None:
    seen = judged("müller.de steht zum Verkauf", asked="http://xn--mller-kva.de/seite")
    assert seen is not None
    assert "own-name:xn--mller-kva.de" in seen.signals


def test_what_lives_is_not_parked() -> None:
    for title, body, asked in [
        # A shop that sells things.
        ("boats.test: Boats for sale", f"<p>Buy now! Make an offer.</p>{LINKS}", "http://boats.test/"),
        ("shoes.test – buy now", f"<p>Buy now 19.99</p>{LINKS}", "http://shoes.test/"),
        ("boats.test - for sale: boats, yachts", LINKS, "http://boats.test/"),
        ("boats.test is for sale people", f"<p>{prose(120)}</p>", "http://boats.test/"),
        ("Buy now - shoes.test", f"<p>{prose(60)} Buy now 19.99</p>{LINKS}", "http://shoes.test/p/1"),
        ("Domaine à vendre en Bourgogne", "<p>Ce beau domaine viticole, 12 hectares</p>", "http://vin.test/domaine"),
        # Articles about the trade, long and short.
        (
            "How to sell a name",
            f"<p>Write: this domain is for sale. Make an offer. {prose(400)}</p>",
            "http://blog.test/a",
        ),
        (
            "What is domain parking?",
            "<p>A parked domain shows links. Domain parking earns little.</p>",
            "http://kb.test/7",
        ),
        ("My domain expired", "<p>Renew your domain in the panel.</p>", "http://help.test/renew"),
        # A list that links to markets.
        ("Links", '<a href="https://sedo.com/">Sedo</a><a href="https://dan.com/">Dan</a>', "http://links.test/"),
        # Small living pages.
        ("tiny.test", "<p>My home page.</p>", "http://tiny.test/"),
        ("tiny.test", LINKS, "http://tiny.test/links"),
        ("", "", "http://tiny.test/frames"),
        ("Under construction", "<p>Coming soon</p>", "http://tiny.test/"),
        # The markets' own pages.
        ("sedo.com is for sale", "<p>This domain is for sale</p>", "https://sedo.com/help"),
        # A living site that also has an ad of its own.
        ("Old Press", f"<p>This domain is for sale.</p><p>{prose(300)}</p>", ASKED),
    ]:
        assert judged(title, body, asked=asked) is None


def test_a_living_page_with_a_script_of_a_parking_service_lives() -> None:
    assert judged("oldpress.test", f"<script src=//cdn.bodis.com/x.js></script><p>{prose(300)}</p>") is None


def test_an_article_is_never_parked() -> None:
    head = '<meta property="article:published_time" content="2026">'
    assert judged("oldpress.test is for sale", "<p>This domain is for sale</p>", head=head) is None


def test_a_redirect_to_the_front_of_a_market_alone_proves_nothing() -> None:
    assert parked_suspicion(ASKED, "https://www.godaddy.com/", Document(), b"") is None


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=60))
def test_nothing_makes_it_raise(title: str, text: str, source: str) -> None:
    seen = Document(title=title, headings=(text,), text=text, sources=(source, f"http://{source}"), refresh=source)
    parked_suspicion(f"http://site.test/{source}", f"http://other.test/{text}", seen, text.encode(errors="replace"))


@given(st.integers(0, 300), st.integers(0, 90_000))
def test_no_prose_is_a_parked_page(words: int, start: int) -> None:
    assert judged(prose(6, start), f"<p>{prose(words, start)}</p>") is None

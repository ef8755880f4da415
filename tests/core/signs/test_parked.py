"""Parked and for-sale domains by several signals (C-11, U-7)."""

from support.pages import filled, page, prose

from weboid.assets import toml_next_to
from weboid.core.document.document import Document, document_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.parked import parked_suspicion
from weboid.core.signs.suspicion import Suspicion

CASES = toml_next_to(__file__)
ASKED = "http://www.oldpress.test/history/1890.html"
LINKS = "".join(f'<a href="/?q={n}">Topic {n}</a>' for n in range(12))


def judged(
    title: str = "", body: str = "", *, asked: str = ASKED, final: str | None = None, head: str = ""
) -> Suspicion | None:
    """The finding of a page, by default at the URL that was asked for."""
    content = page(title, body=filled(body).replace("{links}", LINKS), head=head)
    end = final or asked
    return parked_suspicion(asked, end, document_of(content, "text/html", end), content)


def test_two_kinds_of_signals_are_enough() -> None:
    for title, body, reason in CASES["parked"]:
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
    assert (seen and seen.reason) is Reason.PARKED
    assert judged("How GoDaddy parks", f"<p>It sets {prose(400)} window.LANDER_SYSTEM</p>") is None


def test_a_markets_title_needs_neither_the_name_nor_a_short_text() -> None:
    for end in ["| HugeDomains", "| Buy with Epik.com", "- Afternic"]:
        seen = judged(f"AustinDetails.com is for sale {end}", f"<p>{prose(700)}</p>")
        assert (seen and seen.reason) is Reason.FOR_SALE, end
        assert judged("Twitter.com is for sale | The Old Press", f"<p>{prose(700)}</p>") is None, end


def test_a_domain_in_its_own_letters_is_recognised() -> None:
    seen = judged("müller.de steht zum Verkauf", asked="http://xn--mller-kva.de/seite")
    assert seen is not None
    assert "own-name:xn--mller-kva.de" in seen.signals


def test_a_living_page_an_article_and_the_front_of_a_market_are_not_parked() -> None:
    for title, body, asked in CASES["living"]:
        assert judged(title, body, asked=asked) is None
    assert judged("oldpress.test", f"<script src=//cdn.bodis.com/x.js></script><p>{prose(300)}</p>") is None
    head = '<meta property="article:published_time" content="2026">'
    assert judged("oldpress.test is for sale", "<p>This domain is for sale</p>", head=head) is None
    assert parked_suspicion(ASKED, "https://www.godaddy.com/", Document(), b"") is None

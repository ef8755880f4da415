"""What a played copy shows (A-1): the cited page, or a wall, a notice, a stub, a stranger; for pages made up here."""

import gzip
import zlib
from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.archive.captures import Capture, ServiceReply
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.verification import READ_BYTES, stored_response, verified
from weboid.core.document.document import document_of
from weboid.core.document.portrait import portrait_of
from weboid.core.url.urls import parse

_CASES = toml_next_to(__file__)

PAGE = "http://www.mill.demo/history/wheel.html"
TAKEN = datetime(2010, 5, 1, 12, 3, 4, tzinfo=UTC)
TODAY = date(2026, 11, 22)
STORY = " ".join(
    f"The mill of the village was built by the brothers in year {n} and its wheel turns slowly in the brook next to "
    f"orchards, where children {word} and carts arrive with grain from every farm"
    for n, word in enumerate(("play", "sing", "wait", "fish"))
)


def page(title: str, text: str = STORY, *, head: str = "") -> bytes:
    markup = f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><p>{text}</p></body></html>"
    return markup.encode()


GOOD = page("The wheel of the old mill")


def judged(
    body: bytes,
    *,
    url: str = PAGE,
    kind: str = "text/html; charset=utf-8",
    known: bytes | None = None,
    mime: str | None = None,
    status: int | None = 200,
    taken: datetime | None = TAKEN,
    listed: datetime = TAKEN,
) -> str | None:
    portrait = None if known is None else portrait_of(document_of(known, "text/html", url))
    wish = Wish(parse(url), TAKEN, TODAY, portrait=portrait, mime=mime)
    reply = ServiceReply(200, {"content-type": kind, "memento-datetime": "x", "server": "nginx"}, body)
    return verified(Capture(listed, url, 200, "text/html", "D", 5_000), reply, wish, status=status, taken=taken)


def test_the_page_itself_and_pages_with_suspicious_parts_are_good() -> None:
    assert judged(GOOD) is None
    assert judged(GOOD, known=GOOD) is None
    assert judged(GOOD, status=206) is None
    for body in [
        page("x", STORY, head="<script>function go() { location.href = '/b' }</script>"),
        page("x", "Few", head="<script>if (top != self) top.location = self.location;</script>"),
        page("x", "", head="<script>location.href='/b'</script>").replace(b"<p>", b'<iframe src="a.html"></iframe><p>'),
        b"<html><head><title>Mill</title></head><frameset cols=*><frame src=menu.html></frameset></html>",
        page("How to log in to the weir", STORY * 3),
        page("The mill", f"{STORY} Your privacy is important to us. We use cookies. {LOGIN_FORM}"),
        page("Error 404 band: their first record", STORY),
        page("Update your browser in the library | The Mill", "All screens of the reading room have been renewed."),
        page("How the site got off line, and other errors while processing", "Three stories of our readers."),
    ]:
        assert judged(body) is None


def test_the_archive_must_say_that_it_plays_that_copy_or_that_day_of_it() -> None:
    for stated, why in [
        ({"taken": None}, "no-moment"), ({"taken": TAKEN + timedelta(seconds=1)}, "other-moment"),
        ({"status": None}, "status"), ({"status": 404}, "status"), ({"status": 301}, "status"),
    ]:  # fmt: skip
        assert judged(GOOD, **stated) == why  # type: ignore[arg-type]  # each case has one keyword of its own type
    midnight = TAKEN.replace(hour=0, minute=0, second=0)
    assert judged(GOOD, listed=midnight) is None
    assert judged(GOOD, listed=TAKEN.replace(minute=0, second=0)) == "other-moment"
    assert judged(GOOD, listed=midnight, taken=TAKEN + timedelta(days=1)) == "other-moment"


LOGIN_FORM = "<form><input name=user><input type=password></form>"


def test_what_stands_in_place_of_a_page_is_named() -> None:
    for title, text, head, why in _CASES["in-place"]:
        assert judged(page(title, text.replace("$LOGIN_FORM", LOGIN_FORM), head=head)) == why, title
    for body, why in [
        (b"", "empty"),
        (b"<html></html>", "empty"),
        (page("The Mill", "", head="").replace(b"<h1>The Mill</h1>", b"<h1>Article expired</h1>"), "soft-404"),
        (b"<title>Mill</title><script src=/app.js></script><div id=app></div>", "no-content"),
    ]:
        assert judged(body) == why


def test_what_a_service_says_of_a_work_that_is_gone_and_its_shell_are_no_copies() -> None:
    gone, shell = page("微博-出错了", ""), b"<title>X</title><script>render()</script><p>X"
    for url, body, why in [
        ("https://m.weibo.cn/detail/1", gone, "soft-404"),
        ("https://www.mill.demo/detail/1", gone, None),
        ("https://x.com/mill/status/1", shell, "bot-wall"),
    ]:
        assert judged(body, url=url) == why, url


def test_a_front_page_may_be_a_login_and_lead_on() -> None:
    front = "http://www.mill.demo/"
    assert judged(page("Log in", f"Please log in. {LOGIN_FORM}"), url=front) is None
    for archive in ("", "https://archive.demo/web/20160301100000if_/", "/web/20160301100000if_/"):
        intro = page("Mill", "", head=f'<meta http-equiv="refresh" content="5; url={archive}https://mill.demo/">')
        assert judged(intro, url=front) is None
    assert judged(page("Log in", f"Please log in. {LOGIN_FORM}"), url="http://mill.demo/login/x") is None


OTHER = page(
    "Quantum turbines quarterly",
    " ".join(
        f"Shareholders of segment {word} approve dividends while analysts expect margins" for word in "abcdefghij"
    ),
)
GERMAN = page(
    "The wheel of the old mill",
    "Der Betreiber dieser Seite und die Spieler werden für das Angebot nicht mit den Kosten der Bank belastet, auch "
    "wenn sich die Gewinne von dem Konto auf eine Karte oder zu einem Freund bewegen, ist das im Spiel erlaubt und von "
    "der Aufsicht für die Branche genehmigt. Wir sind auch auf dem Markt der Wetten und nicht nur zu Hause ein Name.",
)


def test_another_document_than_the_remembered_one_is_refused_also_under_its_title() -> None:
    assert judged(OTHER) is None
    assert judged(OTHER, known=GOOD) == "replaced"
    assert judged(GERMAN, known=GOOD) == "replaced"


def test_a_page_of_a_trade_that_was_one_when_it_lived_is_good() -> None:
    casino = page("Casino in the valley", f"{STORY} casino")
    assert judged(casino) == "in-trade"
    assert judged(casino, url="http://www.mill.demo/casino/history.html") is None


PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"


def test_a_file_must_be_one_of_its_type_and_is_not_judged_by_its_text() -> None:
    report, png = "http://www.mill.demo/report.pdf", "http://www.mill.demo/wheel.png"
    gone = b"The requested report is no longer available here."
    for body, url, kind, mime, why in [
        (PDF, report, "application/pdf", None, None),
        (PDF, report, "application/octet-stream", None, None),
        (PDF, PAGE, "application/pdf", "pdf", None),
        (b"\x01\x9c packed in a way of its own, without a word of it", report, "application/pdf", None, None),
        (GOOD, report, "text/html", None, "wrong-type"),
        (GOOD, report, "application/pdf", None, "wrong-type"),
        (GOOD, report, "application/octet-stream", None, "wrong-type"),
        (gone, report, "text/plain", None, "wrong-type"),
        (b"The wheel;turned;for days;" * 2, "http://www.mill.demo/days.csv", "text/csv", None, None),
        (b"\x89PNG\r\n\x1a\n" + bytes(60), png, "image/png", None, None),
        (GOOD, png, "text/html", None, "wrong-type"),
        (GOOD, png, "image/png", None, "wrong-type"),
    ]:
        assert judged(body, url=url, kind=kind, mime=mime) == why, (url, kind)


def test_the_headers_of_the_archive_are_not_those_of_the_page() -> None:
    headers = {
        "server": "cloudflare", "cf-mitigated": "challenge", "content-type": "text/html",
        "x-archive-orig-server": "Apache", "x-archive-orig-content-type": "text/css",
    }  # fmt: skip
    answer = stored_response(ServiceReply(200, headers, GOOD), PAGE, 200)
    assert answer.headers == {"server": "Apache", "content-type": "text/css"}


def test_a_copy_that_was_stored_packed_is_unpacked_within_bounds() -> None:
    for kind, coding in [("TEXT/HTML", ""), ("", ", gzip"), ("text/html", "gzip")]:
        headers = {"content-type": kind, "content-encoding": coding}
        assert stored_response(ServiceReply(200, headers, gzip.compress(GOOD)), PAGE, 200).body == GOOD
    packed, archive = gzip.compress(page("404 Not Found")), "http://www.mill.demo/a.tar.gz"
    assert (judged(packed), judged(packed, url="http://www.mill.demo/a.pdf")) == ("soft-404", "wrong-type")
    for url, kind in [(archive, "application/gzip"), (archive, "text/plain"), (PAGE, "application/octet-stream")]:
        assert judged(packed, url=url, kind=kind) is None
    bomb = gzip.compress(bytes(50_000_000))
    assert len(stored_response(ServiceReply(200, headers, bomb), PAGE, 200).body) <= READ_BYTES
    assert stored_response(ServiceReply(200, headers, b"\x1f\x8bgarbage"), PAGE, 200).body == b"\x1f\x8bgarbage"


def test_what_no_charset_makes_a_text_is_no_content_and_html_is_html_by_any_vague_type() -> None:
    packed = zlib.compress(GOOD + bytes(range(256)) * 4)
    bare = f"<p>{'これは古い水車の話です。' * 20}"
    for body, kind, why in [
        (packed, "text/html", "no-content"),
        (packed, "text/html; charset=utf-8", "no-content"),
        (bare.encode("shift_jis"), "text/html", None),
        (bare.encode("iso2022_jp"), "text/html; charset=utf-8", None),
        (bare.encode("utf-16"), "text/html", None),
        (b"<center><img src=wheel.jpg width=600 height=400></center>", "text/html", None),
        (b"%PDF-1.4 " + packed, "application/pdf", None),
        *((f"<p>{text}".encode(coding), "text/html; charset=utf-8", None) for text, coding in _CASES["misnamed"]),
        (page("404 Not Found"), "text/plain", None),  # a source, in a repository
        (page("404 Not Found"), "application/octet-stream", "soft-404"),
    ]:
        assert judged(body, kind=kind) == why, (body[:40], kind)


@given(st.binary(max_size=2_000), st.sampled_from(("text/html", "application/pdf", "", "gzip")), st.text(max_size=30))
@settings(max_examples=80)
def test_any_bytes_are_judged(body: bytes, kind: str, original: str) -> None:
    reply = ServiceReply(200, {"content-type": kind, "content-encoding": kind}, body)
    for url in (PAGE, "http://mill.demo/a.pdf"):
        wish = Wish(parse(url), TAKEN, TODAY)
        verified(Capture(TAKEN, original), reply, wish, status=200, taken=TAKEN)

"""Error pages that are nothing but a script."""

import pytest

from weboid.core.document.document import document_of
from weboid.core.record.reasons import Reason, needs_contrast
from weboid.core.signs.scripts import script_suspicion

URL = "http://mill.test/a/b"
LONG = b"<p>" + b"The mill stands on the dam. " * 4
RELOAD = b"<script>document.cookie='a=1';location.reload()</script>"
LOGIN = b"<script>location.replace('/login?next=/a')</script>"
ROUTER = b"<script>location.replace('/?p='+location.pathname)</script>"
SESSION = b"<script>sessionStorage.redirect = location.href</script><meta http-equiv=refresh content='0; url=/'>"
AGAIN = (
    b"setTimeout('window.location.reload(true)', 9)",
    b"location=location",
    b"window.location.href = window.location.href;",
    b"document.location.replace(document.location.href)",
    b"location.assign(document.URL)",
    b"location.href='/a/b'",
    b"location.href='http://mill.test/a/b?i=1'",
    b"history.go(0)",
)


@pytest.mark.parametrize(
    ("code", "headers", "body", "reason"),
    [
        (404, {}, RELOAD, Reason.BOT_WALL),
        (503, {}, RELOAD, Reason.BOT_WALL),
        (404, {}, RELOAD + LONG, None),
        (412, {"set-cookie": "a=1"}, b"<script>x()</script>", Reason.BOT_WALL),
        (404, {"set-cookie": "a=1"}, b"<script>x()</script>", None),
        (202, {}, b"<script>x()</script>", Reason.BOT_WALL),
        (202, {}, b"<script>x()</script>" + LONG, None),
        (200, {}, b"<script>x()</script>", None),
        (200, {}, RELOAD, Reason.BOT_WALL),
        (200, {}, RELOAD + LONG, None),
        (200, {}, b"<script>document.cookie='a=1'</script>", None),
        (200, {}, b"<script src='/app.js'></script>" + RELOAD, None),
        (404, {}, LOGIN, Reason.LOGIN),
        (412, {}, LOGIN, Reason.LOGIN),
        (404, {}, LOGIN + LONG, None),
        (404, {}, b"<script>location.replace('/')</script>", None),
        (404, {}, ROUTER, Reason.SOFT_404),
        (404, {}, b"<script>send(location.pathname)</script>", None),
        (404, {}, b"location.reload() document.cookie", None),
        *((404, {}, b"<script>document.cookie='a=1';" + again + b"</script>", Reason.BOT_WALL) for again in AGAIN),
        (404, {}, b"<script>document['cookie']='a=1';location.reload()</script>", Reason.BOT_WALL),
        (404, {}, b"<script>document.cookie='a=1';location.href=location.origin</script>", None),
        (404, {}, b"<script>location.href=location.href</script>", None),
        (404, {}, b"<script>location.href='http://[mill/'</script>", None),
        (404, {}, b"<html><script>" + 100 * b"var a=[1];" + b"</script></html>", None),
        (404, {}, b"<html><script>" + 110 * b"var a=[1];" + b"</script></html>", Reason.BOT_WALL),
        (404, {}, b"<html><div id=root></div><script>" + 110 * b"var a=[1];" + b"</script></html>", None),
        (404, {}, SESSION, Reason.SOFT_404),
        *((code, {}, RELOAD, None) for code in (500, 502, 504, 520, 530)),
    ],
)
def test_a_script_alone_is_a_wall_a_login_or_a_router(
    code: int, headers: dict[str, str], body: bytes, reason: Reason | None
) -> None:
    found = script_suspicion(code, headers, body, document_of(body, "text/html", URL))
    assert (found and found.reason) is reason


def test_a_router_is_a_doubt_by_what_was_read_and_a_wall_is_not() -> None:
    read = [
        script_suspicion(404, {}, body, document_of(body, "text/html", URL), reads=False) for body in (ROUTER, RELOAD)
    ]
    assert [found and found.reason for found in read] == [None, Reason.BOT_WALL]


def test_codes_about_the_request_need_a_contrast_and_those_of_dying_servers_do_not() -> None:
    assert all(map(needs_contrast, (400, 408, 409, 412, 415, 417, 421, 425, 426, 499, 505, 506, 529, 567, 599)))
    assert not any(map(needs_contrast, (200, 301, 404, 410, 500, 502, 503, 504, 511, *range(520, 528), 530, 600)))

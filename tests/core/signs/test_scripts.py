import re

import pytest

from weboid.assets import toml_next_to
from weboid.core.document.document import document_of
from weboid.core.record.reasons import Reason, needs_contrast
from weboid.core.signs.scripts import script_suspicion

_CASES = toml_next_to(__file__)

URL = "http://mill.test/a/b"
RELOAD = b"<script>document.cookie='a=1';location.reload()</script>"
ROUTER = b"<script>location.replace('/?p='+location.pathname)</script>"
WORDS = {
    b"$LONG": b"<p>" + b"The mill stands on the dam. " * 4,
    b"$RELOAD": RELOAD,
    b"$LOGIN": b"<script>location.replace('/login?next=/a')</script>",
    b"$ROUTER": ROUTER,
    b"$SESSION": b"<script>sessionStorage.redirect = location.href</script><meta http-equiv=refresh content='0;url=/'>",
}
AGAIN = [each.encode() for each in _CASES["again"]]


def made(body: str) -> bytes:
    return re.sub(rb"\$[A-Z]+", lambda word: WORDS[word[0]], body.encode())


@pytest.mark.parametrize(
    ("code", "headers", "body", "reason"),
    [
        *(
            (code, headers, made(body), Reason[reason] if reason else None)
            for code, headers, body, reason in _CASES["alone"]
        ),
        *((404, {}, b"<script>document.cookie='a=1';" + again + b"</script>", Reason.BOT_WALL) for again in AGAIN),
        (404, {}, b"<html><script>" + 100 * b"var a=[1];" + b"</script></html>", None),
        (404, {}, b"<html><script>" + 110 * b"var a=[1];" + b"</script></html>", Reason.BOT_WALL),
        (404, {}, b"<html><div id=root></div><script>" + 110 * b"var a=[1];" + b"</script></html>", None),
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

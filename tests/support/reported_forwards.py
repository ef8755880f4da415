"""Documents that only lead on, as users of other tools have reported them, and those that only look so."""

from collections.abc import Sequence
from typing import Final

from support.misbehaving import Act, Asked, HangUp, head_only, reply
from support.reported_servers import (
    DEAD,
    FINE,
    GONE,
    LIVES,
    PAGE,
    PATH,
    REFUSES,
    SUSPECT,
    TARGET,
    TEXT,
    Row,
    chain,
    doc,
    meta,
    page_of,
    raw,
    works,
)

from weboid.assets import toml_next_to


def with_text(markup: str) -> bytes:
    """A page with words of its own and this in it; whatever it names is not there."""
    return page_of(f"<!doctype html><html lang=en><title>Mill</title><body>{markup}<h1>Mill</h1>{TEXT}</html>")


def cookie_by_refresh(asked: Asked) -> Act:
    """The first answer sets a cookie and reloads itself by a document."""
    if asked.target != PATH:
        return head_only(asked, GONE)
    if "Cookie" in asked.headers:
        return head_only(asked, FINE)
    return head_only(asked, page_of(meta(f"0; url={PATH}"), "Set-Cookie: k=1"))


def header_after_301(asked: Asked) -> Act:
    match asked.target:
        case "/from/doc":
            return reply(301, f"Location: /redirect/?URL={PATH}&404;http://mill.demo/old")
        case "/2016/03/index.htm":
            return head_only(asked, FINE)
        case other if other.startswith("/redirect/"):
            return head_only(asked, page_of("", "refresh: 0; url=/2016/03/index.htm"))
        case _:
            return head_only(asked, GONE)


CHALLENGE: Final = (
    b"<!doctype html><title>Just a moment...</title><meta http-equiv=refresh content=12>"
    b"<script src=/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1></script>"
)
_CASES: Final[dict[str, dict[str, str]]] = toml_next_to(__file__)
LEADING: Final = _CASES["leading"] | {
    "script-later a sibling": "<script>setTimeout(function(){location.href='/gone'}, 90000)</script>" + TEXT,
    "script-in-svg a sibling": "<svg><script>location='/gone'</script></svg>" + TEXT,
}
ANSWERS: Final = {
    "refresh-header assaf/zombie#436": page_of("", f"Refresh: 0; url={TARGET}"),
    "refresh-header-quoted ArchiveTeam/wpull#465": page_of("", f'Refresh: 0;URL="{TARGET}"'),
    "refresh-header-later a sibling": page_of(PAGE, "Refresh: 300; url=/gone"),
    "refresh-header-twice a sibling": page_of("", f"Refresh: 0; url={TARGET}", "Refresh: 0; url=/gone"),
}
HOSTS: Final = {
    "refresh-entity a sibling": doc(page_of(meta("0; url=/target?a=1&amp;b=2")), place="/target?a=1&b=2"),
    "refresh-base a sibling": doc(
        page_of("<base href='/deep/'><meta http-equiv=refresh content='0;url=target'>"), place="/deep/target"
    ),
    "refresh-sets-cookie a sibling": cookie_by_refresh,
    "refresh-header-after-301 jhy/jsoup#693": header_after_301,
}
LEADING_ON: Final[Sequence[Row]] = [
    *works(_CASES["staying"], lambda markup: doc(with_text(markup))),
    *works(LEADING, lambda markup: doc(page_of(markup))),
    *works(ANSWERS, doc),
    *works(HOSTS),
    Row("refresh-header-self request/request#92", doc(page_of(PAGE, "Refresh: 0.1")), LIVES),
    Row("refresh-on-404-is-not-followed a sibling", doc(reply(404, body=meta("0; url=/target"))), SUSPECT),
    Row("refresh-12-challenge VeNoMouS/cloudscraper#209", doc(reply(503, body=CHALLENGE)), REFUSES),
]

BEHIND_IS_DEAD: Final[Sequence[Row]] = [
    *works(_CASES["dead"], lambda markup: doc(page_of(markup), GONE), SUSPECT, is_read=True),
    Row("refresh-header-dead headzoo/surf#38", doc(page_of("", "Refresh: 0; url=/target"), GONE), SUSPECT),
    Row(
        "cookie-chain-dead a sibling",
        lambda asked: reply(404) if asked.target == TARGET else reply(302, f"Location: {TARGET}", "Set-Cookie: a=1"),
        DEAD,
    ),
    Row("chain-12-dead a sibling", lambda asked: reply(404) if asked.target == "/step12" else chain(15)(asked), DEAD),
    Row("hangs-up a sibling", lambda asked: HangUp(), DEAD),
    Row("resets a sibling", lambda asked: HangUp(reset=True), DEAD),
    Row("nonsense a sibling", raw(b"SSH-2.0-Other\r\n\r\n"), DEAD),
]

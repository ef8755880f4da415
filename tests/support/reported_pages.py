"""Documents of walls and applications, made anew after what public reports and the programs themselves show."""

from typing import Final

from support.reported import page

from weboid.assets import toml_next_to

_PAGES = toml_next_to(__file__)

HUMAN: Final = page("Access denied", "Please verify you are a human to continue.")
OLD: Final = page("Update your browser", "This browser is no longer supported. Please switch to a supported browser.")
TO_LOGIN: Final = b"<script>window.location.href = '/login?next=' + encodeURIComponent(document.URL)</script>"
TO_SIGN_IN: Final = b"<html><body><script>location.replace('/users/sign_in')</script></body></html>"
LOGIN: Final = (
    b"<!doctype html><title>Sign in</title><h1>Sign in</h1><p>This article is for members.</p><form method=post "
    b"action=/session><input name=user><input type=password name=password><button>Sign in</button></form>"
)
ROUTER: Final = (
    b"<title>Mills</title><script>var l=window.location;l.replace(l.protocol+'//'+l.host+'/?p='+l.pathname);"
    b"window.location.replace('/?p=/'+l.pathname.slice(1))</script>"
)
SWITCH: Final = (
    b"<title>Moved</title><script>switch (location.href) { case 'http://a.test/old': location.href = '/new' }</script>"
)
SESSION_ROUTER: Final = (
    b"<title>Mills</title><script>sessionStorage.redirect = location.href;</script>"
    b"<meta http-equiv=refresh content=\"0;URL='/'\">"
)
SCRIPT: Final = b"<html><script>" + b"$_ts={};$_ts.nsd=1;" * 30 + b"</script></html>"

TESTCOOKIE: Final = (
    b'<html><body><script type="text/javascript" src="/aes.min.js"></script><script>function toNumbers(d){return d}'
    b'var a=toNumbers("f6");document.cookie="__test="+toHex(slowAES.decrypt(a))+"; path=/"; location.href='
    b'"/a/the-mill-race.html?i=1";</script><noscript>This site requires Javascript to work.</noscript></body></html>'
)
COOKIE_SCRIPTS: Final[dict[str, bytes]] = {name: text.encode() for name, text in _PAGES["cookie_scripts"].items()}
"""Scripts that set a cookie and ask for the same page again; the page is nothing else."""


def cookie_page(name: str) -> bytes:
    return b"<html><body><script>" + COOKIE_SCRIPTS[name] + b"</script></body></html>"


SHELLS: Final[dict[str, bytes]] = {name: text.encode() for name, text in _PAGES["shells"].items()}
"""Frames of applications, which scripts fill in."""

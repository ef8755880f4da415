"""Documents of walls and applications, made anew after what public reports and the programs themselves show."""

from typing import Final

from support.reported import page

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
    b'"/a/the-mill.html?i=1";</script><noscript>This site requires Javascript to work.</noscript></body></html>'
)
COOKIE_SCRIPTS: Final = {
    "reload": b"document.cookie='k=7';location.reload()",
    "reload-true": b"document.cookie='k=7; path=/';window.location.reload(true);",
    "timer": b"document.cookie='k=7';setTimeout('location.reload()', 500);",
    "itself": b"document.cookie='k=7; path=/';document.location=document.location;",
    "href-itself": b"document.cookie='k=7';window.location.href=window.location.href;",
    "replace-href": b"document.cookie='k=7';location.replace(location.href)",
    "assign-path": b"document.cookie=a+'='+b;location.assign(location.pathname+location.search)",
    "top": b"document.cookie='__t='+(1e9).toString(36);top.location.href=document.URL;",
    "self-reload": b"document['cookie']='k=7';self.location.reload();",
    "history": b"document.cookie='k=7';history.go(0)",
}
"""Scripts that set a cookie and ask for the same page again; the page is nothing else."""


def cookie_page(name: str) -> bytes:
    return b"<html><body><script>" + COOKIE_SCRIPTS[name] + b"</script></body></html>"


SHELLS: Final = {
    "react": b"<!doctype html><title>Mills</title><noscript>You need to enable JavaScript to run this app.</noscript>"
    b'<div id="root"></div><script defer src="/static/js/main.5f3.js"></script>',
    "vue": b"<!doctype html><title>Mills</title><noscript><strong>We're sorry but mills doesn't work properly without "
    b"JavaScript enabled. Please enable it to continue.</strong></noscript><div id=app></div>"
    b"<script src=/js/chunk-vendors.1a.js></script><script src=/js/app.2b.js></script>",
    "vite": b'<!doctype html><html lang=en><title>Mills</title><script type="module" crossorigin '
    b'src="/assets/index-4c.js"></script><div id="root"></div></html>',
    "angular": b'<!doctype html><html lang=en><title>Mills</title><base href="/"><app-root></app-root>'
    b'<script src="/runtime.a.js" type="module"></script><script src="/polyfills.b.js" type="module"></script>'
    b'<script src="/main.c.js" type="module"></script></html>',
    "nuxt": b'<!DOCTYPE html><title>Mills</title><div id="__nuxt"></div><script type="module" src="/_nuxt/entry.9.js" '
    b'crossorigin></script><script>window.__NUXT__={config:{app:{baseURL:"/"}}}</script>',
    "next": b'<!DOCTYPE html><title>Mills</title><script src="/_next/static/chunks/main-1.js" defer></script>'
    b'<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"page":"/[slug]"}</script>',
    "gatsby": b'<!DOCTYPE html><title>Mills</title><div id="___gatsby"><div id="gatsby-focus-wrapper"></div></div>'
    b'<script src="/webpack-runtime-1.js" async></script><script src="/app-2.js" async></script>',
    "sveltekit": b'<!doctype html><html lang=en><title>Mills</title><link rel="modulepreload" '
    b'href="/_app/immutable/entry/start.1.js"><div style="display: contents"><script>{__sveltekit_1x={base:""};'
    b'const e=document.currentScript.parentElement;Promise.all([import("/_app/immutable/entry/start.1.js"),'
    b'import("/_app/immutable/entry/app.2.js")]).then(([kit,app])=>kit.start(app,e))}</script></div></html>',
    "ember": b'<!DOCTYPE html><title>Mills</title><meta name="mills/config/environment" content="%7B%7D">'
    b'<script src="/assets/vendor.js"></script><script src="/assets/mills.js"></script>',
    "flutter": b'<!DOCTYPE html><html><base href="/"><title>Mills</title><script src="flutter_bootstrap.js" async>'
    b"</script></html>",
    "blazor": b'<!DOCTYPE html><title>Mills</title><div id="app">Loading...</div>'
    b'<script src="/_framework/blazor.webassembly.js"></script>',
}
"""Frames of applications, which scripts fill in."""

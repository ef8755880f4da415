"""Refusals in codes that look like failures, and documents with codes of refusal (issue 31, points 2 and 7)."""

from typing import Final

from support.misbehaving import Act, Asked, HangUp, Script, reply
from support.pages import prose
from support.reported import (
    DOUBTFUL,
    FINE,
    HOME,
    HOST,
    MISSING,
    NO_FAILURE,
    PATH,
    PDF,
    PICTURE,
    REFUSED,
    WORKS,
    DeadRow,
    Row,
    after,
    at,
    but_robots,
    by_method,
    everywhere,
    header,
    names_html,
    one_in,
    only_here,
    page,
    sent,
    site,
    unless,
)
from support.reported_pages import (
    COOKIE_SCRIPTS,
    HUMAN,
    LOGIN,
    OLD,
    ROUTER,
    SCRIPT,
    SESSION_ROUTER,
    SHELLS,
    SWITCH,
    TESTCOOKIE,
    TO_LOGIN,
    TO_SIGN_IN,
    cookie_page,
)

from weboid.core.record.reasons import Reason


def cookie_then_400(asked: Asked) -> Act:
    if "Cookie" in asked.headers:
        return sent(asked, reply(400, body=SCRIPT))
    return sent(asked, reply(412, "Set-Cookie: k=1", body=SCRIPT))


def moved_to_refusing(code: int, body: bytes = b"no", host: str = "new.mill.demo") -> Script:
    def script(asked: Asked) -> Act:
        if header(asked, "Host").startswith(host):
            return sent(asked, reply(code, body=body) if asked.target == PATH or host[:3] == "new" else HOME)
        return reply(301, f"Location: {at(asked, host, PATH)}") if asked.target == PATH else sent(asked, HOME)

    return script


def no_cookies(asked: Asked) -> Act:
    """A shop that sends who brings no cookie back to a page that says so."""
    if asked.target == "/no_cookies":
        return sent(asked, reply(400, body=page("Cookies are off", "Please allow cookies.")))
    if "token=" in header(asked, "Cookie"):
        return sent(asked, FINE)
    return reply(302, "Location: /no_cookies", "Set-Cookie: token=x; expires=Thu, 01-Jan-1970 00:00:01 GMT")


def to_itself(asked: Asked) -> Act:
    return reply(301, f"Location: {asked.target}")


def to_and_fro(asked: Asked) -> Act:
    other = HOST if header(asked, "Host").startswith("new.") else "new.mill.demo"
    return reply(301, f"Location: {at(asked, other, asked.target)}")


def loops_of_an_edge(asked: Asked) -> Act:
    return sent(asked, reply(423 if asked.count % 2 else 418, body=b"no"))


def documents(code: int, body: bytes, kind: str) -> Script:
    """A host that sends one document with a code of refusal; other paths are missing."""
    return site({PATH: reply(code, body=body, kind=kind), "/": HOME})


def filled(shell: bytes) -> bytes:
    """The frame of an application as a server has filled it in for the front page."""
    return shell.replace(b"<title>", b"<h1>Mills</h1><p>" + 60 * b"of wind and water " + b"</p><title>")


def unread(code: int, length: int) -> bytes:
    """A document in a coding that nobody asked for."""
    return reply(code, "Content-Encoding: br", body=bytes(length))


APOLOGY: Final = "/apology_objects/abuse-detection-apology.html"
ARTICLE: Final = page("The mill race", prose(99))
BANNED: Final = reply(200, body=b"User-agent: *\nDisallow: /", kind="text/plain")
LIVING: Final = site({PATH: FINE, "/": HOME})
CHALLENGE: Final = page("Just a moment...", "Checking if the site connection is secure.") + (
    b'<div class="cf-browser-verification cf-im-under-attack"><noscript><h1>Please turn JavaScript on and reload the '
    b"page.</h1></noscript></div>"
)
WAF_202: Final = reply(202, "x-amzn-waf-action: challenge", body=b"")
CAPTCHA: Final = reply(405, "x-amzn-waf-action: captcha", body=b"<script>window.gokuProps={}</script>")
DENIED: Final = page("Request Denied", "Your request was denied by the security policy. Incident id: 4711.")
SAME_CODE: Final = (400, 402, 405, 408, 409, 411, 412, 413, 414, 415, 416, 417, 418, 420, 421, 422, 423, 424, 425, 426,
    428, 430, 431, 440, 444, 449, 456, 460, 463, 468, 472, 484, 493, 494, 495, 496, 497, 498, 499, 501, 505, 506,
    512, 513, 529, 533, 539, 555, 561, 567, 590, 598, 599, 600, 666, 999)  # fmt: skip
"""Codes about the request, of filters and of no standard: of a whole host they are a refusal."""

REFUSALS: list[Row] = [
    ("meta400 WenyuChiou/awesome-agentic-ai-zh#101", but_robots(everywhere(400)), REFUSED),
    ("ua-sniff-400-all stevenvachon/broken-link-checker#210", everywhere(400, body=OLD), REFUSED),
    ("ua-sniff-400-moved linkchecker/linkchecker#525", moved_to_refusing(400, OLD), REFUSED),
    ("ua-400-all pawroman/links#8", but_robots(everywhere(400, body=b"")), REFUSED),
    ("mtls-400-all kubernetes/ingress-nginx#7176",
     everywhere(400, body=page("400 No required SSL certificate was sent", "nginx")), REFUSED),
    ("rate-400 yasserg/crawler4j#395", after(2, reply(400, body=b"no"), LIVING), NO_FAILURE),
    ("rs412 jae-jae/QueryList#150", everywhere(412, "Set-Cookie: k=1", body=SCRIPT), REFUSED),
    ("rs412-deep a sibling", only_here(reply(412, "Set-Cookie: k=1", body=SCRIPT)), REFUSED),
    ("rs412-front-503 a sibling", site({"/": reply(503)}, reply(412, body=b"no")), REFUSED),
    ("rs412-then-400 zaxtyson/CDUT_SelectCourse#1", cookie_then_400, REFUSED),
    ("rate-412 iiicebearrr/spiders-for-all#36",
     everywhere(412, body=b'{"code":-412}', kind="application/json"), REFUSED),
    ("h2only505 jprante/netty-http#1", everywhere(505), REFUSED),
    ("h2only505-robots smxiazi/xia_Yue#10", but_robots(everywhere(505, body=b"")), REFUSED),
    ("cdn-409-all getlantern/lantern#1739", everywhere(409, body=b"error code: 1001"), REFUSED),
    ("cdn-409-moved a sibling", moved_to_refusing(409), REFUSED),
    ("sni-421-all ros2/ros2_documentation#6092", everywhere(421), REFUSED),
    ("sni-421-some haproxy/haproxy#3133", one_in(30, reply(421, body=b"no"), LIVING), NO_FAILURE),
    ("busy-425 setnicka/ulozto-downloader#137", everywhere(425), REFUSED),
    ("upgrade-426-all linkchecker/linkchecker#895", everywhere(426, "Upgrade: h2,h2c", body=b"Upgrade Required"),
     REFUSED),
    ("edge-423-418 edgeone.ai/document/58009", loops_of_an_edge, REFUSED),
    ("edge-567 reqable/reqable-app#2045", everywhere(567, body=page("The request was intercepted")), REFUSED),
    ("prog-529-days ssllabs/ssllabs-scan#1011", after(1, reply(529, body=b""), LIVING), NO_FAILURE),
    ("custom-441 gjtorikian/html-proofer#584", everywhere(441, body=b""), REFUSED),
    ("custom-441-deep a sibling", only_here(reply(441, body=b"")), REFUSED),
    ("code-469 Ekultek/WhatWaf#1272", only_here(reply(469, body=page("Illegal Application Element"))), REFUSED),
    ("code-999 dkhamsing/awesome_bot#165", only_here(reply(999, body=b"<script>1</script>")), REFUSED),
    ("modsec-406 Ekultek/WhatWaf#683", everywhere(406, body=page("Not Acceptable!", "Mod_Security")), REFUSED),
    ("modsec-406-deep sphinx-doc/sphinx#6378", only_here(reply(406, body=b"Not Acceptable")), REFUSED),
    ("cdn-406-incident Ekultek/WhatWaf#1473", everywhere(406, body=page("Not Acceptable", "Incident 4711")), REFUSED),
    ("tengine-405 Ekultek/WhatWaf#1256", everywhere(405, "Set-Cookie: acw_tc=1", body=b"<html>no</html>"), REFUSED),
    ("waf-405-captcha germondai/trawl#82", everywhere(405, "x-amzn-waf-action: captcha"), REFUSED),
    ("waf-405-captcha-deep a sibling", only_here(CAPTCHA), REFUSED),
    ("waf-202-empty germondai/trawl#65", only_here(WAF_202, WAF_202), REFUSED),
    ("waf-202-all Aureliolo/synthorg#2711", everywhere(202, body=b""), NO_FAILURE),
    ("waf-202-some Kilo-Org/kilocode#11016", one_in(3, reply(202, body=b""), LIVING), NO_FAILURE),
    ("challenge-202 nciefeiniu/wenshu#1", everywhere(202, "Set-Cookie: a=1", body=SCRIPT), NO_FAILURE),
    ("challenge-403 PhialsBasement/LibreCrawl#82",
     only_here(reply(403, body=page("Anti-Crawler Protection"))), REFUSED),
    *((f"challenge-{code} {where}", everywhere(code, body=CHALLENGE), REFUSED) for code, where in (
        (429, "a sibling"), (503, "afollestad/nock-nock#52"), (504, "sypets/brofix#289"))),
    ("challenge-501 stevenvachon/broken-link-checker#121", only_here(reply(501, body=b"no")), REFUSED),
    ("interruption-200 unclecode/crawl4ai#1197", everywhere(200, body=page(
        "Pardon Our Interruption", "Something about your browser made us think you were a bot. To regain access, "
        "please make sure that cookies and JavaScript are enabled before reloading the page.")), NO_FAILURE),
    ("cookie-script-200 tempesta-tech/tempesta#536", everywhere(200, body=cookie_page("timer")), NO_FAILURE),
    ("naxsi-200 opnsense/plugins#5656", everywhere(200, body=DENIED), NO_FAILURE),
    ("cf-challenge-403 filiph/linkcheck#122", everywhere(403, "cf-mitigated: challenge"), REFUSED),
    ("cf-rate-403 webrecorder/browsertrix-crawler#1124", after(3, reply(403, body=page(
        "ERROR: The request could not be satisfied", "Request blocked.")), LIVING), NO_FAILURE),
    ("status-403-then-page spatie/crawler#265", everywhere(503, body=b"<script>setTimeout(function(){location.href='/a"
     b"/the-mill-race.html'},5000);document.cookie='ok=1'</script>"), REFUSED),
    ("host-503-tool corona-warn-app/cwa-documentation#542", everywhere(503), NO_FAILURE | {Reason.UNAVAILABLE.outcome}),
    ("shop-503-captcha HongPong/broken-link-checker#27", only_here(reply(503, body=page("Robot Check", "Enter the "
     "characters you see below") + b'<form action="/errors/validateCaptcha"><input name=field></form>')), REFUSED),
    ("self-301-all linkchecker/linkchecker#199", to_itself, REFUSED),
    ("self-301-all-but-robots hasgeek/baseframe#361", but_robots(to_itself), REFUSED),
    ("head-500-get-403 lycheeverse/lychee#799", by_method(everywhere(500), everywhere(403)), REFUSED),
    *((f"ua-{code} webrecorder/browsertrix-crawler#719", everywhere(code, body=HUMAN), REFUSED) for code in (404, 410)),
    ("no-cookies-400 laterpay/laterpay-wordpress-plugin#334", no_cookies, NO_FAILURE),
    *((f"{code}-login metal3-io/metal3-io.github.io#527", only_here(reply(code, body=to)), REFUSED) for code, to in (
        (404, TO_LOGIN), (404, TO_SIGN_IN), (400, LOGIN), (410, LOGIN))),
    ("404-login-form a sibling", everywhere(404, body=LOGIN), REFUSED),
    *((f"login-{code} {where}", moved_to_refusing(code, host="login.mill.demo"), DOUBTFUL) for code, where in (
        (400, "ministryofjustice/cloud-platform-user-guide#719"), (404, "stevenvachon/broken-link-checker#47"))),
    *((f"testcookie-{code} kyprizel/testcookie-nginx-module#68", everywhere(code, body=TESTCOOKIE), NO_FAILURE)
      for code in (200, 202, 307, 403, 404, 412, 503)),
    ("ua-400-iis sonata-project/SonataGoutteBundle#10", everywhere(400, "Server: Microsoft-IIS/7.0"), REFUSED),
    ("464-all connectrpc/connectrpc.com#67", but_robots(everywhere(464, body=b"")), REFUSED),
    ("script-alone a sibling", only_here(reply(404, body=b"<html><script>" + 90 * b"var a=[1];b(a);" + b"</script>")),
     REFUSED),
    ("private-redirect ooni/probe#605", everywhere(302, "Location: http://192.168.1.1/blocked"), DOUBTFUL),
    ("xlsx-200-odd-path internetarchive/iari#879",
     site({PATH: reply(200, body=b"PK\x03\x04", kind="application/vnd.ms-excel")}), WORKS),
    *((f"{code}-all a sibling", everywhere(code), REFUSED) for code in SAME_CODE),
    *((f"{code}-but-robots a sibling", but_robots(everywhere(code, body=b"")), REFUSED) for code in (409, 412, 421)),
    *((f"{code}-cookie-{name} modx-pro/miniShop2#71", only_here(reply(code, body=cookie_page(name))), REFUSED)
      for code in (404, 412, 503) for name in COOKIE_SCRIPTS),
    # The frame of an application, and routers.
    *((f"spa-404-{name}-{slug}", script, DOUBTFUL) for name, shell in SHELLS.items() for slug, script in (
        ("same rafgraph/spa-github-pages#30", only_here(reply(404, body=shell), reply(200, body=shell))),
        ("moved sveltejs/kit#4278", only_here(reply(404, body=shell + b"<i>...</i>"), reply(200, body=shell))),
        ("rendered AOSSIE-Org/OrgExplorer#203", only_here(reply(404, body=shell), reply(200, body=filled(shell)))),
        ("banned cncf/landscapeapp#64", site({"/robots.txt": BANNED, "/": HOME}, reply(404, body=shell))),
        ("front a sibling", site({}, reply(404, body=shell))))),
    *((f"spa-404-html-{code} a pair", unless(names_html, code, fine=reply(404, body=SHELLS["vite"])), DOUBTFUL)
      for code in (400, 404)), ("localhost a sibling", unless(names_html, 302, "Location: http://localhost/"), WORKS),
    ("305 a sibling", unless(names_html, 305), WORKS),
    ("spa-404-br canonical/ubuntu.com#13980", only_here(unread(404, 900), unread(200, 900)), DOUBTFUL),
    ("spa-404-script isaacs/github#408", only_here(reply(404, body=ROUTER)), DOUBTFUL),
    ("spa-404-session rafgraph/spa-github-pages#7", only_here(reply(404, body=SESSION_ROUTER)), DOUBTFUL),
    ("moved-404-switch checkstyle/checkstyle#15949", only_here(reply(404, body=SWITCH)), DOUBTFUL),
    # Documents with a code of refusal, or with 404.
    *((f"document-{code} {where}", site({PATH: reply(code, body=ARTICLE), "/": HOME}), DOUBTFUL) for code, where in (
        (404, "evilpie/404-bookmarks#13"), (500, "remix-run/react-router#13686"), (504, "prerender/prerender#485"))),
    ("apology-404 Open-Systems-Pharmacology/docs#342", lambda asked: sent(asked, reply(
        404 if asked.target == APOLOGY else 302, f"Location: {APOLOGY}", body=b"Not found")), REFUSED),
    *(row for code in (401, 403, 406, 418) for row in (
        (f"pdf-{code}-all a sibling", only_here(reply(code, body=PDF, kind="application/pdf"), HOME), REFUSED),
        (f"pdf-{code} submariner-io/submariner-website#1285", documents(code, PDF, "application/pdf"), WORKS),
        (f"picture-{code} a sibling", documents(code, PICTURE, "image/png"), WORKS))),
    *((f"{kind}-403 a sibling", documents(403, PDF, kind), WORKS) for kind in (
        "audio/mpeg", "video/mp4", "application/zip", "application/vnd.ms-excel", "font/woff2",
        "application/octet-stream")),
    ("pdf-404 cakephp/cakephp#7280", documents(404, PDF, "application/pdf"), WORKS),
    ("picture-404 atmos/camo#75", documents(404, PICTURE, "image/png"), WORKS),
    ("pdf-403-html a sibling", documents(403, page("Forbidden"), "text/html"), REFUSED),
    ("hang-up-403 a sibling", lambda a: HangUp() if a.method == "HEAD" else reply(403, body=b"no"), REFUSED),
]  # fmt: skip

DEAD: list[DeadRow] = [
    ("a 404 of a host that works", only_here(MISSING), Reason.NOT_FOUND),
    ("a 404 of a host that is all 404", everywhere(404), Reason.NOT_FOUND),
    ("a 404 with a wall's words of a host that works", only_here(reply(404, body=HUMAN)), Reason.NOT_FOUND),
    ("a 404 in a coding that was not asked for: dillo-browser/dillo#377", only_here(unread(404, 900), unread(200, 901)),
     Reason.NOT_FOUND),
    ("a 404 with a text, where made-up URLs are fine", site({PATH: reply(404, body=ARTICLE)}, HOME), Reason.NOT_FOUND),
    ("a 404 that has its URL for a title, and the text of all", lambda asked: sent(asked, reply(
        404, body=page(asked.target, prose(99)))), Reason.NOT_FOUND),
    ("a 404 with other news each time", lambda asked: sent(asked, reply(
        404, body=page("Millers", prose(99, 999 * asked.count)))), Reason.NOT_FOUND),
    ("a 404 in the language that is asked for", lambda asked: sent(asked, reply(404, body=page(
        header(asked, "Accept-Language"), prose(99, 999 * (header(asked, "Accept-Language") == "en"))))),
     Reason.NOT_FOUND),
    ("a 404 that says so, with its URL and other news", lambda asked: sent(asked, reply(
        404, body=page(f"{asked.target}: error 404", prose(99, 999 * asked.count)))), Reason.NOT_FOUND),
    ("a wiki's page that was deleted", site({PATH: reply(404, body=page(
        "The mill", "This page has been deleted. Its log follows. " + prose(99)))}, reply(404)), Reason.NOT_FOUND),
    ("a 404 of a part of the site", lambda asked: reply(301, "Location: /forum2/mill.html") if asked.target == PATH
     else sent(asked, reply(404, body=ARTICLE if asked.target.startswith("/forum2/") else b"no")), Reason.NOT_FOUND),
    ("a 404 in a coding, of any length", lambda asked: sent(asked, unread(404, 900 + asked.count)), Reason.NOT_FOUND),
    *((f"a 500 called {title}", site({PATH: reply(500, body=page(title, prose(99))), "/": HOME}), Reason.SERVER_ERROR)
      for title in ("Runtime trouble", "KeyError at /the-mill-race.html", "Ach | The mill race", "mill.demo fails")),
    ("a 500 of a race everywhere", only_here(reply(500, body=page("No race", prose(99)))), Reason.SERVER_ERROR),
    ("a 500 of a login", moved_to_refusing(500, host="login.mill.demo"), Reason.SERVER_ERROR),
    ("a 404 of its own login", lambda asked: reply(302, "Location: /login?next=a") if asked.target == PATH else sent(
        asked, MISSING), Reason.NOT_FOUND),
    ("a 410", only_here(reply(410, body=b"gone")), Reason.GONE),
    ("a 404 of Varnish itself: alphagov/govuk-cdn-config#107", only_here(reply(404, "Retry-After: 5")),
     Reason.NOT_FOUND),
    ("a name that Fastly does not know: mpv-player/mpv#4395", everywhere(500, "Retry-After: 0"), Reason.SERVER_ERROR),
    *((f"{code} on all paths", everywhere(code), reason) for code, reason in [
        (500, Reason.SERVER_ERROR), (502, Reason.GATEWAY), (504, Reason.GATEWAY), (503, Reason.UNAVAILABLE),
        *((code, Reason.SERVER_ERROR) for code in (507, 508, 510, 511, *range(520, 528), 530))]),
    *((f"a {code} of a host that works", only_here(reply(code, body=b"no")), reason) for code, reason in [
        (400, Reason.BAD_REQUEST), (409, Reason.STRANGE_CODE), (412, Reason.STRANGE_CODE), (408, Reason.TIMEOUT),
        (505, Reason.SERVER_ERROR), (529, Reason.SERVER_ERROR), (421, Reason.STRANGE_CODE), (426, Reason.BAD_REQUEST)]),
    *(("a 400 of a host whose front page fails", only_here(reply(400, body=b"no"), front), Reason.BAD_REQUEST)
      for front in (MISSING, reply(500))),
    ("a page alone that leads to itself: ietf-tools/datatracker#8470", only_here(reply(301, f"Location: {PATH}")),
     Reason.REDIRECT_LOOP),
    ("a circle of two hosts", to_and_fro, Reason.REDIRECT_LOOP),
    ("a 404 behind a cookie, as encode/httpx#821", lambda asked: reply(500) if asked.target == "/robots.txt" else sent(
        asked, MISSING if "Cookie" in asked.headers else reply(302, f"Location: {PATH}", "Set-Cookie: a=1")),
     Reason.NOT_FOUND),
    *((f"a 404 with the scripts of {name}, and says so", only_here(
        reply(404, body=shell + b"<h1>Page not found</h1>"), reply(200, body=shell)), Reason.NOT_FOUND)
      for name, shell in SHELLS.items()),
    *((f"a 404 with the frame of {name}, of a site of another kind", only_here(reply(404, body=shell)),
       Reason.NOT_FOUND) for name, shell in SHELLS.items()),
    ("a 404 with the site's script, and few words", only_here(
        reply(404, body=b"<title>Mills</title><script src=/app.js></script><p>Oh dear!</p>"),
        reply(200, body=page("Mills") + b"<script src=/app.js></script>")), Reason.NOT_FOUND),
    *((f"a 404 that leads to {place!r}", only_here(reply(404, body=b"<script>location.href='%b'</script>" % place)),
       Reason.NOT_FOUND) for place in (b"/", b"http://[mill/")),
    ("a 404 that sets a cookie, and has a text", only_here(
        reply(404, body=page("Not found") + b"<script>document.cookie='seen=1'</script>")), Reason.NOT_FOUND),
    ("a 404 with a form to log in", only_here(
        reply(404, body=page("Not found") + b"<script>location.hash=1</script><a href=/login>")), Reason.NOT_FOUND),
    ("a 404 that is nothing but a counter", only_here(reply(404, body=b"<html><script>count('a')</script></html>")),
     Reason.NOT_FOUND),
    ("a 410 that leads to the front page and sets a cookie", only_here(reply(
        410, body=b"<script>document.cookie='gone=1';location.href=location.origin</script>")), Reason.GONE),
    ("a 404 that throttles who asks again", lambda asked: sent(
        asked, reply(429, "Retry-After: 1") if "text/html" in header(asked, "Accept") else MISSING), Reason.NOT_FOUND),
    ("a page that has moved to a host where it is missing", lambda asked: sent(asked, reply(
        301, f"Location: {at(asked, 'new.mill.demo', PATH)}") if header(asked, "Host").startswith(HOST) else MISSING),
     Reason.NOT_FOUND),
]  # fmt: skip

"""Living pages that fail by the headers of a request only, as public reports describe them (issue 31, point 1)."""

import re

from support.misbehaving import Act, Asked, HangUp, Silence, reply
from support.reported import (
    FINE,
    MISSING,
    NO_FAILURE,
    PATH,
    REFUSED,
    WORKS,
    Row,
    accepts,
    at,
    but_robots,
    by_method,
    everywhere,
    has_star,
    header,
    is_plain_tag,
    names_html,
    only_here,
    page,
    sent,
    site,
    speaks,
    unless,
)


def star_redirect(asked: Asked) -> Act:
    lang = speaks(asked).partition(",")[0] or "en"
    if asked.target == f"/en{PATH}":
        return sent(asked, FINE)
    return reply(302, f"Location: /{lang}{PATH}") if asked.target == PATH else sent(asked, MISSING)


def rdf_or_html(asked: Asked) -> Act:
    if asked.target == "/page":
        return sent(asked, FINE)
    return reply(303, "Location: /page") if names_html(asked) else sent(asked, MISSING)


def few_lines(asked: Asked) -> Act:
    if len(asked.headers) > 5:
        return reply(431)
    return sent(asked, FINE if accepts(asked) else reply(403, body=b"no"))


def few_lines_and_a_cookie(asked: Asked) -> Act:
    return few_lines(asked) if "Cookie" in asked.headers else reply(302, f"Location: {asked.target}", "Set-Cookie: k=1")


def heavy_cookies(asked: Asked) -> Act:
    if len(header(asked, "Cookie")) > 4096:
        return reply(400, body=b"Request Header Or Cookie Too Large")
    step = int(asked.target[-1]) if asked.target[-1].isdigit() else 0
    if step == 3:
        return sent(asked, FINE)
    return reply(302, f"Location: /s{step + 1}", *(f"Set-Cookie: c{step}{n}={'x' * 3000}" for n in range(2)))


def locale_cookie(asked: Asked) -> Act:
    if "currentLocale=" in header(asked, "Cookie"):
        return sent(asked, FINE)
    return reply(302, f"Location: {asked.target}", "Set-Cookie: currentLocale=en; path=/")


def cookie_bounce(asked: Asked) -> Act:
    if asked.target.startswith("/ajax/"):
        return reply(301, f"Location: {PATH}", "Set-Cookie: _language=de; path=/")
    return (
        sent(asked, FINE)
        if "_language=" in header(asked, "Cookie")
        else reply(301, f"Location: /ajax/change?lang=de&url={PATH}")
    )


def no_tag_loop(asked: Asked) -> Act:
    return sent(asked, FINE) if re.match("[a-z]{2}", speaks(asked)) else reply(307, f"Location: {asked.target}")


def loop_between_locales(asked: Asked) -> Act:
    """Without a locale that it knows, it sends from one path to the other and back."""
    if is_plain_tag(asked):
        return sent(asked, FINE)
    return reply(307, f"Location: {PATH if asked.target != PATH else '/en' + PATH}")


def header_order(asked: Asked) -> Act:
    names = [*asked.headers]
    return sent(asked, FINE) if names.index("Accept") < names.index("Accept-Encoding") else Silence()


def old_browser(asked: Asked) -> Act:
    if "Mozilla" in header(asked, "User-Agent"):
        return reply(302, f"Location: {PATH if asked.target != PATH else '/update'}")
    return sent(asked, FINE)


def head_matrix(asked: Asked) -> Act:
    if not header(asked, "User-Agent"):
        return reply(999)
    return reply(404) if asked.method == "HEAD" else FINE


def everything_at_once(asked: Asked) -> Act:
    """No HEAD, a locale from the header, a cookie that must come back, and HTML for those who name it only."""
    if asked.method == "HEAD":
        return reply(501)
    if asked.target == PATH:
        return reply(302, f"Location: /{speaks(asked)}{PATH}", "Set-Cookie: seen=1; path=/")
    is_fine = asked.target == f"/en{PATH}" and "seen=1" in header(asked, "Cookie") and names_html(asked)
    return FINE if is_fine else reply(404, body=b'{"errors":[{"detail":"Not Found"}]}', kind="application/json")


def other_host_by_language(asked: Asked) -> Act:
    """A site whose languages are hosts of their own; the star leads to a host that does not exist."""
    if header(asked, "Host").startswith("en."):
        return sent(asked, FINE)
    tag = "en" if is_plain_tag(asked) else "any"
    return reply(302, f"Location: {at(asked, f'{tag}.mill.demo', PATH)}")


def strange_host(asked: Asked) -> Act:
    return sent(asked, FINE if header(asked, "Host").startswith("en.") else reply(404, body=b"no such site"))


def no_such_language(asked: Asked) -> Act:
    return strange_host(asked) if header(asked, "Host").startswith("any.") else other_host_by_language(asked)


def moved_to_picky(asked: Asked) -> Act:
    """Another host, which is picky, is where the page has moved to."""
    if header(asked, "Host").startswith("new."):
        return sent(asked, FINE if names_html(asked) and not has_star(asked) else reply(404, body=b"no"))
    return reply(301, f"Location: {at(asked, 'new.mill.demo', PATH)}")


def meta_to_picky(asked: Asked) -> Act:
    if asked.target == PATH:
        return sent(asked, reply(200, body=b'<meta http-equiv=refresh content="0; url=/new.html">'))
    return sent(asked, FINE if names_html(asked) else reply(415, body=b"no"))


def gzip_and_deflate(asked: Asked) -> bool:
    return {"gzip", "deflate"} <= set(re.findall("[a-z]+", header(asked, "Accept-Encoding")))


def no_cache_lines(asked: Asked) -> bool:
    return "Cache-Control" not in asked.headers


front_or_html = unless(lambda asked: asked.target == "/" or names_html(asked), 415)
BROTLI = reply(200, "Content-Encoding: br", body=b"\x0b\x02\x80hello\x03")
HEADERS: list[Row] = [
    # Accept.
    ("accept404 getzola/zola#384", unless(names_html, 404), WORKS),
    ("accept404-head agent-ecosystem/skill-validator#45", by_method(everywhere(404), unless(names_html, 404)), WORKS),
    ("accept404-linkcheck sphinx-doc/sphinx#5140", but_robots(unless(names_html, 404)), WORKS),
    ("accept-html-json404 becheran/mlc#20", unless(names_html, 404, "Set-Cookie: a=1", body=b"{}"), WORKS),
    ("accept-html-415 pearsonlab/pearsonlab.github.io#52", front_or_html, WORKS),
    ("accept-415-all hypothesis/h#5677", unless(names_html, 415), WORKS),
    ("accept-html-400 a sibling", unless(names_html, 400), WORKS),
    ("accept-html-410 a sibling", unless(names_html, 410), WORKS),
    ("accept-html-500 a sibling", unless(names_html, 500), WORKS),
    ("accept-html-406 SonarSource/rspec#1194", unless(names_html, 406), WORKS),
    ("accept-star-406 spring-projects/spring-framework#23287", unless(names_html, 406, body=b"{}"), WORKS),
    ("accept-star-406-then-500 spring-projects/spring-boot#13687", unless(lambda a: names_html(a) and a.count > 3, 406),
     NO_FAILURE),
    ("accept-406-sometimes philipbkemp/PHP-Validator#33", unless(lambda a: a.count % 2 == 0, 406), NO_FAILURE),
    ("accept-rdf-or-html-404 MyProfile/myprofile#20", rdf_or_html, WORKS),
    ("accept-browser-406 rust-lang/rustc-dev-guide#1586", unless(lambda a: accepts(a) == "*/*", 406), WORKS),
    ("accept-431-then-accept LAW-Unimi/BUbiNG#1", few_lines, WORKS),
    ("accept-431-and-cookie a sibling", few_lines_and_a_cookie, WORKS),
    ("cookie-431 blockscout/frontend#2819", lambda a: only_here(
        reply(431) if "Cookie" in a.headers else reply(302, f"Location: {PATH}", f"Set-Cookie: k={'x' * 4000}"))(a),
     REFUSED),
    ("accept-missing-xml-500 rails/rails#20666", unless(lambda a: names_html(a) or "*/*" in accepts(a), 500), WORKS),
    ("accept-missing-mozilla-403 wummel/linkchecker#395",
     unless(lambda a: bool(accepts(a)) or "Mozilla" not in header(a, "User-Agent"), 403), WORKS),
    ("accept-missing-403 wjdp/htmltest#68", unless(lambda a: bool(accepts(a)), 403), WORKS),
    ("accept-wall a sibling", unless(names_html, 404, fine=reply(403, body=b"no")), REFUSED),
    ("accept-login a sibling", unless(names_html, 404, fine=reply(401, body=b"no")), REFUSED),
    ("accept-moved a sibling", moved_to_picky, WORKS),
    ("accept-refresh a sibling", meta_to_picky, WORKS),
    # Accept-Language.
    ("langstar500 internetarchive/infogami#207", unless(lambda a: not has_star(a), 500), WORKS),
    ("langstar404 a sibling", unless(lambda a: not has_star(a), 404), WORKS),
    ("nextintl500 amannn/next-intl#192", unless(lambda a: speaks(a) not in ("", "*"), 500), WORKS),
    ("lang-tag-404 mozilla/bedrock#11538", unless(lambda a: speaks(a)[:2] in ("en", "fr", "de"), 404), WORKS),
    ("lang-first-enfr-500 ocaml/ocaml.org#205", unless(lambda a: speaks(a)[:2] in ("en", "fr"), 500), WORKS),
    ("lang-star-redirect vercel/next.js#58556", star_redirect, WORKS),
    ("lang-unparsed-500 Sage-Bionetworks/BridgePF#1065", but_robots(unless(is_plain_tag, 500)), WORKS),
    ("lang-unparsed-400 FusionAuth/java-http#4", unless(is_plain_tag, 400), WORKS),
    ("lang-none-406 belgif/rest-guide#205", unless(lambda a: "en" in speaks(a), 406), WORKS),
    ("lang-missing-404 manuzhang/mkdocs-htmlproofer-plugin#44", unless(lambda a: bool(speaks(a)), 404), WORKS),
    ("lang-missing-500 tinganho/express-request-language#8", unless(lambda a: bool(speaks(a)), 500), WORKS),
    ("lang-missing-500-404 GamerNoTitle/Valora#19",
     lambda a: sent(a, reply(500) if not speaks(a) else site({PATH: FINE})(a)), WORKS),
    ("lang-no-tag-loop JesusFilm/core#2516", no_tag_loop, WORKS),
    ("lang-locale-loop vercel/next.js#55648", loop_between_locales, WORKS),
    ("lang-host a sibling", no_such_language, WORKS),
    ("lang-cookie-loop pkp/pkp-lib#12375", locale_cookie, WORKS),
    ("lang-cookie-bounce codemix/yii2-localeurls#185", cookie_bounce, WORKS),
    # Others, and several at once.
    ("all-at-once a sibling", everything_at_once, WORKS),
    ("many-header-fields-400 ninenines/cowboy#1063", unless(lambda a: len(a.headers) <= 6, 400), WORKS),
    ("cookie-too-large-400 mozilla/glam#1070", heavy_cookies, WORKS),
    ("cache-control-400 a sibling", unless(no_cache_lines, 400), WORKS),
    ("pragma-403 SpiderLabs/owasp-modsecurity-crs#158", unless(lambda a: "Pragma" not in a.headers, 403), WORKS),
    ("range-416 wjdp/htmltest#164", unless(lambda a: "Range" not in a.headers, 416), WORKS),
    ("enc-head-500 etalab/croquemort#14", by_method(everywhere(500), unless(lambda a: True, 500)), WORKS),
    ("enc-br-unasked canonical/ubuntu.com#13980", site({PATH: BROTLI}), WORKS),
    ("enc-gzip-needed searx/searx-docker#32", unless(gzip_and_deflate, 403), WORKS),
    ("enc-needed-403 arduino/arduino-lint#386", unless(lambda a: "Accept-Encoding" in a.headers, 403), WORKS),
    ("header-order-hang harvard-lil/perma#2779", header_order, WORKS),
    ("ua-word-link-403 projectbenyehuda/bybe#1594",
     unless(lambda a: "link" not in header(a, "User-Agent"), 403), WORKS),
    ("ua-url-403 OWASP/Nettacker#450", unless(lambda a: "http" not in header(a, "User-Agent"), 403), WORKS | REFUSED),
    ("ua-none-502 ministryofjustice/cloud-platform-user-guide#774",
     unless(lambda a: bool(header(a, "User-Agent")), 502), WORKS),
    ("ua-old-browser-loop tcort/link-check#46", old_browser, WORKS),
    ("ua-unsupported-302 tomnomnom/meg#4",
     site({PATH: reply(302, "Location: /browser-not-supported"),
           "/browser-not-supported": reply(200, body=page("Your browser is not supported"))}), NO_FAILURE),
    ("ua-head-matrix sphinx-doc/sphinx#2988", head_matrix, WORKS),
    ("head-404 repology/repology-updater#211", by_method(everywhere(404), site({PATH: FINE})), WORKS),
    ("head-404-docs dart-lang/pub-dev#1246", by_method(everywhere(404), site({PATH: FINE}, FINE)), WORKS),
    ("head-302-error wummel/linkchecker#418",
     by_method(site({PATH: reply(302, "Location: /error.aspx")}), site({PATH: FINE})), WORKS),
    ("accept-reset sbstp/attohttpc#26", lambda a: sent(a, FINE) if names_html(a) else HangUp(reset=True), WORKS),
    ("accept-reset-403 a sibling", lambda a: sent(a, reply(403)) if names_html(a) else HangUp(), REFUSED),
    ("head-closed sphinx-doc/sphinx#9306", lambda a: HangUp() if a.method == "HEAD" else FINE, WORKS),
    ("secfetch-get-403 doc-detective/doc-detective#253",
     by_method(site({PATH: FINE}), unless(lambda a: "Sec-Fetch-Mode" in a.headers, 403)), WORKS | REFUSED),
    ("own-referer-403 eligrey/hotlink.js#4",
     unless(lambda a: "mill.demo" in header(a, "Referer"), 403), WORKS | REFUSED),
    ("foreign-referer-403 ballerburg9005/wget-2-zim#4", unless(lambda a: "Referer" not in a.headers, 403), WORKS),
]  # fmt: skip

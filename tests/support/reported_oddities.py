"""Codings, framings, charsets, titles and robots.txt as users of other tools have reported them."""

import gzip
import zlib
from collections.abc import Sequence
from typing import Final

from support.misbehaving import Act, Asked, HangUp, Script, head_only, reply
from support.reported_servers import FINE, GONE, PAGE, PATH, TARGET, TEXT, Row, at, doc, page_of, raw, stream, works

ALSO: Final = "Connection: close"
RAW_DEFLATE: Final = zlib.compress(PAGE)[2:-4]
GZIPPED: Final = gzip.compress(PAGE)


def coded(coding: str, body: bytes, *lines: str) -> Script:
    return doc(reply(200, f"Content-Encoding: {coding}", *lines, body=body))


META: Final = '<meta http-equiv="Content-Type" content="{}">'


def titled(title: str, charset: str, meta: str, kind: str = "text/html") -> Script:
    """A page with a title in a charset, and what it says of that."""
    return doc(reply(200, body=f"{meta}<title>{title}</title>".encode(charset) + PAGE, kind=kind))


def head_without_end(asked: Asked) -> Act:
    if asked.target == PATH:
        return stream(b"HTTP/1.1 301 Moved Permanently\r\nLocation: /target\r\n")
    return head_only(asked, FINE if asked.target == TARGET else GONE)


TITLES: Final = {
    "title-none a sibling": f"<html>{TEXT}",
    "title-twice a sibling": f"<title></title><title>Mill</title>{TEXT}",
    "title-in-svg a sibling": f"<svg><title>404</title></svg><title>Mill</title>{TEXT}",
    "title-404-article a sibling": f"<title>The 404 bus line of the town</title>{TEXT}",
}
ANSWERS: Final = {
    "length-twice cypress-io/cypress#16314": page_of(PAGE, f"Content-Length: {len(PAGE)}"),
    "length-twice-other web-platform-tests/wpt#10548": page_of(PAGE, "Content-Length: 3", ALSO),
    "length-too-small a sibling": reply(200, "Content-Length: 20", ALSO, body=None) + PAGE,
    "line-without-colon sbstp/attohttpc#96": page_of(PAGE, "PHP Warning  PHP Startup, Unable to load library"),
    "line-doctype seanmonstar/httparse#61": page_of(PAGE, "<!DOCTYPE html PUBLIC>"),
    "name-with-space seanmonstar/httparse#88": page_of(PAGE, "Access-Control-Allow-Credentials : true"),
    "folded-cookie kazuho/p5-http-parser-xs#10": page_of(PAGE, "Set-Cookie: a=b\r\n    X: ctu; path=/; Max-Age=900"),
    "status-in-headers measurement-kit/measurement-kit#1196": page_of(
        PAGE, "Status: 200", "Expires : Wed, 19 Apr 2017"
    ),
    "type-none a sibling": reply(200, body=PAGE, kind=None),
    "type-nonsense a sibling": reply(200, body=PAGE, kind="html"),
    "type-twice a sibling": reply(200, "Content-Type: text/plain", body=PAGE),
    "charset-none bda-research/node-crawler#320": reply(200, body=PAGE, kind="text/html; charset=none"),
    "charset-utf7 restsharp/RestSharp#2262": reply(200, body=PAGE, kind="text/html; charset=utf-7"),
    "utf16 a sibling": reply(200, body=PAGE.decode().encode("utf-16")),
    "206-to-get GCTC-NTGC/gc-digital-talent#16559": reply(206, "Content-Range: bytes 0-99/100", body=PAGE),
    "204-to-get GCTC-NTGC/gc-digital-talent#16559": reply(204, body=None, kind=None),
    "203 a sibling": reply(203, body=PAGE),
    "299 a sibling": reply(299, body=PAGE),
}
HOSTS: Final = {
    "gzip-plain curl/curl#2368": coded("gzip", PAGE),
    "gzip-plain-then-empty ArchiveTeam/wpull#115": coded("gzip", PAGE + gzip.compress(b"")),
    "gzip-twice yesodweb/yesod#534": coded("gzip", gzip.compress(GZIPPED), "Content-Encoding: gzip"),
    "gzip-said-twice apache/incubator-pagespeed-ngx#456": coded("gzip", GZIPPED, "Content-Encoding: gzip"),
    "gzip-list yhirose/cpp-httplib#993": coded("gzip, gzip", GZIPPED),
    "gzip-identity Orange-OpenSource/hurl#40": coded("gzip, identity", GZIPPED),
    "gzip-cut a sibling": coded("gzip", GZIPPED[:-20]),
    "gzip-and-more a sibling": coded("gzip", GZIPPED + b"\0" * 100),
    "deflate-raw dkhamsing/awesome_bot#140": coded("deflate", RAW_DEFLATE),
    "brotli-unasked koajs/compress#107": coded("br", b"\x0b\x02\x80mill\x03"),
    "zstd-unasked reqable/reqable-app#1701": coded("zstd", b"\x28\xb5\x2f\xfd\x04\x00"),
    "coding-utf8 encode/httpx#195": coded("UTF-8", PAGE),
    "coding-none apify/crawlee#1067": coded("none", PAGE),
    "coding-empty a sibling": coded("", PAGE),
    "length-list web-platform-tests/wpt#10548": raw(
        reply(200, f"Content-Length: {len(PAGE)}, {len(PAGE)}", body=None) + PAGE
    ),
    "length-nonsense a sibling": raw(reply(200, "Content-Length: abc", body=None) + PAGE),
    "length-negative a sibling": raw(reply(200, "Content-Length: -1", body=None) + PAGE),
    "length-none wummel/linkchecker#376": raw(reply(200, body=None) + PAGE),
    "head-twice curl/curl#11802": raw(
        b"HTTP/1.0 200 OK\r\nServer: A\r\nHTTP/1.0 200 OK\r\nContent-type: text/html\r\n\r\n" + PAGE
    ),
    "no-reason mitmproxy/mitmproxy#15": raw(b"HTTP/1.0 200\r\nContent-type: text/html\r\n\r\n" + PAGE),
    "no-headers nodejs/help#447": raw(b"HTTP/1.1 200 OK\r\n\r\n" + PAGE),
    "status-lower-case a sibling": raw(b"http/1.1 200 ok\r\nContent-Type: text/html\r\n\r\n" + PAGE),
    "status-no-code a sibling": raw(b"HTTP/1.1 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE),
    "status-after-bom a sibling": raw(b"\xef\xbb\xbfHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE),
    "head-without-end-200 mnot/redbot#187": raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"),
    "head-without-end nodejs/node#17288": head_without_end,
    "line-feeds a sibling": raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + PAGE),
    "empty-line-first a sibling": raw(b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE),
    "upper-chunked a sibling": raw(
        reply(200, "Transfer-Encoding: Chunked", body=None)
        + b"%X;x=1\r\n%s\r\n0\r\nX-End: 1\r\n\r\n" % (len(PAGE), PAGE)
    ),
    "charset-wrong Norconex/crawler#194": titled("家居", "gb2312", "", "text/html; charset=utf-8"),
    "charset-in-meta projectdiscovery/httpx#167": titled("家居", "gbk", "<meta charset=gbk>"),
    "charset-quoted projectdiscovery/httpx#2591": titled("家居", "gb2312", "", 'text/html; charset="gb2312"'),
    "charset-bare lexmount/moli#156": titled("家", "gbk", META.format("charset=gbk")),
    "charset-1251 mastodon/mastodon#9466": titled("текст", "cp1251", META.format("charset=windows-1251")),
}
CODINGS: Final[Sequence[Row]] = [
    *works(TITLES, lambda markup: doc(page_of(markup))),
    *works(ANSWERS, doc),
    *works(HOSTS),
]


def robots(act: Act, page: Act = FINE) -> Script:
    return at({PATH: page, "/robots.txt": act})


def rules(text: str, code: int = 200, kind: str = "text/plain") -> bytes:
    return reply(code, body=text.encode(), kind=kind)


ROBOTS: Final[Sequence[Row]] = works(
    {
        "robots-403 seomoz/reppy#24": robots(rules("no", 403)),
        "robots-410 brendonboshell/supercrawler#5": robots(rules("gone", 410)),
        "robots-500 apify/crawlee-python#2065": robots(rules("<html>error", 500)),
        "robots-503-disallow Yoko-Co/yoko-crawler#97": robots(rules("User-agent: *\nDisallow: /", 503)),
        "robots-html a sibling": robots(page_of(PAGE)),
        "robots-disallow-all a sibling": robots(rules("User-agent: *\nDisallow: /")),
        "robots-bom a sibling": robots(rules("\ufeffUser-agent: *\r\nDisallow: /x\r\n")),
        "robots-loop a sibling": robots(reply(302, "Location: /robots.txt")),
        "robots-hangs-up a sibling": robots(HangUp()),
        "robots-to-itself-in-doc a sibling": robots(reply(302, f"Location: {PATH}")),
        "robots-huge a sibling": robots(rules("# mill\n" * 200_000)),
        "robots-gzip-lie a sibling": robots(reply(200, "Content-Encoding: gzip", body=b"User-agent: *\nDisallow: /")),
    }
)

"""gadget/normal-form.js in a browser: the shared vectors, and the same forms as weboid/core/url/urls.py.

Not among the made-up hosts: Arabic letters with a joiner and letters of other scripts in one label. By UTS 46 browsers
refuse that; the library behind the form in Python lets it pass. No registry has such names.
"""

import gzip
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Page
from support.browser import needs_browser
from support.shared import shared

from weboid.core.url.hosts import MAX_HOST, InvalidUrl
from weboid.core.url.mediawiki import stored_url
from weboid.core.url.urls import MAX_URL, normal

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]

_VECTORS: Final = Path(__file__).parents[1] / "vectors" / "urls.json"
_ROW: Final = re.compile(rb"\(\d+,\d+,'((?:[^'\\]|\\.)*)',(?:'((?:[^'\\]|\\.)*)'|NULL)\)", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)

_SCHEMES: Final = ["http://", "HTTPS://", "//", " ftp://", "sftp://", "ftps:", "mailto:", "//%20@", "//%FF@", "//a@b@"]
_HOSTS: Final = [
    *("3sat.de", "WWW.3sat.de.", "Müller.de", "faß.de", "نامه\u200cای.com", "नेपाली\u200d.org", "a_b.tumblr.com"),
    *("192.0.2.7", "192.0.2.07", "0x7f.1", "１９２.0.2.7", "１２７.1", "[::1]", "[2001:DB8:0:0:1:0:0:7]"),
    *("[::ffff:192.0.2.7]", "[fe80::1%25eth0]", "[::1"),
]
_HOST_PARTS: Final = [
    *("3sat", "com", "de", "xn--", "xn--mller-kva", "1", "0x", "255", "-", "_", "%", "%2e", "%C3%A4", "%C3"),
    *(
        *("%EF%BB%BF", "\u200c", "\u200d", "\u200b", "\xad", "\ufeff", "１", "％", "／", "℀", "/", "\\", ":", "@", "["),
        "]",
    ),
    " ",
    *(".", ".", ".", "\u3002", "\uff0e", "\u2024", "\u2026", "Ä", "ß", "ς", "ſ", "é", "e\u0301", "ﷺ", "א", "\u0663"),
    *("😀", "\ufe0f", "\U000e0101", "\ud800", "<", "#"),
]
_PORTS: Final = ["", "", "", ":", ":80", ":443", ":22", ":0", ":008080", ":65535", ":65536", ":8o", ":８０"]
_TAILS: Final = [
    *"%%%%0123456789abcdefABCDEF/.?#&=+;:@[]\\ \t\n\"<>^`{|}~_-x'ä€😀\ud800\x00\u200b",
    *("%41", "%2e", "%2F", "%25", "%3f", "%c3%a4", "%E2%80%AE", "/../", "/./", "/..", "/."),
]


async def _forms(blank: Page, urls: list[str]) -> list[str | None]:
    """What the gadget makes of each URL."""
    forms: list[str | None] = await blank.evaluate("urls => urls.map( require( './normal-form.js' ).normalForm )", urls)
    return forms


def _form(url: str) -> str | None:
    """What weboid/core/url/urls.py makes of it."""
    try:
        return normal(url)
    except InvalidUrl:
        return None


async def _differences(blank: Page, urls: Iterable[str]) -> list[tuple[str, str | None, str | None]]:
    """The URLs of which the gadget and Python make different forms, with both."""
    # As a browser has a text: two halves of a pair of surrogates that follow each other are one character.
    texts = [url.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for url in urls]
    expected = [_form(url) for url in texts]
    assert len(set(expected)) > len(texts) / 50, "hardly any of them has a form"
    triples = zip(texts, expected, await _forms(blank, texts), strict=True)
    return [(url, form, found) for url, form, found in triples if form != found]


async def test_every_vector_of_the_shared_file_holds(blank: Page) -> None:
    vectors = json.loads(_VECTORS.read_text(encoding="utf-8"))
    forms = await _forms(blank, [vector["url"] for vector in vectors])
    assert [(v["url"], v["normal"], form) for v, form in zip(vectors, forms, strict=True) if v["normal"] != form] == []


async def test_made_up_urls_have_the_form_that_python_gives(blank: Page) -> None:
    chance = random.Random(16)

    def some(of: list[str], most: int) -> str:
        return "".join(chance.choices(of, k=chance.randint(0, most)))

    def host() -> str:
        return chance.choice(_HOSTS) if chance.random() < 0.6 else f"{some(_HOST_PARTS, 5)}.de"

    urls = [
        f"{chance.choice(_SCHEMES)}{host()}{chance.choice(_PORTS)}{some(['/', '?', '/a'], 1)}{some(_TAILS, 25)}"
        for _ in range(10_000)
    ]
    assert await _differences(blank, urls) == []


async def test_urls_at_the_limits_of_length_have_the_form_that_python_gives(blank: Page) -> None:
    label = "a" * 49
    urls = ["http://3sat.de/"]
    for more in (-1, 0, 1):
        urls += [
            "http://3sat.de/" + "a" * (MAX_URL - 15 + more),
            "http://3sat.de/#" + "😀" * (MAX_URL - 16 + more),
            "http://3sat.de/" + "%41" * 1_000 + "ä" * ((MAX_URL - 15 - 1_000) // 6) + "a" * (3 + more),
            " " * 9_000 + "http://3sat.de/" + " " * 9_000,
            f"http://{label}.{label}.{label}.{label}." + "b" * (MAX_HOST - 200 - 3 + more) + ".de/",
            f"http://{label}.{label}.{label}.ä{label[:42]}." + "b" * (MAX_HOST - 200 - 3 + more) + ".de./",
            "http://" + "a" * (63 + more) + ".de/",
            "http://" + "%41" * (MAX_HOST - 3 + more) + ".de/",
            "http://3sat.de:" + "0" * 7_000 + str(65_535 + more) + "/",
        ]
    assert await _differences(blank, urls) == []


@pytest.mark.parametrize("wiki", ["wiki", "ltgwiki"])
async def test_the_links_of_a_real_wiki_have_the_form_that_python_gives(blank: Page, wiki: str) -> None:
    rows = _ROW.findall(gzip.decompress(shared(f"{wiki}/externallinks.sql.gz").read_bytes()))
    urls = {stored_url(*(_ESCAPE.sub(rb"\1", part) for part in row)) for row in rows}
    assert len(urls) > 600
    assert await _differences(blank, sorted(urls)) == []


async def test_megabytes_and_megabytes_of_escapes_are_refused_without_work(blank: Page) -> None:
    took_ms = await blank.evaluate("""() => {
        const { normalForm } = require( './normal-form.js' );
        const start = performance.now();
        for ( const part of [ 'ä', '%41', '[', '@', ' ', '0', '/.', '%%' ] ) {
            for ( const before of [ '', 'http://', 'http://3sat.de:', 'http://3sat.de/' ] ) {
                normalForm( before + part.repeat( 7900 / part.length ) );
                normalForm( before + part.repeat( 1000000 ) + 'x' );
            }
        }
        return performance.now() - start;
    }""")
    assert took_ms < 1_000

"""What an address cannot answer gets a status, a key and words, in its own format, and is kept nowhere (W-8)."""

import json
from collections.abc import Iterator
from typing import Any

from support.listed import WIKI
from support.people import open_browser
from support.webservice import Site

from weboid.assets import toml_next_to

_CASES: dict[str, dict[str, list[tuple[str, int, str]]]] = toml_next_to(__file__)
LONG = (
    ("/api/page", f"{WIKI}&pageid={'|'.join(map(str, range(1, 52)))}", 400, "too-many"),
    ("/api/page", f"{WIKI}&title={'a' * 301}", 404, "title"),
    ("/api/titles", f"{WIKI}&title={'a' * 400}", 404, "title"),
    ("/api/unrepaired", f"{WIKI}&pageid={'|'.join(map(str, range(1, 502)))}", 400, "too-many"),
    ("/api/page", f"{WIKI}&pageid=1&_={'1' * 4000}", 414, "too-long"),
    ("/api/normal", f"url=http://a.demo/{'a' * 4000}", 414, "too-long"),
    ("/url", f"url=http://never.demo/{'a' * 4000}", 414, "too-long"),
)


def cases() -> Iterator[tuple[str, str, int, str]]:
    """Address, query, status and key."""
    for address, of in _CASES.items():
        yield from ((address, query, http, key) for query, http, key in of.get("alone", ()))
        yield from ((address, f"{WIKI}&{query}", http, key) for query, http, key in of.get("wiki", ()))
    yield from LONG


async def test_what_cannot_be_answered_gets_a_key_and_a_text(trusting: Site) -> None:
    wrong: dict[str, Any] = {}
    async with open_browser(trusting.url) as browser:
        await browser.send_form("/url?url=http://a.demo/old", "/url")  # People have sent a form before they look.
        for address, query, http, key in cases():
            path = f"{address}?{query}" + ("" if "lang=" in query else "&lang=qqx")
            trust = {"Authorization": "Bearer known"} if address == "/api/pages" else {}
            async with browser.client.get(f"{trusting.url}{path}", headers=trust) as response:
                body = await response.text()
                kept = response.headers["Cache-Control"]
            if response.content_type == "application/json":
                error = json.loads(body)["error"]
                said, text = error["key"].removeprefix("weboid-error-"), error["text"]
            else:
                text = body.partition("(weboid-error-")[2]
                said = text.partition(")")[0].partition(":")[0]
            if (response.status, said, kept, bool(text)) != (http, key, "no-store", True):
                wrong[path[:100]] = (response.status, said, kept)
    assert wrong == {}

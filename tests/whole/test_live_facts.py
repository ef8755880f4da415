"""Spam lists and missing pages of other wikis, on a real MediaWiki (L-1, L-3)."""

from pathlib import Path

import pytest
from support.matching import make_wiki, open_meeting
from support.mediawiki import Interwiki

pytestmark = pytest.mark.long

_SPAM = "https://shop.spammer.org/offers"
_LINKS = f"[[sister:Main Page]] [[sister:No such page]] [[sister:Talk:Was here]] [[sister:de:Any]] {_SPAM}"


async def test_spam_and_missing_pages_are_those_of_this_second(database: str, tmp_path: Path) -> None:
    with make_wiki() as wiki:
        # The other wiki of the farm is this one, by another name.
        wiki.add_interwikis([Interwiki("sister", f"{wiki.url}/wiki/$1", local=True)])
        wiki.save_pages({"MediaWiki:Spam-blacklist": r"\bspammer\.org", "Harbour": "Quiet.", "Talk:Was here": "Gone."})
        wiki.run("deleteBatch", text="Talk:Was here\n")
        wiki.start()
        async with open_meeting(wiki, database, tmp_path) as meeting:
            # Both pages are edited after the pass, and one is in a namespace that is not watched.
            wiki.save("Harbour", _LINKS)
            wiki.save("User:Somebody", _LINKS)
            found = await meeting.ask("/api/page", title="Harbour|User:Somebody", extent="findings")
    assert len(found["pages"]) == 2
    for page in found["pages"]:
        links = {link["normal"]: (link["verdict"], [hint["kind"] for hint in link["hints"]]) for link in page["links"]}
        assert links == {
            f"{wiki.url}/wiki/No_such_page": ("unknown", ["missing-page"]),
            f"{wiki.url}/wiki/Talk:Was_here": ("unknown", ["missing-page"]),
            _SPAM: ("spam", []),
        }

"""Two wikis with different rules on the same URLs: each is shown its own finding, wherever links are shown (U-11)."""

import csv
import gzip
import json
from typing import Any

from lxml import etree
from support.intakes import record_pages
from support.listed import answer_to, texts
from support.webservice import TODAY, Site, record_weeks

from weboid.core.record.days import iso
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.intake import page_urls
from weboid.maintain.consistency import check_store
from weboid.maintain.dataset import publish
from weboid.maintain.wiki_rules import apply_rules
from weboid.store.archives.wiki_settings import StoredSettings, record_configured, record_settings
from weboid.store.pages.wiki import record_wiki
from weboid.wiki.source import PageLinks

GONE, LISTED, NAMED = "http://dead.demo/own", "http://listed.fine.demo/", "http://fine.demo/named"
PAGE = PageLinks(9, 0, "Page 9", 1, None, (GONE, LISTED, NAMED))
RULES: dict[str, dict[str, Any]] = {
    "slowwiki": {"dead_after": {"strikes": 3, "missing": 28}, "links": {"permadead": [NAMED]}},
    "ownwiki": {"links": {"permadead": [LISTED], "permalive": ["fine.demo"]}},
}
SHOWN = {
    "slowwiki": {GONE: "doubtful", LISTED: "working", NAMED: "dead"},
    "ownwiki": {GONE: "dead", LISTED: "dead", NAMED: "working"},
}


async def fill(site: Site) -> None:
    """One wiki has its rules from its page, the other from configuration; then pages come, and weeks of rounds."""
    site.source.found[PAGE.page] = PAGE
    async with site.wiki.pool.connection() as conn:
        wikis = {name: (await record_wiki(conn, WMFLABS, WikiName(name, "wmflabs"))).wiki for name in RULES}
        text = json.dumps(RULES["slowwiki"])
        await record_settings(conn, StoredSettings(wikis["slowwiki"], 100, text))
        await record_configured(conn, wikis["ownwiki"], json.dumps(RULES["ownwiki"]))
    await apply_rules(site.wiki.pool, 100)
    async with site.wiki.pool.connection() as conn:
        for wiki in wikis.values():
            await record_pages(conn, wiki, [page_urls(PAGE, WMFLABS)], 100)
        await record_weeks(conn, PAGE.urls)
    await publish(site.wiki.pool, TODAY)


async def looked_at(site: Site, name: str) -> dict[str, Any]:
    """What each interface says of the wiki's links: a finding by URL, or the dead ones."""
    wiki = f"dbname={name}@wmflabs"
    (page,) = (await answer_to(site, f"/api/page?{wiki}&pageid=9&all=1"))["pages"]
    script = await site.text(f"/externalLinkProblem?{wiki}&pageid=9")
    (gadget,) = json.loads(script.partition("(")[2].rpartition(")")[0])["pages"]
    body = await site.text(f"/externalLinkInfo?{wiki}&pageid=9&all=1&lang=en")
    listed = await answer_to(site, f"/lists/dead?{wiki}&format=json")
    listing = await site.text(f"/lists/dead?{wiki}&lang=en")
    changes = (await answer_to(site, f"/changes?{wiki}"))["changes"]
    feed = await site.text(f"/feeds/dead?{wiki}")
    async with site.client.get(f"{site.url}/data/statuses-wmflabs-{iso(TODAY)}.csv.gz") as response:
        rows = [*csv.DictReader(gzip.decompress(await response.read()).decode().splitlines())]
    shown = [*SHOWN[name]]
    return {
        "page": {link["normal"]: link["verdict"] for link in page["links"]},
        "counts": page["counts"]["dead"],
        "gadget": {link["normal"]: link["verdict"] for link in gadget["links"]},
        "html": {
            url: word
            for word in ("dead", "doubtful", "working")
            for url in shown
            if texts(body, f'//tr[starts-with(@class, "link {word}")][contains(., "{url}")]')
        },
        "list": {link["normal"] for each in listed["pages"] for link in each["links"]},
        "list in HTML": {url for url in shown if texts(listing, f'//li[@class="link dead"][contains(., "{url}")]')},
        "changes": {each["link"]["normal"] for each in changes if each["link"]["verdict"] == "dead"},
        "feed": {url for url in shown if url in str(etree.fromstring(feed.encode()).xpath("string()"))},
        "data set": {row["host"] for row in rows if row["wiki"].startswith(name) and int(row["dead"])},
    }


async def test_each_wiki_is_shown_what_holds_by_its_own_rules(site: Site) -> None:
    await fill(site)
    for after in ("the rounds", "a check of the store"):
        for name, shown in SHOWN.items():
            dead = {url for url, word in shown.items() if word == "dead"}
            found = await looked_at(site, name)
            assert (found["page"], found["html"], found["counts"]) == (shown, shown, len(dead)), (name, after)
            assert found["gadget"] == dict.fromkeys(dead, "dead")
            for each in ("list", "list in HTML", "changes", "feed"):
                assert found[each] == dead, (name, each, after)
            assert found["data set"] == {url.split("/")[2] for url in dead}
        done = await check_store(site.wiki.pool, TODAY, repairs=True)
        assert {*done.found} <= {"next-day"}, (
            done.described
        )  # `record_weeks` leaves the next days of hosts as they were

"""Copies in web archives where they are shown: pages, payloads, feeds, lists, search, the page of a URL (A-1, W-8)."""

import json
from urllib.parse import quote

import pytest
from lxml import etree
from support.copies import NUMBERS, Said, keep_copies
from support.listed import WIKI, add_pages, answer_to, nodes, texts, walked
from support.observations import FINE, LOST
from support.people import Browser, open_browser
from support.stored import key
from support.webservice import DEAD, MOVED, TODAY, WALLED, Site

from weboid.assets import asset
from weboid.core.archive.choice import Note
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.record.days import iso
from weboid.core.verdict.judge import judge
from weboid.store.archives.changing_page import record_changing
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots, record_cited_snapshots, record_visit
from weboid.store.archives.wiki_settings import StoredSettings, record_settings
from weboid.store.lists import links
from weboid.store.people.replacement import lease_replacements, record_checked, record_replacement
from weboid.store.results.record import record_copy_check
from weboid.store.urls.url import find_urls

PAGE = f"/externalLinkInfo?{WIKI}&pageid=1&lang=en"
API = f"/api/page?{WIKI}&pageid=1"
COPY = '//tr[contains(@class,"dead")]//p[@class="copy"]'
ADDRESS = f"https://web.archive.org/web/20160503120000/{DEAD}"
SAID = "Archived copy of May 3, 2016 (Wayback Machine), 2 days before the link was first seen."


async def keep(
    site: Site, *snapshots: str, url: str = DEAD, note: int = 0, preview: str | None = None, **said: LookupOutcome | str
) -> None:
    day = TODAY - 1
    await keep_copies(site.wiki.pool, url, day=day, snapshots=snapshots, note=note, preview=preview, said=said)


async def about(site: Site, more: str = "", url: str = DEAD) -> str:
    """The page of the dead URL, as somebody sees it who has sent its form."""
    async with open_browser(site.url) as browser:
        await browser.send_form("/url?url=http://a.demo/old", "/url")
        async with browser.client.get(f"{site.url}/url?url={quote(url, safe='')}&{WIKI}&lang=en{more}") as response:
            assert response.status == 200
            return await response.text()


async def test_a_copy_is_a_link_with_its_date_its_archive_and_its_distance(site: Site) -> None:
    await keep(site, "wayback", "arquivo", note=int(Note.REDIRECTS))
    body = await site.text(PAGE)
    assert texts(body, COPY)[0].startswith(SAID)
    assert "The copy redirects to another one" in texts(body, COPY)[0]
    assert len(texts(body, COPY)) == 2
    links = nodes(body, f"{COPY}//a")
    assert [link.get("href").partition("/http")[0] for link in links] == [
        "https://web.archive.org/web/20160503120000",
        "https://arquivo.pt/wayback/20160503120000",
    ]
    assert {link.get("rel") for link in links} == {"nofollow noopener noreferrer"}
    assert links[0].get("href") == ADDRESS


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "Not looked up in web archives yet."),
        ({"wayback": LookupOutcome.NONE}, "No archive that was asked has a copy."),
        ({"wayback": "redirects-only"}, "Archived, but no copy shows what was cited."),
        ({"wayback": LookupOutcome.EXCLUDED}, "An archive does not show its copies of this page, if it has any."),
        (
            {"wayback": LookupOutcome.ERROR, "arquivo": LookupOutcome.NONE},
            "The archives did not answer. They are asked again in 6 days.",
        ),
        ({"wayback": LookupOutcome.UNKNOWN}, "The archives gave no clear answer. They are asked again in 6 days."),
        (
            {"wayback": "withdrawn 20160503120000"},
            "The archived copy of May 3, 2016 has been withdrawn by its archive.",
        ),
    ],
    ids=["pending", "none", "unsuitable", "excluded", "error", "unknown", "withdrawn"],
)
async def test_why_there_is_no_copy_is_distinguished_in_words_everywhere(
    site: Site, said: Said, words: str, request: pytest.FixtureRequest
) -> None:
    await keep_copies(site.wiki.pool, DEAD, day=TODAY - 1, said=said)
    assert texts(await site.text(PAGE), COPY) == [words]
    (link,) = (await answer_to(site, API))["pages"][0]["links"]
    assert (link["archived"], link["copy_summary"]) == (request.node.callspec.id, words)
    assert texts(await about(site), '//p[@class="copy"]') == [words]


async def test_what_a_copy_shows_stands_next_to_it_as_a_stranger_s_words(site: Site) -> None:
    await keep(site, "wayback", preview="Weboid: <b>safe\n\u202eelvis")
    (link,) = (await answer_to(site, API))["pages"][0]["links"]
    assert link["snapshots"][0]["preview"] == "Weboid: <b>safe\n\u202eelvis"
    body = await site.text(PAGE)
    assert texts(body, COPY)[0].endswith("It shows: Weboid: <b>safe · ⟨U+202E⟩elvis.")
    assert [each.text for each in nodes(body, f"{COPY}//bdi") if each.text] == ["Weboid: <b>safe", "⟨U+202E⟩elvis"]


async def test_all_formats_say_the_same(site: Site) -> None:
    await keep(site, "wayback")
    (link,) = (await answer_to(site, f"{API}&at=2016-05-01"))["pages"][0]["links"]
    script = await site.text(f"/externalLinkProblem?{WIKI}&pageid=1&at=2016-05-01")
    (scripted,) = json.loads(script.partition("(")[2].rpartition(")")[0])["pages"][0]["links"]
    assert scripted == link
    document = await site.text(f"{API}&format=xml&verdict=dead&at=2016-05-01")
    (element,) = etree.fromstring(document.encode()).iterfind(".//link")
    (snapshot,) = element.iterfind("copy")
    (shown,) = link["snapshots"]
    assert {str(name): str(value) for name, value in snapshot.attrib.items()} == {
        name: "true" if value is True else str(value) for name, value in shown.items() if value is not None
    }
    assert (element.get("archived"), element.get("copy_summary")) == ("found", link["copy_summary"])
    assert shown["snapshot"] == ADDRESS
    assert [each.text for each in element.iterfind("archive")] == link["archives"] == [ADDRESS]


async def verified(site: Site, lang: str) -> list[tuple[str, str | None, bool]]:
    """Of the copies of the dead link: archive, day of the newest visit, and whether they are verified.

    In another language, as an answer may be kept for ten minutes whatever was visited since.
    """
    found = []
    for path in (API, f"/api/url?url={quote(DEAD, safe='')}&{WIKI}&pageid=1"):
        (link,) = (await answer_to(site, path))["pages"][0]["links"]
        found.append([(each["service"], each["checked"], each["verified"]) for each in link["snapshots"]])
    document = await site.text(f"{API}&format=xml&verdict=dead&lang={lang}")
    elements = [
        (each.get("service"), each.get("verified")) for each in etree.fromstring(document.encode()).iter("copy")
    ]
    assert elements == [(name, "true" if is_good else "false") for name, _, is_good in found[0]]
    # As stored, too.
    site.source.silent = True
    (link,) = (await answer_to(site, API))["pages"][0]["links"]
    site.source.silent = False
    assert [(each["service"], each["checked"], each["verified"]) for each in link["snapshots"]] == found[0] == found[1]
    return found[0]


async def test_a_copy_is_verified_if_its_newest_visit_played_it(site: Site) -> None:
    day = iso(TODAY - 1)
    await keep(site, "wayback", "arquivo")
    cited = StoredSnapshot(key(DEAD), NUMBERS["ukwa"], 20160503120000, Origin.CITED, TODAY)
    async with site.wiki.pool.connection() as conn:
        await record_cited_snapshots(conn, [cited])
        kept = {each.archive: each for each in (await list_snapshots(conn, [key(DEAD)]))[key(DEAD)]}
    assert sorted(await verified(site, "en")) == [("arquivo", day, True), ("ukwa", None, False), ("wayback", day, True)]
    async with site.wiki.pool.connection() as conn:
        await record_visit(conn, kept[NUMBERS["wayback"]], asked=TODAY, due=TODAY + 7, strikes=1)
        await record_visit(conn, kept[NUMBERS["ukwa"]], asked=TODAY, due=TODAY + 91, strikes=0)
    assert sorted(await verified(site, "de")) == [
        ("arquivo", day, True),
        ("ukwa", iso(TODAY), True),
        ("wayback", iso(TODAY), False),
    ]
    assert (await about(site)).count("It was there when it was last visited") == 2


async def test_at_is_the_day_to_which_the_distance_is_reported(site: Site, browser: Browser) -> None:
    await keep(site, "wayback")
    for day, words in (
        ("2016-05-03", "(Wayback Machine), from the day on which it was cited."),
        ("2015-01-01", "(Wayback Machine), 16 months after it was cited."),
        ("1999-12-31", "(Wayback Machine), 16 years after it was cited."),
    ):
        assert words in texts(await site.text(f"{PAGE}&at={day}"), COPY)[0]
        assert words in (await about(site, f"&at={day}")).replace("</a>", "")
        (link,) = (await answer_to(site, f"/api/url?url={quote(DEAD, safe='')}&{WIKI}&pageid=1&at={day}"))["pages"][0][
            "links"
        ]
        assert link["copy_summary"].endswith(words)
        assert link["snapshots"][0]["distance_to"] == "citation"
    asked = await browser.open(f"/url?url={quote(DEAD, safe='')}&{WIKI}&at=2016-05-03")
    assert asked.form("/url")["at"] == "2016-05-03"


async def test_without_it_nothing_is_said_of_a_citation_and_a_year_from_it(site: Site) -> None:
    await keep(site, "wayback", note=int(Note.AFTER))
    for more, changed in (("", False), ("&at=2016-05-01", False), ("&at=2014-01-01", True)):
        (copy,) = texts(await site.text(PAGE + more), COPY)
        assert ("The page may have changed between the citation and the copy." in copy) is changed
        assert ("cited" in copy) is bool(more)


async def test_lists_and_search_can_be_filtered_by_copies(site: Site, browser: Browser) -> None:
    urls = [f"http://dead.demo/{number:03}" for number in range(130)]
    await add_pages(site, {number + 10: (f"P{number:03}", [url]) for number, url in enumerate(urls)})
    copied = [url for number, url in enumerate(urls) if number % 3 == 0]
    for url in copied[1:]:
        await keep(site, "wayback", url=url)
    async with site.wiki.pool.connection() as conn:
        suggested = f"https://arquivo.pt/wayback/20160503120000/{copied[0]}"
        await record_replacement(
            conn, key(copied[0]), archive=NUMBERS["arquivo"], target=suggested, day=1, subject="7", name="Anna"
        )
        for each in await lease_replacements(conn, TODAY, limit=10):
            await record_checked(conn, each, asked=TODAY, due=TODAY + 91, strikes=0, works=True)

    async def listed(more: str) -> list[str]:
        documents = await walked(site, f"/lists/dead?{WIKI}&format=json{more}")
        return [link["normal"] for each in documents for page in each["pages"] for link in page["links"]]

    others = [url for url in urls if url not in copied]
    for more in ("", "&domain=dead.demo", "&domain=dead.demo&path=/"):
        assert sorted(await listed(f"&copy=with{more}")) == copied
        assert sorted(await listed(f"&copy=without{more}")) == sorted([*others, DEAD])
    assert len(await listed("")) == len(urls) + 1
    assert await listed("&copy=without&verdict=doubtful") == [WALLED]
    assert await listed("&copy=with&verdict=doubtful") == []
    assert "Only links with an archived copy." in await site.text(f"/lists/dead?{WIKI}&copy=with&lang=en")
    fields = {"pattern": "*.dead.demo/00", "lang": "en"}
    for copy, expected in (("with", 4), ("without", 6)):
        seen = await browser.send_form("/search", "/search", **fields, copy=copy)
        assert len(texts(seen.text, '//li/p/*[@class="url"]')) == expected


async def test_the_feed_has_the_copy_in_words_and_as_a_link(site: Site) -> None:
    await keep(site, "wayback")
    (entry,) = etree.fromstring((await site.text(f"/feeds/dead?{WIKI}")).encode()).iterfind("{*}entry")
    assert (entry.findtext("{*}summary") or "").endswith(SAID)
    assert [link.get("href") for link in entry.iterfind("{*}link[@rel='related']")] == [ADDRESS]


async def test_a_cited_copy_is_shown_as_working_gone_or_unknown(site: Site) -> None:
    cited = f"https://web.archive.org/web/20160503120000/{MOVED}"
    await add_pages(site, {9: ("Cites a copy", [cited])})
    assert "An archived copy of" in (text := await about(site, url=cited))
    assert "as it was on May 3, 2016 (Wayback Machine)." in text
    verdict = '//*[@class="cdx-info-chip__text"]'
    assert texts(text, verdict)[0] == "not checked yet"
    async with site.wiki.pool.connection() as conn:
        known = (await find_urls(conn, [key(cited)]))[key(cited)]
        record, _ = judge(known.record, FINE, 100)
        assert await record_copy_check(conn, known, record, day=100, due=190)
    assert texts(text := await about(site, url=cited), verdict)[0] == "working for 3 weeks"
    assert "Next check:" in text
    assert iso(190) in text
    async with site.wiki.pool.connection() as conn:
        known = (await find_urls(conn, [key(cited)]))[key(cited)]
        for day in range(100, TODAY, 3):
            record, _ = judge(record, LOST, day)
        assert await record_copy_check(conn, known, record, day=TODAY - 1, due=TODAY)
    assert texts(text := await about(site, url=cited), verdict)[0].startswith("gone for")
    assert texts(text, '//p[@class="copy"]') == []
    for more, expected in (("", [DEAD, cited]), ("&copy=with", []), ("&copy=without", [DEAD])):
        pages = (await answer_to(site, f"/lists/dead?{WIKI}&format=json{more}"))["pages"]
        assert [link["normal"] for page in pages for link in page["links"]] == expected
    (link,) = pages[0]["links"]
    assert link["next_check"] is not None
    (gone,) = (await answer_to(site, f"/lists/dead?{WIKI}&format=json"))["pages"][1]["links"]
    assert (gone["verdict"], gone["next_check"], gone["archived"]) == ("dead", iso(TODAY), None)
    assert gone["copy_of"] == {"service": "wayback", "original": MOVED, "stamp": "20160503120000"}


async def test_a_part_of_a_filtered_list_reads_a_bounded_number_of_links(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"http://dead.demo/{number:02}" for number in range(30)]
    await add_pages(site, {number + 10: (f"P{number:02}", [url]) for number, url in enumerate(urls)})
    await keep(site, "wayback", url=urls[25])
    monkeypatch.setattr(links, "BUDGET", 10)
    for more in ("", "&domain=dead.demo"):
        parts = await walked(site, f"/lists/dead?{WIKI}&format=json&copy=with{more}")
        found = [[link["normal"] for page in part["pages"] for link in page["links"]] for part in parts]
        assert [urls[25]] in found
        assert [url for part in found for url in part] == [urls[25]]
        assert len(parts) >= 3


async def test_the_page_of_a_url_tells_what_archives_said_and_who_chose(site: Site) -> None:
    chosen = f"https://web.archive.org/web/20150101000000/{DEAD}"
    async with site.wiki.pool.connection() as conn:
        await record_replacement(
            conn, key(DEAD), archive=NUMBERS["wayback"], target=chosen, day=TODAY - 2, subject="7", name="An<b>na"
        )
        for each in await lease_replacements(conn, TODAY, limit=10):
            await record_checked(conn, each, asked=TODAY, due=TODAY + 91, strikes=0, works=True)
    await keep(site, "wayback", "arquivo", ukwa="after-death,<script>")
    body = await about(site)
    first, second = texts(body, '//p[@class="copy"]')
    assert first.startswith(
        "Archived copy of January 1, 2015 (Wayback Machine), 16 months before the link was first seen."
    )
    assert first.endswith("Chosen by An<b>na (2 days ago).")
    assert second.startswith("Archived copy of May 3, 2016 (Arquivo.pt), 2 days before the link was first seen.")
    assert "It was there when it was last visited (yesterday)." in second
    assert "<script>" not in body
    assert "UK Web Archive: copies, but none that shows what was cited (asked yesterday)" in " ".join(
        texts(body, '//ul[@class="lines"]/li')
    )
    assert "Choose another copy" in body


async def test_a_withdrawn_copy_is_not_shown_as_passed_over(site: Site) -> None:
    await keep(site, wayback="withdrawn 20160503120000", arquivo="after-death")
    said = texts(await about(site), '//ul[@class="lines"]/li')
    assert len(said) == 2
    assert [each.rpartition("Passed over: ")[2] for each in said if "Passed over" in each] == ["after-death"]


async def set_templates(site: Site, wiki: str) -> None:
    """Lets the wiki have the settings page of another."""
    text = (asset("wikis") / f"{wiki}.json").read_text(encoding="utf-8")
    await site.wiki.do(record_settings, StoredSettings(site.wiki.wiki.wiki, TODAY, text))


async def test_the_wiki_s_template_can_be_copied_without_any_script(site: Site) -> None:
    await keep(site, "wayback")
    field = '//input[@id="wikitext"]/@value'
    assert texts(await about(site), field) == []
    await set_templates(site, "enwiki")
    body = await about(site)
    (value,) = nodes(body, field)
    assert "2016" in value
    assert value.startswith("{{")
    assert nodes(body, '//input[@id="wikitext"]/@readonly')
    assert nodes(body, '//label[@for="wikitext"]')


async def test_all_formats_offer_the_wiki_s_wikitext_for_dead_and_doubtful_links_only(site: Site) -> None:
    await keep(site, "wayback")
    await keep(site, "wayback", url=WALLED)
    links = (await answer_to(site, f"{API}&all=1&lang=de"))["pages"][0]["links"]
    assert {link["wikitext"] for link in links} == {None}
    await set_templates(site, "enwiki")
    site.source.silent = True
    stored = {link["normal"]: link for link in (await answer_to(site, f"{API}&all=1"))["pages"][0]["links"]}
    site.source.silent = False
    links = {link["normal"]: link for link in (await answer_to(site, f"{API}&all=1"))["pages"][0]["links"]}
    assert {url for url, link in links.items() if link["wikitext"]} == {DEAD, WALLED}
    link = links[DEAD]
    assert {url for url, link in stored.items() if link["wikitext"]} == {DEAD, WALLED}
    assert (
        stored[DEAD]["wikitext"]
        == link["wikitext"]
        == {
            "template": f"{{{{webarchive|url={ADDRESS}|date=3 May 2016}}}}",
            "parameters": f"|archive-url={ADDRESS} |archive-date=3 May 2016 |url-status=dead",
            "dead": None,
        }
    )
    (page,) = (await answer_to(site, f"/lists/dead?{WIKI}&format=json"))["pages"]
    changes = (await answer_to(site, f"/changes?{WIKI}&since=0"))["changes"]
    others = [*page["links"], *(change["link"] for change in changes if change["after"] == "dead")]
    assert [each["wikitext"] for each in others] == [link["wikitext"]] * 2
    script = await site.text(f"/externalLinkProblem?{WIKI}&pageid=1")
    assert json.loads(script.partition("(")[2].rpartition(")")[0])["pages"][0]["links"] == [link]
    (alone,) = (await answer_to(site, f"/api/url?url={quote(DEAD, safe='')}&{WIKI}&pageid=1"))["pages"][0]["links"]
    assert alone == link
    document = await site.text(f"{API}&format=xml&verdict=dead")
    (element,) = etree.fromstring(document.encode()).iterfind(".//wikitext")
    attributes = {str(name): str(value) for name, value in element.attrib.items()}
    assert attributes == {name: value for name, value in link["wikitext"].items() if value is not None}


async def test_an_always_changing_page_is_reported(site: Site) -> None:
    await keep(site, wayback="changing")
    await site.wiki.do(record_changing, [key(DEAD)], TODAY)
    assert "This page changes all the time" in await about(site)

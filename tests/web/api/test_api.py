"""W-1 and W-8: the answers for machines, and what all formats have in common."""

import itertools
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lxml import etree
from support.listed import answer_to
from support.stored import key
from support.webservice import DEAD, PDF, SPOOFED, TODAY, WALLED, Site, open_service

from weboid.core.record.days import iso
from weboid.core.record.policy import Policy
from weboid.store.pages.spam import record_spam_links

API = "/api/page?dbname=testwiki@wmflabs"
CALL = "/externalLinkProblem?dbname=testwiki@wmflabs"


def links_of(document: Any) -> list[dict[str, Any]]:
    (page,) = document["pages"]
    return list(page["links"])


def attributes_of(element: etree._Element) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items()}


def in_xml(values: Mapping[str, object]) -> dict[str, str]:
    """Single values as attributes have them; what is null, a list or an element of its own is none."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in values.items()
        if value is not None and not isinstance(value, list | dict)
    }


async def test_json_tells_dead_links_only_unless_all_are_asked_for(site: Site) -> None:
    document = await answer_to(site, f"{API}&pageid=1")
    assert [link["normal"] for link in links_of(document)] == [DEAD]
    assert (document["version"], document["extent"], document["day"]) == (2, "dead", iso(TODAY))
    assert len(links_of(await answer_to(site, f"{API}&curid=1&all=1"))) == 9


async def test_the_extent_says_which_links_are_reported_and_filters_choose_among_them(site: Site) -> None:
    extents: list[tuple[str, str, set[str | None]]] = [
        ("extent=dead", "dead", {DEAD}),
        ("extent=findings", "findings", {SPOOFED, WALLED, DEAD, None}),
        ("extent=notes", "notes", {SPOOFED, WALLED, DEAD, None, PDF}),
        ("extent=notes&all=0", "notes", {SPOOFED, WALLED, DEAD, None, PDF}),
        ("extent=notes&verdict=working", "notes", {SPOOFED, PDF}),
        ("extent=dead&verdict=doubtful", "dead", set()),
        ("extent=findings&copy=without", "findings", {WALLED, DEAD}),
    ]
    for silent, (query, extent, answer) in itertools.product((False, True), extents):
        site.source.silent = silent
        document = await answer_to(site, f"{API}&pageid=1&{query}")
        stored = answer - {None} if silent else answer  # what is invalid is not stored
        assert (document["extent"], {link["normal"] for link in links_of(document)}) == (extent, stored), query
        tree = etree.fromstring((await site.text(f"{API}&pageid=1&format=xml&{query}")).encode())
        assert (tree.get("extent"), {link.get("normal") for link in tree.iter("link")}) == (extent, stored)
        form, kind = f"dbname=testwiki@wmflabs&pageid=1&{query}", {"Content-Type": "application/x-www-form-urlencoded"}
        async with site.client.post(f"{site.url}/api/page", data=form, headers=kind) as response:
            assert links_of(await response.json()) == links_of(document)
        every = await answer_to(site, f"{API}&pageid=1&extent=all")
        assert every["pages"][0]["counts"] == document["pages"][0]["counts"]
        assert links_of(every) == links_of(await answer_to(site, f"{API}&pageid=1&all=1"))


async def test_what_is_spam_on_a_page_is_reported_of_that_page_alone(site: Site) -> None:
    await site.wiki.do(record_spam_links, site.wiki.wiki.wiki, {1: {key(PDF): PDF}, 2: {key(WALLED): WALLED}})
    for site.source.silent in (True, False):
        links = {link["normal"]: link["verdict"] for link in links_of(await answer_to(site, f"{API}&pageid=1&all=1"))}
        assert (links[PDF], links[WALLED]) == ("spam", "doubtful")


async def test_the_call_holds_the_same_text_as_json(site: Site) -> None:
    plain = await site.text(f"{API}&pageid=1")
    status, call, response = await site.fetch(f"{CALL}&pageid=1")
    assert (status, response.content_type) == (200, "text/javascript")
    assert call == f"/**/weboid.externalLinkProblem({plain});\n"


async def test_the_call_never_holds_anything_but_dead_links(site: Site) -> None:
    call = await site.text(f"{CALL}&pageid=1&all=1")
    assert DEAD.partition("?")[0] in call
    assert WALLED not in call


async def test_xml_has_the_findings_that_the_page_has_and_says_what_json_says(site: Site) -> None:
    status, body, response = await site.fetch(f"{API}&pageid=1&format=xml")
    assert (status, response.content_type) == (200, "application/xml")
    tree = etree.fromstring(body.encode())
    assert [link.get("normal") for link in tree.iter("link")][1:] == [WALLED, DEAD, None]
    tree = etree.fromstring((await site.text(f"{API}&pageid=1&format=xml&all=1")).encode())
    for element, link in zip(tree.iter("link"), links_of(await answer_to(site, f"{API}&pageid=1&all=1")), strict=True):
        assert attributes_of(element) == in_xml(link)
        evidence = [link["evidence"]] if isinstance(link["evidence"], dict) else []
        assert [attributes_of(each) for each in element.iter("evidence")] == [in_xml(each) for each in evidence]
        assert [given.text for given in element.iter("given")] == link["given"]
        assert len(list(element.iter("entry"))) == len(link["history"])


async def test_the_policy_that_held_is_reported_with_all_its_values(site_database: str, tmp_path: Path) -> None:
    environ = {"WEBOID_POLICY_DEAD_SPAN": "40", "WEBOID_POLICY_MISSING_SPAN": "21"}
    async with open_service(site_database, tmp_path, environ=environ) as site:
        document = await answer_to(site, f"{API}&pageid=1")
        assert document["policy"] == asdict(Policy(dead_span=40, missing_span=21))
        assert links_of(document) == []
        element = etree.fromstring((await site.text(f"{API}&pageid=1&format=xml")).encode()).find("policy")
        assert element is not None
        assert attributes_of(element) == in_xml(asdict(site.config.policy))


async def test_the_format_follows_accept(site: Site) -> None:
    browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    for path, accept, kind in [
        (f"{API}&pageid=1", "", "application/json"),
        (f"{API}&pageid=1", "*/*", "application/json"),
        (f"{API}&pageid=1", "text/xml, application/json;q=0.5", "application/xml"),
        (f"{API}&pageid=1", browsers, "text/html"),
        (f"{API}&pageid=1", "image/png", "application/json"),
        (f"{API}&pageid=1", "application/json;q=0, application/xml;q=0.1", "application/xml"),
        (f"{API}&pageid=1", "nonsense;;;,/," + "a/b," * 500, "application/json"),
        ("/status", "", "text/html"),
        ("/status", "text/xml", "application/xml"),
        ("/status", browsers, "text/html"),
        ("/status", "text/html;q=0.1, application/json", "application/json"),
    ]:
        status, _, response = await site.fetch(path, Accept=accept)
        assert (status, response.content_type) == (200, kind), (path, accept)
        assert "Accept" in response.headers["Vary"].split(", "), (path, accept)


async def test_words_are_in_the_language_named_never_in_the_browsers(site: Site) -> None:
    (link,) = links_of(await answer_to(site, f"{API}&pageid=1", Accept_Language="de"))
    assert link["summary"] == "dead for 3 weeks: The server reports that the page does not exist."
    (link,) = links_of(await answer_to(site, f"{API}&pageid=%C2%A01%E3%80%80&lang=+de%0A"))
    assert link["summary"] == "tot seit 3 Wochen: Der Server meldet, dass es die Seite nicht gibt."


async def test_another_function_can_be_called(site: Site) -> None:
    for name in ["f", "$.a_1.B", "a" * 64]:
        assert (await site.text(f"{CALL}&pageid=1&callback={name}")).startswith(f"/**/{name}({{"), name


async def test_a_callback_that_is_no_dotted_identifier_is_refused(site: Site) -> None:
    for name in ["a" * 65, "a.", ".a", "1a", "alert(1);f", "a[0]", "a%0Ab", "%C3%A4", "f%EF%BC%8Eg", "a..b", "f%00"]:
        status, body, response = await site.fetch(f"{CALL}&pageid=1&callback={name}")
        assert (status, response.content_type) == (400, "text/javascript"), name
        assert body.startswith('/**/void {"version":2,"error":{"key":"weboid-error-callback"'), name


async def test_errors_come_in_the_format_and_language_asked_for(site: Site) -> None:
    assert 'text="Nenne ein Wiki' in await site.text("/api/page?format=xml&lang=de")
    _, body, response = await site.fetch("/api/page?format=html&lang=de")
    assert response.content_type == "text/html"
    assert "Nenne ein Wiki" in body


async def test_parameters_that_nobody_knows_are_passed_over(site: Site) -> None:
    assert (await site.fetch(f"{API}&pageid=1&_=123&_=456&title="))[0] == 200

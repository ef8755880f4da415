import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from weboid.assets import asset
from weboid.core.url.farms import WMF
from weboid.core.wikitext.link_lists import PERMADEAD, PERMALIVE, SUBSCRIPTION
from weboid.core.wikitext.settings import WikiSettings, parse_settings
from weboid_scripts.weblinks.links_found import FoundLink, links_found

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
COPY = "https://web.archive.org/web/20160503120000/http://a.org/"
LISTS = {"permalive": ["alive.org"], "permadead": ["dead.org"], "subscription": ["http://paper.org/archive/"]}


@pytest.fixture(scope="module")
def settings() -> WikiSettings:
    shipped = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    return parse_settings(json.dumps({**shipped, "links": LISTS}))


def found(text: str, settings: WikiSettings) -> dict[str, FoundLink]:
    return {link.normal: link for link in links_found(text, settings, WMF, now=NOW, bot="WeboidBot")}


def test_each_link_is_listed_once_wherever_it_is_written(settings: WikiSettings) -> None:
    text = (
        "[http://a.org/ A] http://a.org/ <ref>{{cite web|url=http://b.org/ |title=B}}</ref> {{Official|http://c.org/}}\n"
        "<!-- http://no.org/ --> <nowiki>http://no.org/</nowiki> http://www.example.com/ "
        f"https://de.wikipedia.org/ {COPY} [http://p.org/x|y z] {{{{Official|http://no.org/{{{{id}}}}}}}}"
    )
    assert list(found(text, settings)) == ["http://a.org/", "http://b.org/", "http://p.org/x%7Cy", "http://c.org/"]


def test_a_parameter_of_any_template_that_is_a_url_is_a_link(settings: WikiSettings) -> None:
    text = (
        "{{Infobox\n| name = A\n| website = http://a.org/ <!-- seen -->\n| map = http://b.org/{{{id}}}\n"
        "| note = see http://c.org/x here | archive = " + COPY + "}}"
        "{{cite web|url=http://d.org/ |title=D |archive-url=http://no.org/}}"
        "{{Outer|{{Inner|url=HTTPS://e.org}}|x=mailto:no@f.org|y=//no.org/}} <!-- {{X|u=http://no.org/}} -->"
    )
    assert sorted(found(text, settings)) == ["http://a.org/", "http://c.org/x", "http://d.org/", "https://e.org/"]


def test_what_the_wiki_lists_is_decided(settings: WikiSettings) -> None:
    text = "http://alive.org/ http://www.dead.org/ http://paper.org/archive/1 http://paper.org/ http://a.org/"
    links = found(text, settings)
    assert {normal: set(link.flags) for normal, link in links.items()} == {
        "http://alive.org/": {PERMALIVE}, "http://www.dead.org/": {PERMADEAD},
        "http://paper.org/archive/1": {SUBSCRIPTION}, "http://paper.org/": set(), "http://a.org/": set(),
    }  # fmt: skip
    assert [link.is_decided for link in links.values()] == [True, True, True, False, False]


def test_what_the_page_says_of_a_link(settings: WikiSettings) -> None:
    def only(text: str) -> FoundLink:
        (link,) = found(text, settings).values()
        return link

    plain = only("[http://a.org/ A]")
    assert (plain.flags, plain.is_tagged, plain.has_copy) == (frozenset(), False, False)
    assert only("[http://a.org/ A] {{dead link|date=May 2026}}").is_tagged
    assert not only("[http://a.org/ A] {{dead link|date=May 2026|bot=X}}").is_tagged
    assert only("[http://a.org/ A] {{subscription required}}").flags == {SUBSCRIPTION}
    assert only("{{cite web|url=http://a.org/ |title=A |url-access=subscription}}").flags == {SUBSCRIPTION}
    cited = "{{cite web|url=http://a.org/ |title=A |archive-url=" + COPY + " |archive-date=3 May 2016}}"
    assert only(cited).has_copy
    assert only(f"[http://a.org/ A] {{{{webarchive|url={COPY}}}}}").has_copy
    assert not only(f"{cited} and [http://a.org/ A]").has_copy


def test_tags_count_only_where_the_wiki_trusts_them(settings: WikiSettings) -> None:
    text = "[http://a.org/ A] {{dead link|date=May 2026}}"
    distrusting = replace(settings, options=replace(settings.options, trust_tags=False))
    assert not found(text, distrusting)["http://a.org/"].is_tagged


def test_links_that_bots_are_to_ignore_are_not_listed(settings: WikiSettings) -> None:
    assert found("[http://a.org/ A] {{cbignore}} and http://a.org/", settings) == {}

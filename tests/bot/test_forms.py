"""What an editor would revert for its form: faults found by reading the diffs of real articles of many wikis."""

import json
from functools import reduce

import pytest
from support.repairs import COPY, NOW, URL, known, repaired, settings_of

from weboid.assets import toml_next_to
from weboid.bot.repair import repair
from weboid.core.wikitext.settings import parse_settings

_CITED = f"url={URL}|title=A"
_CASES = toml_next_to(__file__)


def in_arabic(text: str, url: str = URL) -> str:
    links = known("dead", {"url": COPY.replace(URL, url), "stamp": "20120507093011"}, url)
    return repair(text, parse_settings(json.dumps(_CASES["arabic"])), links, now=NOW).text


@pytest.mark.parametrize(("wiki", "before", "after"), _CASES["names"])
def test_links_are_known_by_all_names_and_addresses_that_wikis_give_them(wiki: str, before: str, after: str) -> None:
    values = {"$ADDED": _CASES["added"][wiki], "$COPY": COPY, "$URL": URL}
    before, after = (reduce(lambda text, pair: text.replace(*pair), values.items(), each) for each in (before, after))
    assert repaired(before, wiki) == (after or before)


@pytest.mark.parametrize("leads_on", [False, True])
def test_a_copy_of_the_same_page_under_another_name_of_its_site_stays(leads_on: bool) -> None:
    older = URL.replace("town", "city")
    url = f"https://go.example/deref?url={older.replace(':', '%3A')}" if leads_on else URL
    before = f"{{{{cite web|url={url}|title=A|archive-url={COPY.replace(URL, older)}|archive-date=7 May 2012"
    links = known("dead", {"url": COPY.replace(URL, url), "stamp": "20120507"}, url)
    assert repaired(before + "|url-status=dead}}", links=links) == before + "|url-status=dead}}"
    other = before.replace(f"/{older}", f"/{older.replace('history', 'geography')}")
    assert COPY.replace(URL, url) in repaired(other + "}}", links=links)


def test_a_citation_gets_the_names_of_parameters_of_the_language_that_it_is_in() -> None:
    assert in_arabic(f"{{{{cite web|{_CITED}|last=B}}}}").endswith(f"|archiveurl={COPY}|archivedate=7 مايو 2012}}}}")
    assert "|archive-url=" in in_arabic(f"{{{{cite web|{_CITED}|access-date=1 May 2012}}}}")
    assert "|مسار أرشيف=" in in_arabic(f"{{{{استشهاد ويب|مسار={URL}|عنوان=A}}}}")
    for names in [("archiveurl", "archivedate", "accessdate"), ("archive-url", "archive-date", "access-date")]:
        after = repaired(f"{{{{Citar web|{_CITED}|{names[2]}=1 May 2012}}}}", "ptwiki")
        assert f"|{names[0]}={COPY}|{names[1]}=7 May 2012|" in after
    assert "|arquivourl=" in repaired(f"{{{{Citar web|url={URL}|titulo=A}}}}", "ptwiki")


@pytest.mark.parametrize(("before", "archived", "tagged", "revived"), _CASES["around"])
def test_a_dead_tag_stands_around_a_citation_that_cannot_say_so_itself(
    before: str, archived: str, tagged: str, revived: str
) -> None:
    settings = parse_settings(json.dumps(_CASES["spanish"]))
    for links, after in [(known(), archived), (known("dead", None), tagged), (known("working"), revived)]:
        text = repair(before.replace("$URL", URL), settings, links, now=NOW, bot="X").text
        assert text.replace(COPY, "$COPY").replace(URL, "$URL") == (after or before)
        assert repair(text, settings, links, now=NOW, bot="X").text == text


@pytest.mark.parametrize(("other", "before", "after"), _CASES["tags"])
def test_a_mark_takes_no_text_that_it_cannot_keep(other: dict[str, dict[str, str]], before: str, after: str) -> None:
    spanish = _CASES["spanish"]
    settings = parse_settings(json.dumps(spanish | {room: spanish[room] | how for room, how in other.items()}))
    text = repair(before.replace("$URL", URL), settings, known("dead", None), now=NOW, bot="X").text
    assert text.replace(COPY, "$COPY").replace(URL, "$URL") == (after or before)


def test_a_copy_with_an_equals_sign_takes_no_place_without_a_name() -> None:
    before = f"[{URL}?a=1 A] {{{{Webarchive|https://archive.today/AbCdE|7 مايو 2012}}}}"
    assert in_arabic(before, f"{URL}?a=1") == before


def test_an_archive_template_whose_address_has_a_comment_in_it_is_left_alone() -> None:
    before = f"[{URL} A] {{{{Wayback|url=https://web.archive.org/<!-- x -->web/*/{URL}}}}}"
    assert repair(before, settings_of("ptwiki"), known(), now=NOW).left == ((URL, "not-writable"),)


@pytest.mark.parametrize(("wiki", "tag"), [("frwiki", "Lien brisé|titre"), ("dewiki", "Toter Link|text")])
def test_a_dead_tag_that_says_more_than_its_link_stays_when_that_works_again(wiki: str, tag: str) -> None:
    before = f"{{{{{tag}=A|url={URL}|site=B|archive-url={COPY}|archive-date=2012-05-07}}}}"
    assert repaired(before, wiki, links=known("working"), trust_tags=False) == before
    assert repaired(before, wiki, links=known("dead", None)) == before

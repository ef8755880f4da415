"""Real articles render after a repair as they did before, but for what was repaired: in a real wiki."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import pytest
from support.pwb import BOT, BotWiki, Person
from support.repairs import NOW, random_answers, settings_of
from support.shared import articles
from support.wiki_templates import complaints, save_templates

from weboid.bot.answers import KnownLinks, read_answers
from weboid.bot.page_links import page_links
from weboid.bot.repair import repair
from weboid.core.url.archives import snapshot_of
from weboid.core.wikitext.reader import read_wikitext

pytestmark = pytest.mark.long

_PAGES = 6
_CITATION = re.compile(r"\{\{\s*cite ", re.IGNORECASE)
_LINK = re.compile(r'<a [^>]*class="external [^>]*href="([^"]*)"')
_STRUCTURE = re.compile(r"<(h[2-6]|p|li|table|tr|ul|ol|dl|dd|blockquote|references|gallery|cite)\b")
_ERROR = re.compile(r'class="(?:[^"]* )?error\b|mw-ext-cite-error|scribunto-error')


@dataclass
class Rendered:
    """What the wiki's parser makes of a text."""

    complaints: set[str]
    warnings: set[str]
    errors: int
    links: Counter[str]
    structure: Counter[str]


def seen(answer: dict[str, Any]) -> Rendered:
    return Rendered(
        complaints(answer["categories"]),
        set(answer["parsewarnings"]),
        len(_ERROR.findall(answer["text"])),
        Counter(_LINK.findall(answer["text"])),
        Counter(_STRUCTURE.findall(answer["text"])),
    )


def chosen() -> Iterator[str]:
    return (
        text
        for text in articles("enwiki-2016")
        if len(_CITATION.findall(text)) >= 5 and text.count("//") >= 20 and len(text) < 75_000
    )


def all_dead(text: str, dice: random.Random) -> KnownLinks:
    urls = [link.url for link in page_links(read_wikitext(text), settings_of(), BOT)]
    copies = {url: {"url": f"https://web.archive.org/web/20120507093011/{url}", "stamp": "20120507"} for url in urls}
    archives = {url: copy if dice.random() < 0.5 else None for url, copy in copies.items()}
    return read_answers(dict.fromkeys(urls, "dead"), archives, NOW)


@pytest.fixture(scope="module")
def person(bot_wiki: BotWiki) -> Person:
    save_templates(bot_wiki.admin)
    return bot_wiki.admin


def test_articles_render_as_before_but_for_what_was_repaired(person: Person) -> None:
    def check(number: int, text: str) -> tuple[list[list[str]], list[int]]:
        settings = settings_of(trust_tags=number % 2 == 0, convert_bare_refs=number % 3 == 0)
        before = seen(person.rendered(text))
        pages = [
            repair(text, settings, answers(text, random.Random(number)), now=NOW)
            for answers in (random_answers, all_dead)
        ]
        return [worse(before, seen(person.rendered(page.text))) for page in pages], [
            len(page.changes) for page in pages
        ]

    with ThreadPoolExecutor(2) as executor:
        wrong, changes = zip(*executor.map(check, count(), islice(chosen(), _PAGES)), strict=True)
    assert [each for each in wrong if any(each)] == []
    by_chance, all_of_them = map(sum, zip(*changes, strict=True))
    assert by_chance > 20
    assert all_of_them > 150


def worse(before: Rendered, after: Rendered) -> list[str]:
    """What a repair has made worse, or changed without being asked to."""
    wrong = [f"complaint {each}" for each in after.complaints - before.complaints]
    wrong += [f"warning {each}" for each in after.warnings - before.warnings]
    if after.errors > before.errors:
        wrong.append(f"{after.errors - before.errors} errors")
    wrong += [f"lost link {url}" for url in before.links - after.links if snapshot_of(url) is None]
    wrong += [f"new link {url}" for url in after.links - before.links if snapshot_of(url) is None]
    wrong += [f"lost <{name}>" for name in before.structure - after.structure]
    # A bare reference may become a citation.
    wrong += [f"new <{name}>" for name in after.structure - before.structure if name != "cite"]
    return wrong

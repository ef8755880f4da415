"""``/edit``: the way from a link of a page to the wiki's editor of its section."""

from time import process_time

import pytest
from support.people import Browser
from support.webservice import DEAD, Site

from weboid.core.wikitext.sections import section_at
from weboid.wiki.source import RevisionText

EDIT = f"/edit?dbname=testwiki@wmflabs&pageid=1&url={DEAD.replace('&', '%26').replace('%22', '%2522')}"
TEXT = f"""Begin <!--
== no heading ==
--> {DEAD}x
== One ==
<nowiki>
== no ==
</nowiki> <pre> never ended
=== Two ===
== not = one
{{{{cite|url={DEAD}|title=x}}}}
== Three =="""


@pytest.mark.parametrize(
    ("before", "section"), [("Begin", 0), ("== One", 0), ("never", 1), ("== not", 2), ("{{cite", 2), ("Three", 3)]
)
def test_sections_are_counted_as_mediawiki_does(before: str, section: int) -> None:
    assert section_at(TEXT, TEXT.index(before)) == section


@pytest.mark.parametrize("piece", ["<pre>", "<!--", "<nowiki><source>", "=", "= = \t", "\n== x ==", "<pre></pr"])
def test_counting_takes_no_longer_for_hostile_texts(piece: str) -> None:
    text, begun = piece * (1_000_000 // len(piece)), process_time()
    section_at(text, len(text))
    assert process_time() - begun < 3


async def test_a_link_leads_to_the_section_in_which_it_stands(site: Site, browser: Browser) -> None:
    await site.wiki.rows("UPDATE wiki SET api = 'https://test.demo/w/api.php' RETURNING wiki")
    revision = site.source.found[1].latest
    index = "https://test.demo/w/index.php?curid=1&action=edit"
    for text, expected in ((TEXT, f"{index}&section=2"), ("nothing", index), (None, index)):
        site.source.texts = {revision: RevisionText(1, revision, 0, text)}
        seen = await browser.open(EDIT)
        assert (seen.status, seen.location) == (303, expected)
    assert (await browser.open(EDIT.replace("dead.demo", "evil.demo"))).status == 404, "no link of the page"

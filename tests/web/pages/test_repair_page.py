"""The repaired wikitext to copy, and the way to it from the page of links."""

from typing import Final

from support.listed import texts
from support.settled import COPY, settle
from support.webservice import DEAD, Site

from weboid.wiki.source import RevisionText

PATH: Final = "/repair?dbname=testwiki@wmflabs&pageid=1&revid=7&lang=en"
TEXT: Final = f"\n</textarea><script>alert(1)</script>\u202e [{DEAD} gone] and http://nobody-knows.demo/<b>\n"
LINKS: Final = "/externalLinkInfo?dbname=testwiki@wmflabs&pageid="


async def test_the_repaired_text_is_there_to_copy_with_reasons_and_nothing_of_it_is_markup(site: Site) -> None:
    await settle(site)
    site.source.texts = {7: RevisionText(1, 7, 0, TEXT)}
    body = await site.text(PATH)
    assert "<script>alert" not in body
    (shown,) = texts(body, "//textarea")
    assert shown.strip() == TEXT.replace("gone]", f"gone] {{{{webarchive|url={COPY}|date=3 Mai 2016}}}}").strip()
    assert any(text.startswith(DEAD) and "archived copy added: dead" in text for text in texts(body, "//p"))
    assert "⟨U+202E⟩" not in texts(body, "//textarea")[0], "what is copied is the text itself"
    assert texts(body, '//ul[@class="lines"]/li')[0].startswith("http://nobody-knows.demo/")
    assert "/repair/testwiki@wmflabs/1/7" in body, "the summary"
    assert texts(body, '//a[@href="http://wiki.demo/w/index.php?action=edit&curid=1"]') == ["Open the editor"]


async def test_a_page_of_links_leads_there_and_to_the_gadget_if_something_is_to_be_repaired(site: Site) -> None:
    assert "weboidrepair" not in await site.text(f"{LINKS}1&lang=en"), "nobody knows how the wiki writes"
    await settle(site)
    body = await site.text(f"{LINKS}1&lang=en")
    on_wiki = '//a[@href="http://wiki.demo/w/index.php?curid=1&weboidrepair=1"]'
    assert texts(body, on_wiki) == ["Repair on the wiki"]
    assert texts(body, f'//a[@href="{PATH.replace("@", "%40")}"]') == ["Show the repaired wikitext"]
    assert "weboidrepair" not in await site.text(f"{LINKS}2&lang=en"), "it has no dead links"


async def test_what_cannot_be_repaired_says_why(site: Site) -> None:
    await settle(site)
    site.source.texts = {7: RevisionText(1, 7, 0, "{{nobots}}")}
    body = await site.text(PATH)
    assert "There is nothing to be repaired." in body
    assert texts(body, "//code") == ["{{nobots}}"]
    assert (await site.fetch(PATH.replace("revid=7", "revid=8")))[0] == 409

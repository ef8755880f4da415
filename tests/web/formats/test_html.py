from support.listed import nodes
from support.webservice import BROKEN, DEAD, EXAMPLE, PDF, SCRIPT, SPOOFED, WALLED, Site

from weboid.web.formats.html import address_html

PAGE = "/externalLinkInfo?dbname=testwiki@wmflabs"


def shown(body: str) -> list[str]:
    links = nodes(body, '//table[@class="links"]//th/*[@class="url"]')
    return [link.text_content() for link in links]


def test_an_address_of_others_is_text_and_a_link_only_where_it_may_be_followed() -> None:
    assert address_html('http://a.demo/"<b>') == (
        '<a href="http://a.demo/%22%3Cb%3E" rel="nofollow noopener noreferrer"><bdi>http://a.demo/&#34;&lt;b&gt;</bdi></a>'
    )
    assert address_html("javascript:alert('<b>')") == "<bdi>javascript:alert(&#39;&lt;b&gt;&#39;)</bdi>"


async def test_findings_are_listed_by_domain_from_the_top_level_down(site: Site) -> None:
    status, body, _ = await site.fetch(f"{PAGE}&pageid=1")
    assert status == 200
    assert shown(body) == [SPOOFED, WALLED, DEAD, BROKEN]


async def test_all_links_are_listed_when_asked_for(site: Site) -> None:
    body = await site.text(f"{PAGE}&pageid=1&all=1")
    assert len(shown(body)) == 9
    assert {PDF, EXAMPLE, SCRIPT} <= set(shown(body))
    assert "pdf, 1,234 KiB" in body


async def test_the_language_is_the_browsers_unless_one_is_named(site: Site) -> None:
    _, body, response = await site.fetch(f"{PAGE}&pageid=1", Accept_Language="de-LI, en;q=0.5")
    assert '<html lang="de"' in body
    assert all(words in body for words in ("tot seit 3 Wochen", "Seite nicht gefunden (HTTP 404)"))
    assert "Accept-Language" in response.headers["Vary"]
    assert "(weboid-page-title)" in await site.text(f"{PAGE}&pageid=1&uselang=qqx")


async def test_the_form_is_filled_in_and_keeps_the_choice(site: Site) -> None:
    (form,) = nodes(await site.text(f"{PAGE}&pageid=1&all=1&lang=de"), '//form[@class="ask"]')
    fields = {name: value for name, value in form.form_values() if value}
    assert fields == {"dbname": "testwiki@wmflabs", "pageid": "1", "lang": "de", "all": "1"}
    assert (form.method, form.action) == ("GET", "/externalLinkInfo")


async def test_the_start_page_names_wikis_and_pages_with_their_dead_links(site: Site) -> None:
    status, body, _ = await site.fetch("/")
    assert status == 200
    lists = nodes(body, '//section[@class="wiki"]/p/a/@href')
    assert lists == [f"/{name}?dbname=testwiki%40wmflabs" for name in ("lists/dead", "lists/spam", "feeds/dead")]
    links = nodes(body, '//section[@class="wiki"]//li/a/@href')
    assert links == [f"/externalLinkInfo?dbname=testwiki%40wmflabs&pageid={page}" for page in (1, 2)]
    assert "1 dead" in body
    assert (await site.fetch("/externalLinkInfo"))[0] == 200


async def test_the_title_of_an_answer_names_the_page_so_that_tabs_can_be_distinguished(site: Site) -> None:
    for page, name in ((1, "Page 1"), (3, '"><script>alert(1)</script>⟨U+202E⟩gnp.⟨U+2028⟩ & <b>')):
        body = await site.text(f"{PAGE}&pageid={page}")
        assert nodes(body, "//head/title/text()") == [f"{name} – External links"]
        assert name in nodes(body, "//h1")[0].text_content()
    assert nodes(await site.text(f"{PAGE}&pageid=1|2"), "//head/title/text()") == ["External links"]

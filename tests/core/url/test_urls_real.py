"""One wiki, read twice: its SQL dump and the recorded answers of its API must be the same links."""

import gzip
import json
import re
from collections.abc import Iterator

from support.shared import shared

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import WMF
from weboid.core.url.mediawiki import stored_url

_ROW = re.compile(rb"\(\d+,(\d+),'((?:[^'\\]|\\.)*)',(?:'((?:[^'\\]|\\.)*)'|NULL)\)", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)

Links = set[tuple[int, str]]


def _dump_links(relative: str) -> Iterator[tuple[int, str]]:
    for page, index, path in _ROW.findall(gzip.decompress(shared(relative).read_bytes())):
        yield int(page), stored_url(_ESCAPE.sub(rb"\1", index), _ESCAPE.sub(rb"\1", path))


def _api_links() -> tuple[set[int], Links]:
    pages: set[int] = set()
    links: Links = set()
    answers = json.loads(gzip.decompress(shared("api/allpages-links.json.gz").read_bytes()))
    for page in (page for answer in answers for page in answer["response"]["query"]["pages"]):
        pages.add(page["pageid"])
        links.update((page["pageid"], link["url"]) for link in page.get("extlinks", ()))
    return pages, links


def _normal(links: Links) -> Links:
    found = ((page, classify(url, WMF)) for page, url in links)
    return {(page, str(link.url) if link.url else link.kind) for page, link in found}


def test_the_dump_and_the_api_of_a_wiki_give_the_same_urls() -> None:
    pages, answered = _api_links()
    dumped = {link for link in _dump_links("wiki/externallinks.sql.gz") if link[0] in pages}
    assert len(pages) == 178
    assert len(dumped) > 7_300
    # MediaWiki's own API loses the group of the one "news:" link.
    assert {url for _, url in dumped ^ answered} == {"news:", "news:comp.lang"}
    assert _normal(dumped) == _normal(answered)


def test_what_a_real_wiki_stores_is_canonical_but_for_host_port_and_fragment() -> None:
    for wiki in ["wiki", "ltgwiki"]:
        found = [classify(url, None) for _, url in _dump_links(f"{wiki}/externallinks.sql.gz")]
        watched = [link for link in found if link.url]
        for link in watched:
            assert link.url is not None, wiki
            given = link.given.partition("#")[0]
            assert given.endswith(link.url.path), link.given
        assert len(watched) / len(found) > 0.99, wiki
        assert all(link.kind is not UrlClass.OWN_FARM for link in found), wiki

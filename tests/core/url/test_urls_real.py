"""The links that real wikis store, read from their dumps, are in the form in which they are watched."""

import gzip
import re
from collections.abc import Iterator

from support.shared import shared

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.mediawiki import stored_url

_ROW = re.compile(rb"\(\d+,(\d+),'((?:[^'\\]|\\.)*)',(?:'((?:[^'\\]|\\.)*)'|NULL)\)", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


def _dump_links(relative: str) -> Iterator[tuple[int, str]]:
    for page, index, path in _ROW.findall(gzip.decompress(shared(relative).read_bytes())):
        yield int(page), stored_url(_ESCAPE.sub(rb"\1", index), _ESCAPE.sub(rb"\1", path))


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

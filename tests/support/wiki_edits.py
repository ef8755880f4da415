"""Edits of the little wiki's pages while it runs."""

from collections.abc import Iterable
from dataclasses import replace

from weboid.demo.littlewiki import LittleWiki
from weboid.demo.wikipages import WikiLink, WikiPage


def record_edit(wiki: LittleWiki, title: str, links: Iterable[WikiLink]) -> WikiPage:
    page = wiki.pages[title]
    wiki.pages[title] = replace(page, links=tuple(links), revision=1 + max(p.revision for p in wiki.pages.values()))
    return wiki.pages[title]

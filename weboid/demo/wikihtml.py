"""The little wiki's pages as HTML.

Pure; the data of pages belong to ``wikipages``, HTTP to ``littlewiki``.
One law: nothing of a page gets into HTML unescaped, and only http and https links can be clicked.
"""

from collections.abc import Iterable
from html import escape
from urllib.parse import quote, urlencode

from weboid.demo.wikipages import Site, WikiLink, WikiPage

_STYLE = """
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem; font: 1.05rem/1.6 Georgia, serif; color: #202122; }
header, footer, .note { font: .875rem/1.5 system-ui, sans-serif; color: #54595d; }
h1 { font-weight: normal; line-height: 1.2; border-bottom: 1px solid #a2a9b1; overflow-wrap: anywhere; }
a { color: #36c; overflow-wrap: anywhere; } li { margin: .2rem 0; } footer { border-top: 1px solid #a2a9b1; }
@media (prefers-color-scheme: dark) { body { background: #101418; color: #eaecf0; } a { color: #88a3e8; }
  header, footer, .note { color: #a2a9b1; } }
"""
_NOTE = "A made-up wiki. Hosts that end in .demo exist only inside this demonstration, so a browser cannot open them."


def page_path(title: str) -> str:
    """The path of an article on the wiki's server."""
    return "/wiki/" + quote(title.replace(" ", "_"), safe="")


def index_html(site: Site) -> str:
    """The list of all articles."""
    pages = sorted(
        (page for page in site.pages.values() if not page.namespace and page.redirect is None),
        key=lambda page: page.title,
    )
    items = "".join(
        f'<li><a href="{escape(page_path(page.title))}"><bdi>{escape(page.title)}</bdi></a></li>\n' for page in pages
    )
    return _document(site, site.name, f"<ul>\n{items}</ul>\n", "")


def article_html(site: Site, page: WikiPage, weboid_url: str | None) -> str:
    """One article with its external links; `weboid_url` = the Weboid that is linked for their state (G-2), if any."""
    text = "".join(f"<p>{escape(part)}</p>\n" for part in page.text.split("\n") if part)
    if page.redirect is not None:
        text = f'<p>See <a href="{escape(page_path(page.redirect))}"><bdi>{escape(page.redirect)}</bdi></a>.</p>\n'
    links = f"<h2>External links</h2>\n<ul>\n{_items(page.links)}</ul>\n" if page.links else ""
    tool = ""
    if weboid_url is not None:
        query = urlencode({"dbname": f"{site.dbname}@{site.farm}", "pageid": page.page})
        about = f"{weboid_url.rstrip('/')}/externalLinkInfo?{query}"
        tool = f'<p><a href="{escape(about)}">What Weboid knows about the links of this page</a></p>\n'
    return _document(site, page.title, text + links, tool)


def _items(links: Iterable[WikiLink]) -> str:
    return "".join(f"<li>{_link(link)}</li>\n" for link in links)


def _link(link: WikiLink) -> str:
    words = f"<bdi>{escape(link.caption or link.url)}</bdi>"
    if not link.url.lower().startswith(("http://", "https://")):
        return f"{words} <span class=note>(<bdi>{escape(link.url)}</bdi>)</span>"
    return f'<a rel="nofollow" href="{escape(link.url)}" title="{escape(link.url)}">{words}</a>'


def _document(site: Site, title: str, body: str, foot: str) -> str:
    return (
        f'<!doctype html>\n<html lang="{escape(site.lang)}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)} – {escape(site.name)}</title>\n<style>{_STYLE}</style>\n"
        f'<header><a href="/">{escape(site.name)}</a></header>\n'
        f"<main>\n<h1><bdi>{escape(title)}</bdi></h1>\n{body}</main>\n"
        f"<footer>\n{foot}<p>{_NOTE}</p>\n</footer>\n</html>\n"
    )

"""One link as an item of a list in HTML: its values, and the item, which is written here and in no template.

A page has hundreds of them, and a template takes several times as long for each. All text is escaped here unless it is
Markup already.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from weboid.web.request.route import address_of
from weboid.web.words.messages import Messages

_KEPT: Final = 4_096
_DEAD: Final = "dead"


class LinkView(NamedTuple):
    """The values of one link; not a dictionary, as templates look for attributes first."""

    verdict: str
    words: str
    url: str
    host: str | None
    """Its host in Unicode, to be shown alongside the URL and never instead of it."""
    normal: str | None
    href: str | None
    reason: str | None
    evidence: Sequence[str]
    """Sentences: what proves the verdict, or which proof is missing yet."""
    suspicious: bool
    details: Sequence[str]
    """The target, the file type, the claims of people."""
    copies: Sequence[Markup]
    """Copies in web archives as links, or why there is none."""
    checked: Markup | None
    status: str | None
    history: Sequence[str]
    forms: Sequence[str]


def link_item(link: LinkView, query: str | None, say: Messages, icons: Mapping[str, str]) -> Markup:
    """The item; `query` is the query of the pages about the link alone, none if there are no such pages."""
    lines = [
        f'<li class="link {link.verdict}">\n',
        f'<p class="what">{_chip(link.verdict, icons[link.verdict], link.words)}\n{_address(link)}</p>\n',
        _reason(link.reason) if link.reason else "",
        f'<p class="warning">{say.html("weboid-note-suspicious")}</p>' if link.suspicious else "",
        *[f"{_paragraph(words)}\n" for words in link.details],
        *[f'<p class="copy"><bdi>{escape(words)}</bdi></p>\n' for words in link.copies],
        _details(link, query, say) if link.history or link.forms else "",
        "</li>\n",
    ]
    return Markup("".join(lines))


@lru_cache(_KEPT)
def _chip(verdict: str, icon: str, words: str) -> str:
    text = f'<bdi class="cdx-info-chip__text">{escape(words)}</bdi>'
    return f'<span class="cdx-info-chip chip {verdict}">{icon}{text}</span>'


def _address(link: LinkView) -> str:
    url = escape(link.url)
    host = "" if link.host is None else f' <span class="host">(<bdi>{escape(link.host)}</bdi>)</span>'
    if link.href is None:
        return f'<bdi class="url" dir="ltr">{url}</bdi>{host}'
    href = url if link.href == link.url else escape(link.href)
    return f'<a class="url" href="{href}" rel="nofollow noopener noreferrer"><bdi dir="ltr">{url}</bdi></a>{host}'


@lru_cache(_KEPT)
def _reason(words: str) -> str:
    return _paragraph(words)


def _paragraph(words: str) -> str:
    return f"<p><bdi>{escape(words)}</bdi></p>"


def _details(link: LinkView, query: str | None, say: Messages) -> str:
    """The details, closed at first: evidence, history, other forms, pages about the link."""
    status = f' <span class="status">· {escape(link.status)}</span>' if link.status else ""
    checked = link.checked or say.html("weboid-details")
    lines = [f"<details>\n<summary>{checked}{status}</summary>\n"]
    if link.evidence:
        evidence = " ".join([f"<bdi>{escape(words)}</bdi>" for words in link.evidence])
        lines.append(f'<p class="evidence">{evidence}</p>\n')
    if link.history:
        lines += ['<ul class="history">\n', *map(_entry, link.history), "</ul>\n"]
    lines += [
        f'<p>{say.html("weboid-form-given")} <bdi class="url" dir="ltr">{escape(form)}</bdi></p>\n'
        for form in link.forms
    ]
    if query and link.history:
        lines.append(_actions(link.verdict == _DEAD, escape(query), say))
    return f"{''.join(lines)}</details>\n"


@lru_cache(_KEPT)
def _entry(words: str) -> str:
    return f"<li><bdi>{escape(words)}</bdi></li>\n"


def _actions(is_dead: bool, query: Markup, say: Messages) -> str:
    links = [f'<a href="{address}{query}{words}' for address, words in _pages_about(is_dead, say)]
    return f'<p class="actions">{"".join(links)}</p>\n'


@lru_cache(_KEPT)
def _pages_about(is_dead: bool, say: Messages) -> list[tuple[str, str]]:
    """The addresses of the pages about a link, and what follows the query in the links to them."""
    keys = {"url": "weboid-url-about"}
    if is_dead:
        keys |= {"report": "weboid-report-link", "replacement": "weboid-replacement-link"}
    return [
        (address_of(route), f'" rel="nofollow noopener noreferrer">{say.html(key)}</a>\n')
        for route, key in keys.items()
    ]

"""One link as an item of a list in HTML: its values, and the item, which is written here and in no template.

A page has hundreds of them, and a template takes several times as long for each. All text is escaped here unless it is
Markup already.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from weboid.web.request.route import address_of
from weboid.web.words.messages import Messages

_KEPT: Final = 4_096
_DEAD: Final = "dead"
_ITEM: Final = '<li class="link '
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~/:?=%+-]*")
"""URLs that are the same in HTML, which `escape` finds out in three times the time."""


class StateView(NamedTuple):
    """The words about the state of a link, which it shares with many others of a page."""

    verdict: str
    words: str
    reason: str | None
    evidence: tuple[str, ...]
    """Sentences: what proves the verdict, or which proof is missing yet."""
    checked: Markup | None
    status: str | None
    history: tuple[str, ...]


StateHtml = tuple[str, str, str, tuple[str, ...]]
"""Of an item: all up to the address, the reason, the details up to other forms, the actions divided at the query."""


class LinkView(NamedTuple):
    """The values of one link; not a dictionary, as templates look for attributes first."""

    state: StateView
    html: StateHtml
    url: str
    host: str | None
    """Its host in Unicode, to be shown alongside the URL and never instead of it."""
    normal: str | None
    href: str | None
    suspicious: bool
    details: Sequence[str]
    """The target, the file type, the claims of people."""
    copies: Sequence[Markup]
    """Copies in web archives as links, or why there is none."""
    forms: Sequence[str]
    is_repaired: bool = False
    """True if the page offers a copy already: the item is marked quietly."""


def link_item(link: LinkView, query: str | None, say: Messages) -> str:
    """The item as HTML; `query` is the query of the pages about the link alone, none if there are no such pages."""
    (head, reason, details, actions), history = link.html, link.state.history
    notes = _notes(link, say) if link.suspicious or link.details or link.copies else ""
    quiet = head.replace(_ITEM, f"{_ITEM}repaired ", 1) if link.is_repaired else head
    beginning = f"{quiet}{_address(link)}</p>\n{reason}{notes}"
    if not (history or link.forms):
        return f"{beginning}</li>\n"
    given = say.html("weboid-form-given") if link.forms else ""
    forms = "".join([f'<p>{given} <bdi class="url" dir="ltr">{escape(form)}</bdi></p>\n' for form in link.forms])
    about = query.join(actions) if query and history else ""
    return f"{beginning}{details}{forms}{about}</details>\n</li>\n"


def _notes(link: LinkView, say: Messages) -> str:
    warning = f'<p class="warning">{say.html("weboid-note-suspicious")}</p>' if link.suspicious else ""
    copies = [f'<p class="copy"><bdi>{escape(words)}</bdi></p>\n' for words in link.copies]
    return "".join([warning, *[f"{_paragraph(words)}\n" for words in link.details], *copies])


def state_html(state: StateView, icon: str, say: Messages) -> StateHtml:
    """The details are closed at first."""
    text = f'<bdi class="cdx-info-chip__text">{escape(state.words)}</bdi>'
    chip = f'<span class="cdx-info-chip chip {state.verdict}">{icon}{text}</span>'
    status = f' <span class="status">· {escape(state.status)}</span>' if state.status else ""
    checked = state.checked or say.html("weboid-details")
    details = [f"<details>\n<summary>{checked}{status}</summary>\n"]
    if state.evidence:
        evidence = " ".join([f"<bdi>{escape(words)}</bdi>" for words in state.evidence])
        details.append(f'<p class="evidence">{evidence}</p>\n')
    if state.history:
        details += ['<ul class="history">\n', *map(_entry, state.history), "</ul>\n"]
    return (
        f'{_ITEM}{state.verdict}">\n<p class="what">{chip}\n',
        _paragraph(state.reason) if state.reason else "",
        "".join(details),
        _actions(state.verdict == _DEAD, say),
    )


def _address(link: LinkView) -> str:
    url = link.url if _PLAIN.fullmatch(link.url) else escape(link.url)
    host = "" if link.host is None else f' <span class="host">(<bdi>{escape(link.host)}</bdi>)</span>'
    if link.href is None:
        return f'<bdi class="url" dir="ltr">{url}</bdi>{host}'
    href = url if link.href == link.url else escape(link.href)
    return f'<a class="url" href="{href}" rel="nofollow noopener noreferrer"><bdi dir="ltr">{url}</bdi></a>{host}'


def _paragraph(words: str) -> str:
    return f"<p><bdi>{escape(words)}</bdi></p>"


@lru_cache(_KEPT)
def _entry(words: str) -> str:
    return f"<li><bdi>{escape(words)}</bdi></li>\n"


@lru_cache(_KEPT)
def _actions(is_dead: bool, say: Messages) -> tuple[str, ...]:
    """The links to the pages about a link, divided where its query belongs."""
    keys = {"url": "weboid-url-about"}
    if is_dead:
        keys |= {"report": "weboid-report-link", "replacement": "weboid-replacement-link"}
    pieces = ['<p class="actions">']
    for route, key in keys.items():
        pieces[-1] += f'<a href="{address_of(route)}'
        pieces.append(f'" rel="nofollow noopener noreferrer">{say.html(key)}</a>\n')
    return (*pieces[:-1], f"{pieces[-1]}</p>\n")

"""The table of a page's links (W-3): grouped by host, of which one that is dead is one row with its links beneath.

The gravest hosts come first: those whose domain does not exist, then those that do not answer, then all others in the
order of W-3. A page is in one namespace, so there is no filter by it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup, escape

from weboid.core.record.reasons import Reason
from weboid.core.url.hosts import is_ip
from weboid.core.verdict.link_report import LinkReport, PageReport
from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.slices import Steps
from weboid.web.answer.report import PageAnswer
from weboid.web.formats.html import url_query
from weboid.web.formats.link_item import LinkView, link_row
from weboid.web.formats.link_view import link_view
from weboid.web.request.parameters import Parameters
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.words.messages import Messages

_SOME: Final = 20
"""Links that are written at a time: a fraction of a millisecond."""
_OF_HOST: Final = frozenset({Reason.HOST_DOWN, Reason.DNS_GONE})
_NEVER: Final = 1 << 16
_SORTS: Final[dict[str, tuple[str, Callable[[LinkReport], int] | None]]] = {
    "": ("weboid-page-sort-dead", None),
    "place": ("weboid-page-sort-place", None),
    "newest": ("weboid-page-sort-newest", lambda link: -_since(link, -1)),
    "oldest": ("weboid-page-sort-oldest", lambda link: _since(link, _NEVER)),
}
_HERE: Final = "!"
"""Stands for a domain in the address of its page, which is made once for all."""
_COLUMNS: Final = ("weboid-table-link", "weboid-table-state", "weboid-table-checks", "weboid-table-act")


def sort_of(given: Parameters) -> str:
    """The order that is given; raises Problem."""
    if (sort := given.get("sort", "")) not in _SORTS:
        raise Problem(400, "sort", ", ".join(filter(None, _SORTS)))
    return sort


def table_steps(
    page: PageReport, answer: PageAnswer, links: Sequence[LinkReport], given: Parameters, say: Messages
) -> Steps[str]:
    """The table of these links of a page; made in steps."""
    wiki, lang, day, settings = str(page.wiki), given.get("lang"), answer.day, answer.settings
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(say.html(key)) for key in _COLUMNS)
    parts, written = [f'<table class="links">\n<thead><tr>{head}</tr></thead>\n'], 0
    is_editable = bool(answer.wiki.api)
    domain_page = str(escape(address_of("domain", domain=_HERE, dbname=wiki, lang=lang))).split(_HERE)
    for group in _groups(links, sort_of(given)):
        views = []
        for link in group:
            views.append(link_view(link, day, say, settings))
            if (written := written + 1) % _SOME == 0:
                yield
        is_stated = len(views) > 1 and all(view.state[5:7] == views[0].state[5:7] for view in views)
        parts.append("<tbody>")
        if len(views) > 1:
            parts.append(_host_row(group[0], views[0], len(group), domain_page, say, is_stated=is_stated))
        for view in views:
            query = url_query(wiki, view.normal, lang, page.page) if view.normal else None
            parts.append(link_row(view, query, say, is_stated=is_stated, is_editable=is_editable))
    return "".join([*parts, "</table>\n"])


def choices_of(links: Iterable[LinkReport], say: Messages) -> dict[str, Sequence[tuple[str, Any]]]:
    """The values of the filters of a page with these links, with their words; the first is that nothing is chosen."""
    reasons = Counter(filter(None, [link.finest_reason for link in links]))
    words = {reason: say.text(f"weboid-reason-{reason.word}") for reason in reasons}
    any_copy = say.text("weboid-list-copy-any")
    return {
        "reason": [
            ("", say.text("weboid-page-reason-any")),
            *((each.word, f"{words[each]} ({say.number(count)})") for each, count in reasons.most_common()),
        ],
        "copy": [("", any_copy), *((word, say.text(f"weboid-list-copy-{word}")) for word in ("with", "without"))],
        "repaired": [
            ("", any_copy),
            ("yes", say.text("weboid-list-copy-with")),
            ("no", say.text("weboid-list-copy-without")),
        ],
        "sort": [(each, say.text(key)) for each, (key, _) in _SORTS.items()],
    }


def _groups(links: Sequence[LinkReport], sort: str) -> list[list[LinkReport]]:
    """The links by host; what has no host is alone."""
    (_, by_since), groups = _SORTS[sort], dict[object, list[LinkReport]]()
    for link in links if by_since is None else sorted(links, key=by_since):
        groups.setdefault(link.given if link.url is None else link.url.host, []).append(link)
    return list(groups.values()) if sort else sorted(groups.values(), key=_rank)


def _since(link: LinkReport, never: int) -> int:
    return never if link.finding.since is None else link.finding.since


def _rank(group: Sequence[LinkReport]) -> int:
    if group[0].finding.reason not in _OF_HOST or any(
        link.finding.verdict is not Verdict.DEAD or link.finding.reason not in _OF_HOST for link in group
    ):
        return 2
    return 0 if any(link.finest_reason is Reason.DNS_GONE for link in group) else 1


def _host_row(
    link: LinkReport, view: LinkView, count: int, domain_page: Sequence[str], say: Messages, *, is_stated: bool
) -> str:
    """The row of a host with several links; with their state, if it is that of all (`is_stated`)."""
    assert link.url is not None
    name = f'<bdi dir="ltr">{(host := str(escape(link.url.host)))}</bdi>'
    if not is_ip(link.url.host):
        name = f'<a href="{host.join(domain_page)}">{name}</a>'
    state = f'<td class="state">{view.state.chip}{view.state.why}</td>' if is_stated else ""
    return (
        f'<tr class="host"><th scope="rowgroup">{name} '
        f'<span class="detail">{say.html("weboid-page-counts", count)}</span></th>{state}</tr>\n'
    )

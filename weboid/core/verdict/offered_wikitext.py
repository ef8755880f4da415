"""The wikitext that editors may copy to repair a dead or doubtful link, as its wiki writes it (W-2, B-1).

Nothing is offered that would say more than is known: no dead link's mark while there may be a copy, and no status
"dead" of a link that is only doubtful. ``core/wikitext/templates`` fills in the templates.
"""

from typing import Final, NamedTuple

from weboid.core.archive.copies import CopyState
from weboid.core.record.days import date_of
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.settings import WikiSettings
from weboid.core.wikitext.templates import archive_parameters, archive_wikitext, dead_wikitext

_NO_COPY: Final = frozenset({CopyState.NONE, CopyState.UNSUITABLE, CopyState.EXCLUDED, CopyState.WITHDRAWN})
"""States of look-ups after which an editor will find no copy to use. With all others one may be found yet (D-219)."""


class OfferedWikitext(NamedTuple):
    """At least one of: the wiki's `template` for the copy that is shown first, the `parameters` that give a citation
    this copy, and the mark of a `dead` link that has no copy."""

    template: str | None = None
    parameters: str | None = None
    dead: str | None = None


def offered_wikitext(link: LinkReport, settings: WikiSettings | None, day: int) -> OfferedWikitext | None:
    """The wikitext for a link on a wiki with these settings; None = nothing. `day` is that of writing."""
    copies, url = link.copies, link.normal
    if settings is None or copies is None or url is None:
        return None
    is_dead, today, shown = link.finding.verdict is Verdict.DEAD, date_of(day), copies.first
    if shown is None:
        is_certain = is_dead and copies.state in _NO_COPY
        dead = dead_wikitext(settings, url=url, text="", today=today) if is_certain else None
        return None if dead is None else OfferedWikitext(dead=dead)
    if shown.taken is None:
        return None
    template = archive_wikitext(settings, url=url, archive_url=shown.address, taken=shown.taken, text="", today=today)
    parameters = archive_parameters(
        settings, archive_url=shown.address, taken=shown.taken, today=today, is_dead=is_dead
    )
    return None if template is None and parameters is None else OfferedWikitext(template, parameters)

"""Reads the citations in a wikitext: the link, its archived copy, their marks, the access date (B-2).

Names of templates and parameters come from the wiki's ``settings``; nothing here is judged or changed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weboid.assets import toml_next_to
from weboid.core.wikitext.nodes import ParameterNode, TemplateNode, Wikitext
from weboid.core.wikitext.settings import CiteSettings, WikiSettings, template_key

_NAMESPACES: Final = frozenset({*toml_next_to(__file__)["namespaces"], "#invoke"})
"""What may stand before a name, also ``#invoke:``: pages with too many templates call the module of a citation."""


@dataclass(frozen=True, slots=True)
class Written:
    """A parameter that is there, and its value without comments; an empty one is there, too."""

    parameter: ParameterNode
    value: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation with a link. `url` has a value; of the others each may be empty, or None if it is not there.

    `statuses` are the parameters that say whether the link is dead, the present name first. `is_paid` = the author says
    that the document costs something or takes an account.
    """

    template: TemplateNode
    url: Written
    title: Written | None
    access_date: Written | None
    archive_url: Written | None
    archive_date: Written | None
    archive_stamp: Written | None
    part_url: Written | None
    statuses: tuple[Written, ...]
    is_paid: bool


def citations_of(wikitext: Wikitext, settings: WikiSettings) -> Iterator[Citation]:
    """The citations of a text, in its order."""
    names = name_keys(settings.cite.names)
    for template in wikitext.templates:
        if name_key(template.name) in names:
            citation = _citation(wikitext, template, settings.cite)
            if citation is not None:
                yield citation


def name_key(name: str) -> str:
    """The key of all spellings of a template's name, in any case (D-243), with its namespace in any language or not."""
    key = template_key(name).casefold()
    space, _, rest = key.partition(":")
    return rest.lstrip() if space.rstrip() in _NAMESPACES else key


def name_keys(names: Iterable[str]) -> frozenset[str]:
    """The keys of several names."""
    return frozenset(map(name_key, names))


def written(wikitext: Wikitext, template: TemplateNode, names: Iterable[str]) -> Written | None:
    """The parameter of these names that counts: the first with a value, else the first that is there.

    Of a name that is given twice MediaWiki takes the last.
    """
    given = {parameter.name: parameter for parameter in template.parameters}
    # Blanks that MediaWiki keeps, such as no-break spaces, are part of no address, day or word.
    found = [Written(given[name], wikitext.value_of(given[name]).strip()) for name in names if name in given]
    return next((each for each in found if each.value), found[0] if found else None)


def name_to_write(names: Sequence[str], template: TemplateNode, cite: CiteSettings) -> str:
    """The name of these under which a citation gets a parameter: that of the family of which it has most names.

    Without families in the settings, names at the same place of their lists are one: ``accessdate``, ``archiveurl``;
    the last of a shorter list belongs to all that follow. Those of the title only decide between equals.
    """
    lists = (cite.access_date, cite.archive_url, cite.archive_date), (cite.title,)
    places = range(max(len(each) for part in lists for each in part))
    aligned = ([[each[min(place, len(each) - 1)] for each in part if each] for part in lists] for place in places)
    given = {parameter.name for parameter in template.parameters}
    families = ((family,) for family in cite.families) if cite.families else aligned
    best = max(families, key=lambda parts: [len(given.intersection(part)) for part in parts])
    most = {name for part in best for name in part}
    return next((name for name in names if name in most), names[0])


def _citation(wikitext: Wikitext, template: TemplateNode, cite: CiteSettings) -> Citation | None:
    def get(names: Iterable[str]) -> Written | None:
        return written(wikitext, template, names)

    url = get(cite.url)
    if url is None or not url.value:
        return None
    status = cite.status
    statuses = [] if status is None else [get((name,)) for name in (status.param, *status.legacy)]
    paywalls = ((get((name,)), marks) for name, marks in cite.paywall.items())
    return Citation(
        template,
        url,
        get(cite.title),
        get(cite.access_date),
        get(cite.archive_url),
        get(cite.archive_date),
        get(cite.archive_stamp),
        get(cite.part_url),
        tuple(each for each in statuses if each is not None),
        any(found is not None and found.value.casefold() in marks for found, marks in paywalls),
    )

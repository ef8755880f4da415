"""Templates for a test wiki that cites as the English Wikipedia does, and its settings page.

They are our own and small; what matters is that their categories are right: a repair must not make anything worse.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from support.pwb import Person

SETTINGS_PAGE: Final = "MediaWiki:Weboid.json"
DEAD_CATEGORY: Final = "All_articles_with_dead_external_links"
PERMANENT_CATEGORY: Final = "All_articles_with_permanently_dead_external_links"
COPY_CATEGORY: Final = "Webarchive_template_wayback_links"
BAD_CATEGORIES: Final = ("CS1_errors", "CS1_maint", "Webarchive_template_errors", "Articles_with_invalid_date")
"""How the names of categories begin that say what is wrong with a page."""

_HERE: Final = Path(__file__).parent
_CITE: Final = "{{#invoke:Citation|cite}}"
_DEAD_LINK: Final = (
    "<sup>[''dead link'']</sup>[[Category:All articles with dead external links]]"
    "{{#if:{{{date|}}}|[[Category:Articles with dead external links from {{{date}}}]]"
    "|[[Category:Articles with invalid date parameter in template]]}}"
    "{{#ifeq:{{{fix-attempted|}}}|yes|[[Category:All articles with permanently dead external links]]}}"
)
_WEBARCHIVE: Final = (
    "{{#if:{{{url|}}}|[{{{url}}} Archived]|[[Category:Webarchive template errors]]}}"
    "{{#if:{{{date|}}}|&#32;{{{date}}}{{#iferror:{{#time:Ymd|{{{date}}}}}|[[Category:Webarchive template errors]]|}}}}"
    "[[Category:Webarchive template wayback links]]"
)
_NAMES: Final = ("web", "news", "book", "journal", "magazine", "press release", "report", "conference", "encyclopedia")

TEMPLATES: Final = {
    "Module:Citation": (_HERE / "citation.lua").read_text(encoding="utf-8"),
    **{f"Template:Cite {name}": _CITE for name in (*_NAMES, "thesis")},
    **{f"Template:{name}": _CITE for name in ("Citeweb", "Citation")},
    "Template:Dead link": _DEAD_LINK,
    "Template:Webarchive": _WEBARCHIVE,
    "Template:Wayback": "[https://web.archive.org/web/{{{date|*}}}/{{{url|{{{1|}}}}}} Archived]",
    **{f"Template:{name}": "" for name in ("Cbignore", "Bots", "Nobots", "Use mdy dates", "Use dmy dates")},
}
"""Text by full title."""


def wiki_settings(dbname: str, **options: Any) -> str:
    """Settings for the test wiki under this name: those of the English Wikipedia, with these `options`."""
    shipped = json.loads((_HERE.parents[1] / "wikis" / "enwiki.json").read_text(encoding="utf-8"))
    settings = {**shipped, "dbname": dbname, "options": {**shipped.get("options", {}), **options}}
    return json.dumps(settings, indent=1)


def save_templates(admin: Person) -> None:
    for title, text in TEMPLATES.items():
        admin.save(title, text)


@contextmanager
def settings_page(admin: Person, dbname: str, **options: Any) -> Iterator[None]:
    """A wiki with a settings page, until the block ends."""
    admin.save(SETTINGS_PAGE, wiki_settings(dbname, **options))
    yield
    admin.do("delete", title=SETTINGS_PAGE)


def complaints(categories: list[str]) -> set[str]:
    """Those of a page's categories that say that something is wrong with it."""
    return {category for category in categories if category.startswith(BAD_CATEGORIES)}

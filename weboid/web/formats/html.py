"""HTML for people, from templates (W-3, W-4).

Templates escape everything but the HTML of ``Messages.html``; every address that they link to was made by
`phrases.href`, by `route.address_of` or here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.runtime import Context
from markupsafe import Markup, escape

from weboid import __version__
from weboid.core.record.days import iso
from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.slices import Steps
from weboid.web.formats.link_item import link_item
from weboid.web.formats.static_files import icon, style
from weboid.web.http.page_script import SCRIPT
from weboid.web.request.parameters import Parameters, without
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.words import phrases
from weboid.web.words.language import Language, languages, offered_languages, written
from weboid.web.words.messages import Messages, messages_in

CONTENT_TYPE: Final = "text/html"
_KEPT: Final = 4_096
_UNQUOTED: Final = re.compile(r"[A-Za-z0-9_.~/:-]*")
_ADDRESS: Final = re.compile(r'\{\{ url\("([^"]*)"\) \}\}')


def problem_html(problem: Problem, wikis: Sequence[str], given: Parameters, say: Messages, source: str) -> str:
    """The page of an error, with the form to correct it."""
    values = {"message": problem_words(problem, say), "near": problem.near, "missing": problem.http == 404}
    return render("problem.html", say, given, source, wikis, **values)


def problem_words(problem: Problem, say: Messages) -> Markup:
    """The words of an error, also for the page whose form was sent."""
    isolated = Markup("<bdi>{}</bdi>")
    parameters = [
        isolated.format(phrases.visible(value)) if isinstance(value, str) else value for value in problem.parameters
    ]
    return say.html(problem.key, *parameters)


def time_html(moment: int, day: int, say: Messages) -> Markup:
    return Markup(f"{_dated(moment, say)}{escape(say.distance(moment - day))}</time>")


@lru_cache(_KEPT)
def since_html(first: int, day: int, say: Messages, words: str | None = None) -> Markup:
    """The time since a day in words, or `words` that say so, with the date as a tooltip."""
    return Markup(f"{_dated(first, say)}{escape(say.span(day - first) if words is None else words)}</time>")


@lru_cache(_KEPT)
def _dated(day: int, say: Messages) -> str:
    return f'<time datetime="{iso(day)}" title="{escape(say.date(day))}">'


def address_html(text: str) -> Markup:
    """An address that a server or a person gave, as a link if it may be clicked."""
    shown = f"<bdi>{escape(phrases.visible(text))}</bdi>"
    if (href := phrases.href(text)) is None:
        return Markup(shown)
    return Markup(f'<a href="{escape(href)}" rel="nofollow noopener noreferrer">{shown}</a>')


def url_query(wiki: str, url: str, lang: str | None, page: int | None = None) -> str:
    """The query of the pages about one URL (of a page), beginning with ``?``, as HTML for `link_item`.

    A page has hundreds of links; leaving unescaped what a query may contain as it is saves time.
    """
    quoted = url if _UNQUOTED.fullmatch(url) else quote(url, safe="/:")
    return f"?url={quoted}{_behind_url(wiki, lang, page)}"


@lru_cache(64)
def _behind_url(wiki: str, lang: str | None, page: int | None) -> str:
    place = {"dbname": wiki, "pageid": page, "lang": lang}
    return str(escape("&" + urlencode({name: value for name, value in place.items() if value is not None})))


def query(given: Parameters) -> str:
    """These parameters as the query of an address, without ``format`` and ``callback``."""
    return "?" + urlencode({name: value for name, value in given.items() if name not in ("format", "callback")})


def render(name: str, say: Messages, given: Parameters, source: str, wikis: Sequence[str], **values: Any) -> str:
    """A template with these values and with what all templates need, as HTML."""
    context, pieces = _begun(name, _values(say, given, source, wikis, values))
    text = "".join(pieces)
    context.vars.clear()  # macros, which hold the context
    return text


def render_steps(
    name: str, say: Messages, given: Parameters, source: str, wikis: Sequence[str], **values: Any
) -> Steps[bytes]:
    """`render` in steps, encoded: to join a long text first takes longer than to encode it."""
    context, pieces = _begun(name, _values(say, given, source, wikis, values))
    encoded = []
    for piece in pieces:
        encoded.append(piece.encode("utf-8", "replace"))
        yield
    context.vars.clear()
    return b"".join(encoded)


def _begun(name: str, values: dict[str, Any]) -> tuple[Context, Iterator[str]]:
    template = _environment().get_template(name)
    context = template.new_context(values)
    return context, template.root_render_func(context)


def _values(
    say: Messages, given: Parameters, source: str, wikis: Sequence[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    language = say.language
    lang = {"lang": given["lang"]} if "lang" in given else {}
    return dict(
        say=say.html,
        language=language,
        language_links=_language_links(language, given),
        given=given,
        wikis=wikis,
        lang_query=query(lang) if lang else "",
        page_query=lambda wiki, page: query({"dbname": wiki, "pageid": str(page), **lang}),
        wiki_query=lambda wiki: query({"dbname": wiki, **lang}),
        url_query=lambda wiki, url: Markup(url_query(wiki, url, given.get("lang"))),
        link_item=lambda link, query: Markup(link_item(link, query, say)),
        visible=phrases.visible,
        style=style().name,
        icon=icon().name,
        script=Markup(SCRIPT),
        source=source,
        version=__version__,
        **values,
    )


def _language_links(chosen: Language, given: Parameters) -> Markup:
    """This page in each language that has messages."""
    link = Markup('<a href="{}" lang="{}" dir="{}"{}>{}</a>')
    current = Markup(' aria-current="true"')
    here = without(given, "lang", "uselang")
    return Markup("\n").join(
        link.format(
            query({**here, "lang": each.code}),
            each.bcp47,
            each.direction,
            current if each == chosen else "",
            each.autonym,
        )
        for each in offered_languages(chosen)
    )


@cache
def icons() -> dict[str, str]:
    """The shapes of the verdicts by their words."""
    icon_of = _environment().get_template("icon.html").module.icon_of  # type: ignore[attr-defined]  # a macro
    return {verdict.word: icon_of(verdict.word) for verdict in Verdict}


class _Context(Context):
    """Macros that are imported hold their context: it does not hold them."""

    def get_exported(self) -> dict[str, Any]:
        exported, self.vars = super().get_exported(), {}
        return exported


class _Addresses(Extension):
    """Writes the addresses of routes into a template as it is compiled: a page has three for each of its links."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _ADDRESS.sub(lambda match: str(escape(address_of(match[1]))), source)


def prepare() -> None:
    """Compiles all templates and reads the words of all languages: a quarter of a second for which no reader waits."""
    for name in _environment().list_templates(extensions=["html"]):
        _environment().get_template(name)
    for code in written():
        messages_in(languages()[code]).span(2)


@cache
def _environment() -> Environment:
    folder = Path(__file__).parents[1] / "templates"
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=[_Addresses],
    )
    environment.context_class = _Context
    environment.globals["url"] = address_of
    return environment

"""The addresses of the webservice and what answers them (W-1, W-3, W-4, W-8).

One law: a handler reads parameters, asks `Answers` and hands values to a format; it knows neither SQL nor markup.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from aiohttp import hdrs, web

from weboid.config import PROJECT_URL, Config
from weboid.core.farms import WikiName
from weboid.core.report import Extent
from weboid.errors import StoreError
from weboid.store.overview import list_first_pages
from weboid.store.pool import Pool
from weboid.store.wiki import StoredWiki, list_wikis
from weboid.web import form_html, form_js, form_json, form_xml, source, status_page
from weboid.web.accept import best_type
from weboid.web.answers import Answer, Answers
from weboid.web.changes import Changes
from weboid.web.document import document
from weboid.web.files import files
from weboid.web.form_html import Bot, Listed
from weboid.web.language import Language
from weboid.web.lists import Lists
from weboid.web.live import LiveReader, Sources
from weboid.web.messages import Messages, messages_in
from weboid.web.metrics import Metrics
from weboid.web.problem import Problem
from weboid.web.question import Parameters, callback_of, parameters_of, question_of, wants_all
from weboid.web.service import Service
from weboid.web.shell import Errors, Form, add_headers, html_language, machine_language, sent
from weboid.web.status import StatusReader
from weboid.web.status_page import StatusPage
from weboid.web.url_page import UrlPage

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_PAGES_SHOWN: Final = 20
_WIKIS_SHOWN: Final = 20
_MOST_WIKIS: Final = 2_000
_TYPES: Final = {
    form_json.CONTENT_TYPE: Form.JSON,
    form_xml.CONTENT_TYPE: Form.XML,
    "text/xml": Form.XML,
    form_html.CONTENT_TYPE: Form.HTML,
}
_MACHINE_TYPES: Final = {kind: form for kind, form in _TYPES.items() if form is not Form.HTML}


def make_app(
    config: Config,
    pool: Pool,
    *,
    today: Callable[[], int],
    sources: Sources,
    live_budget_s: float = 5.0,
    public_url: str = PROJECT_URL,
) -> web.Application:
    """The webservice. `sources` gives what reads a wiki live (the application does not close it), None if nothing can;
    `public_url` is where the world reaches this service.
    """
    live = LiveReader(sources, budget_s=live_budget_s)
    public_url = public_url.rstrip("/")
    answers = Answers(pool, live, config.farms, config.policy, today)
    site = _Site(config, pool, answers, public_url)
    service = Service(
        pool, answers, config.policy, today, public_url, public_url + source.PATH, site.list_wiki_names, form_of
    )
    status, metrics = StatusReader(pool, today), Metrics()
    app = web.Application(middlewares=[metrics.middleware, Errors(site.problem_page, form_of).middleware])
    app.on_response_prepare.append(add_headers)
    app.router.add_get("/", site.start)
    app.router.add_get("/externalLinkInfo", site.link_info)
    app.router.add_get("/externalLinkProblem", site.link_problem)
    app.router.add_get("/api/page", site.api_page)
    UrlPage(service).add_routes(app)
    Lists(service).add_routes(app)
    Changes(service).add_routes(app)
    app.router.add_get("/bot", site.bot)
    StatusPage(status, metrics, public_url + source.PATH).add_routes(app)
    app.router.add_get("/static/{name}", _static)
    app.router.add_get(source.PATH, _source)

    async def reads(_: web.Application) -> AsyncIterator[None]:
        yield
        await live.close()
        await status.close()

    app.cleanup_ctx.append(reads)
    return app


def form_of(request: web.Request) -> Form:
    """The format in which a request wants its answer: of its address, by ``format=``, or by Accept."""
    if request.path == "/externalLinkProblem":
        return Form.JS
    if request.path == status_page.PATH:
        return status_page.form_of(request)
    if request.path.startswith("/feeds/"):
        return Form.XML
    asked = request.query.get("format", "")
    if request.path.startswith("/lists/"):
        return Form(asked) if asked in (Form.JSON, Form.XML) else Form.HTML
    if not request.path.startswith(("/api/", "/changes")):
        return Form.HTML
    types = _TYPES if request.path == "/api/page" else _MACHINE_TYPES
    if asked in types.values():
        return Form(asked)
    return types[best_type(request.headers.get(hdrs.ACCEPT, ""), tuple(types))]


class _Site:
    """The handlers, with what they all need."""

    def __init__(self, config: Config, pool: Pool, answers: Answers, public_url: str) -> None:
        self._pool = pool
        self._answers = answers
        self._farms = {farm.code: farm.name for farm in config.farms}
        self._source = public_url + source.PATH
        self._bot = Bot(config.net.user_agent, config.contact, config.crawl.delay, config.net.body_bytes // 1024)

    async def start(self, request: web.Request) -> web.Response:
        """The start page."""
        given = _given(request)
        say = _said(html_language(request, _code(given)))
        wikis = await self._wikis()
        async with self._pool.connection() as conn:
            listed = [
                Listed(name, await list_first_pages(conn, wiki.wiki, limit=_PAGES_SHOWN))
                for name, wiki in list(wikis.items())[:_WIKIS_SHOWN]
            ]
        page = form_html.start_html(listed, list(wikis), given, say, self._source)
        return sent(request, page, form_html.CONTENT_TYPE, vary="Accept-Language")

    async def list_wiki_names(self) -> Sequence[str]:
        """The names of the wikis that can be asked for."""
        return list(await self._wikis())

    async def bot(self, request: web.Request) -> web.Response:
        """C-17: for site owners who found us in their logs."""
        say = _said(html_language(request, _code(_given(request))))
        page = form_html.bot_html(self._bot, say, self._source)
        return sent(request, page, form_html.CONTENT_TYPE, vary="Accept-Language")

    async def link_info(self, request: web.Request) -> web.Response:
        """W-3 and W-4: the links of a page as HTML, with the form; without any page asked for, the start page."""
        given = _given(request)
        wants_all(given)
        if not given.keys() - {"lang", "uselang", "all"}:
            return await self.start(request)
        return await self._html(request, given, await self._found(given))

    async def link_problem(self, request: web.Request) -> web.Response:
        """W-1: one call with the dead links of a page."""
        given = _given(request)
        callback = callback_of(given)
        say = _said(machine_language(_code(given)))
        answer = await self._found(given)
        # `all` is for the other formats: this call is run inside a page and has nothing but dead links.
        body = form_js.text_of(document(answer, Extent.DEAD, say, self._source), callback)
        return sent(request, body, form_js.CONTENT_TYPE)

    async def api_page(self, request: web.Request) -> web.Response:
        """W-8: pages by id or title, in the format asked for."""
        given = _given(request)
        if given.get("format", Form.JSON) not in (Form.JSON, Form.XML, Form.HTML):
            raise Problem(400, "format")
        form = form_of(request)
        language = html_language(request, _code(given)) if form is Form.HTML else machine_language(_code(given))
        answer = await self._found(given)
        if form is Form.HTML:
            return await self._html(request, given, answer, vary="Accept, Accept-Language")
        everything = wants_all(given)
        say = _said(language)
        if form is Form.XML:
            extent = Extent.ALL if everything else Extent.FINDINGS
            xml = form_xml.bytes_of(document(answer, extent, say, self._source))
            return sent(request, xml, form_xml.CONTENT_TYPE, vary="Accept")
        extent = Extent.ALL if everything else Extent.DEAD
        text = form_json.text_of(document(answer, extent, say, self._source))
        return sent(request, text, form_json.CONTENT_TYPE, vary="Accept")

    async def problem_page(self, request: web.Request, problem: Problem, say: Messages) -> str:
        """What is wrong, as a page with the form."""
        try:
            given = _given(request)
        except Problem:
            given = {}
        wikis: Sequence[str] = ()
        # A flood of questions about how it goes must not reach the database, whatever they name.
        if problem.http not in (500, 503) and request.path != status_page.PATH:
            try:
                wikis = list(await self._wikis())
            except StoreError:
                wikis = ()
        return form_html.problem_html(problem, wikis, given, say, self._source)

    async def _found(self, given: Parameters) -> Answer:
        answer = await self._answers.find_answer(question_of(given))
        if not answer.pages:
            raise Problem(404, "unknown-page", ", ".join(answer.missing), given["dbname"])
        return answer

    async def _html(
        self, request: web.Request, given: Parameters, answer: Answer, vary: str = "Accept-Language"
    ) -> web.Response:
        say = _said(html_language(request, _code(given)))
        page = form_html.answer_html(answer, list(await self._wikis()), given, say, self._source)
        return sent(request, page, form_html.CONTENT_TYPE, vary=vary)

    async def _wikis(self) -> dict[str, StoredWiki]:
        """Wikis by name; those of farms that are no longer configured cannot be asked for."""
        async with self._pool.connection() as conn:
            wikis = (await list_wikis(conn))[:_MOST_WIKIS]
        return {str(WikiName(wiki.dbname, self._farms[wiki.farm])): wiki for wiki in wikis if wiki.farm in self._farms}


async def _static(request: web.Request) -> web.Response:
    if (file := files().get(request.match_info["name"])) is None:
        raise web.HTTPNotFound
    return sent(request, file.body, file.content_type, cache=_FOR_EVER)


async def _source(request: web.Request) -> web.Response:
    return sent(request, source.archive(), "application/zip", cache="public, max-age=3600")


def _given(request: web.Request) -> Parameters:
    return parameters_of(request.query.items(), len(request.rel_url.raw_query_string))


def _code(given: Parameters) -> str | None:
    return given.get("lang", given.get("uselang"))


def _said(language: Language) -> Messages:
    return messages_in(language)

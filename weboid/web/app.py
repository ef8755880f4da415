"""The addresses of the webservice and what answers them (W-1, W-3, W-4, W-8).

One law: a handler reads parameters, asks `Answers` and hands values to a format; it knows neither SQL nor markup.
"""

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from typing import Final

from aiohttp import ClientSession, hdrs, web

from weboid.config import PROJECT_URL, Config
from weboid.core.report import Extent
from weboid.errors import StoreError
from weboid.store.overview import list_first_pages
from weboid.store.pool import Pool
from weboid.web import account, form_html, form_js, form_json, form_xml, source, status_page
from weboid.web.accept import best_type
from weboid.web.admin import AdminPage
from weboid.web.answers import Answer, Answers
from weboid.web.asked import Asked
from weboid.web.changes import Changes
from weboid.web.clients import clients_of
from weboid.web.data import Data
from weboid.web.description import Description
from weboid.web.document import document
from weboid.web.files import files
from weboid.web.form_html import Listed
from weboid.web.kept import CACHE_CONTROL, FREE, Kept
from weboid.web.language import Language
from weboid.web.limits import Limits
from weboid.web.lists import Lists
from weboid.web.live import LiveReader, Sources
from weboid.web.messages import Messages, messages_in
from weboid.web.metrics import Metrics
from weboid.web.normal import NormalForm
from weboid.web.oauth import Provider
from weboid.web.ping import Ping
from weboid.web.problem import Problem
from weboid.web.prose import Prose
from weboid.web.question import Parameters, callback_of, extent_of, parameters_of, question_of, verdicts_of
from weboid.web.replacement_page import ReplacementPage
from weboid.web.report_page import ReportPage
from weboid.web.search import Search, content_namespaces
from weboid.web.service import Service
from weboid.web.session import Sessions
from weboid.web.shell import Errors, Form, add_headers, html_language, machine_language, sent
from weboid.web.status import StatusReader
from weboid.web.status_page import StatusPage
from weboid.web.url_page import UrlPage
from weboid.web.whole import Whole
from weboid.web.wikis import Wikis

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_PAGES_SHOWN: Final = 60
"""On the start page, over all wikis."""
_WIKIS_SHOWN: Final = 20
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
    client: ClientSession | None = None,
) -> web.Application:
    """The webservice. `sources` gives what reads a wiki live (the application does not close it), None if nothing can;
    `public_url` is where the world reaches this service; `client` is the way to the OAuth provider: without it nobody
    can sign in (the application does not close it either).
    """
    live = LiveReader(sources, budget_s=live_budget_s)
    public_url = public_url.rstrip("/")
    wikis = Wikis(pool, config.farms)
    answers = Answers(pool, live, wikis, Asked(pool), config.policy, today)
    site = _Site(pool, answers, wikis, public_url)
    sessions = Sessions(config.web.secret, config.people, public_url)
    limits = Limits(config.web, clients_of(config.web.tokens), pool, today)
    service = Service(
        pool,
        answers,
        config.policy,
        today,
        public_url,
        public_url + source.PATH,
        wikis.list_names,
        form_of,
        sessions,
    )
    status, metrics = StatusReader(pool, today), Metrics()
    errors = Errors(site.problem_page, form_of)
    app = web.Application(middlewares=[metrics.middleware, sessions.middleware, errors.middleware, limits.middleware])
    app.on_response_prepare.append(add_headers)
    app.router.add_get("/", site.start)
    app.router.add_get("/externalLinkInfo", site.link_info)
    app.router.add_get("/externalLinkProblem", site.link_problem)
    app.router.add_get("/api/page", site.api_page)
    UrlPage(service).add_routes(app)
    Lists(service).add_routes(app)
    Search(service, content_namespaces(config)).add_routes(app)
    Changes(service).add_routes(app)
    Whole(service).add_routes(app)
    Ping(service).add_routes(app)
    NormalForm(service).add_routes(app)
    Description(service).add_routes(app)
    Data(service).add_routes(app)
    Prose(service, config).add_routes(app)
    provider = Provider(config.people, client, public_url + account.BACK, config.net.user_agent)
    account.Account(service, provider).add_routes(app)
    ReplacementPage(service, config.people.daily).add_routes(app)
    ReportPage(service, config.people.daily).add_routes(app)
    AdminPage(service).add_routes(app)
    StatusPage(status, metrics, public_url + source.PATH).add_routes(app)
    app.router.add_get("/static/{name}", _static)
    app.router.add_get(source.PATH, _source)

    async def reads(_: web.Application) -> AsyncIterator[None]:
        yield
        await live.close()
        await status.close()

    app.cleanup_ctx.append(reads)
    app.cleanup_ctx.append(limits.tidying)
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
    if request.path == "/data" or request.path.startswith("/lists/"):
        return Form(asked) if asked in (Form.JSON, Form.XML) else Form.HTML
    if not request.path.startswith(("/api/", "/changes")):
        return Form.HTML
    types = _TYPES if request.path == "/api/page" else _MACHINE_TYPES
    if asked in types.values():
        return Form(asked)
    return types[best_type(request.headers.get(hdrs.ACCEPT, ""), tuple(types))]


class _Site:
    """The handlers, with what they all need."""

    def __init__(self, pool: Pool, answers: Answers, wikis: Wikis, public_url: str) -> None:
        self._pool = pool
        self._answers = answers
        self._kept = Kept()
        self._wikis = wikis
        self._source = public_url + source.PATH

    async def start(self, request: web.Request) -> web.Response:
        """The start page."""
        given = _given(request)
        say = _said(html_language(request, _code(given)))
        wikis = await self._wikis.list_known()
        told = dict(list(wikis.items())[:_WIKIS_SHOWN])
        limit = _PAGES_SHOWN // len(told) if told else 0
        async with self._pool.connection() as conn:
            pages = await list_first_pages(conn, [wiki.wiki for wiki in told.values()], limit=limit)
        listed = [Listed(name, pages[wiki.wiki]) for name, wiki in told.items()]
        page = form_html.start_html(listed, list(wikis), given, say, self._source)
        return sent(request, page, form_html.CONTENT_TYPE, vary="Accept-Language")

    async def link_info(self, request: web.Request) -> web.Response:
        """W-3 and W-4: the links of a page as HTML, with the form; without any page asked for, the start page."""
        given = _given(request)
        extent_of(given, Extent.FINDINGS)
        if not given.keys() - {"lang", "uselang", "all"}:
            return await self.start(request)
        return await self._html(request, given, await self._found(given))

    async def link_problem(self, request: web.Request) -> web.Response:
        """W-1: one call with the dead links of a page."""
        given = _given(request)
        callback = callback_of(given)
        say = _said(machine_language(_code(given)))
        # `all` and `verdict` are for the other formats: this call is run inside a page and has nothing but dead links.
        return await self._kept_or_made(
            request,
            given,
            (say.language.code, callback),
            form_js.CONTENT_TYPE,
            lambda answer: form_js.text_of(document(answer, Extent.DEAD, say, self._source), callback).encode(),
        )

    async def api_page(self, request: web.Request) -> web.Response:
        """W-8: pages by id or title, in the format asked for."""
        given = _given(request)
        if given.get("format", Form.JSON) not in (Form.JSON, Form.XML, Form.HTML):
            raise Problem(400, "format")
        form = form_of(request)
        language = html_language(request, _code(given)) if form is Form.HTML else machine_language(_code(given))
        verdicts = verdicts_of(given)
        extent = extent_of(given, Extent.DEAD if form is Form.JSON else Extent.FINDINGS)
        if form is Form.HTML:
            return await self._html(request, given, await self._found(given), vary="Accept, Accept-Language")
        say = _said(language)

        def made(answer: Answer) -> bytes:
            told = document(answer, extent, say, self._source, verdicts)
            return form_xml.bytes_of(told) if form is Form.XML else form_json.text_of(told).encode()

        kind = form_xml.CONTENT_TYPE if form is Form.XML else form_json.CONTENT_TYPE
        return await self._kept_or_made(request, given, (language.code, extent, verdicts), kind, made, vary="Accept")

    async def problem_page(self, request: web.Request, problem: Problem, say: Messages) -> str:
        """What is wrong, as a page with the form."""
        try:
            given = _given(request)
        except Problem:
            given = {}
        wikis: Sequence[str] = ()
        # A flood of questions about how it goes must not reach the database, whatever they name.
        if problem.http not in (401, 429, 500, 503) and request.path != status_page.PATH:
            try:
                wikis = await self._wikis.list_names()
            except StoreError:
                wikis = ()
        return form_html.problem_html(problem, wikis, given, say, self._source)

    async def _found(self, given: Parameters) -> Answer:
        answer = await self._answers.find_answer(question_of(given))
        if not answer.pages:
            raise Problem(404, "unknown-page", ", ".join(answer.missing), given["dbname"])
        return answer

    async def _kept_or_made(
        self,
        request: web.Request,
        given: Parameters,
        forms: tuple[Hashable, ...],
        kind: str,
        made: Callable[[Answer], bytes],
        *,
        vary: str = "",
    ) -> web.Response:
        """The answer for machines, which may be a kept one if the revision is named (W-10).

        `forms` are what forms it beside the question, the kind and the day.
        """
        question = question_of(given)
        asked = (question, forms, kind, self._answers.today())
        if question.revision is not None and (kept := self._kept.find(asked)) is not None:
            request[FREE] = True
            body, age_s = kept
            response = sent(request, body, kind, cache=CACHE_CONTROL, vary=vary)
            response.headers[hdrs.AGE] = str(age_s)
            return response
        answer = await self._found(given)
        body = made(answer)
        if question.revision is None or not answer.is_of(question.revision):
            return sent(request, body, kind, vary=vary)
        self._kept.keep(asked, body)
        return sent(request, body, kind, cache=CACHE_CONTROL, vary=vary)

    async def _html(
        self, request: web.Request, given: Parameters, answer: Answer, vary: str = "Accept-Language"
    ) -> web.Response:
        say = _said(html_language(request, _code(given)))
        page = form_html.answer_html(answer, await self._wikis.list_names(), given, say, self._source)
        return sent(request, page, form_html.CONTENT_TYPE, vary=vary)


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

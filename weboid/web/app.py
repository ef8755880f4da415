"""The webservice put together: what stands around every request, and who answers at which address (W).

One law: nothing is answered here but files; each family of pages brings its own addresses.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Final

from aiohttp import ClientSession, web

from weboid.config import PROJECT_URL, Config
from weboid.errors import StoreError
from weboid.store.db.pool import Pool
from weboid.web.answer.answers import Answers
from weboid.web.answer.live_pages import LiveReader, Sources
from weboid.web.answer.notify_feeder import FeederNotifier
from weboid.web.answer.wiki_names import Wikis
from weboid.web.api.bulk import BulkPages
from weboid.web.api.changes import Changes
from weboid.web.api.dataset import DatasetFiles
from weboid.web.api.normal_form import NormalForm
from weboid.web.api.openapi import OpenApi
from weboid.web.api.ping import Ping
from weboid.web.errors import Errors, ProblemPage
from weboid.web.formats import html
from weboid.web.formats.static_files import files
from weboid.web.health import pages
from weboid.web.health.metrics import Metrics
from weboid.web.health.pages import StatusPage
from weboid.web.health.reader import HealthReader
from weboid.web.http import source_archive
from weboid.web.http.limits import Limits
from weboid.web.http.respond import add_headers, sent
from weboid.web.http.tokens import clients_of
from weboid.web.identity.oauth import Provider
from weboid.web.identity.session import Sessions
from weboid.web.pages.about import AboutPages
from weboid.web.pages.lists import ListPages
from weboid.web.pages.page import LinksPage
from weboid.web.pages.search import SearchPage, content_namespaces
from weboid.web.pages.start import StartPage
from weboid.web.pages.url import UrlPage
from weboid.web.people import account
from weboid.web.people.admin import AdminPage
from weboid.web.people.replacement import ReplacementPage
from weboid.web.people.report import ReportPage
from weboid.web.request.parameters import NAMES
from weboid.web.request.problem import Problem
from weboid.web.routes import format_of
from weboid.web.service import Service, given_in
from weboid.web.words.messages import Messages

_FOR_EVER: Final = "public, max-age=31536000, immutable"


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
    answers = Answers(pool, live, wikis, FeederNotifier(pool), config.policy, today)
    sessions = Sessions(config.web.secret, config.people, public_url)
    limits = Limits(config.web, clients_of(config.web.tokens), pool, today)
    service = Service(
        pool,
        answers,
        config.policy,
        today,
        public_url,
        public_url + source_archive.PATH,
        wikis.list_names,
        format_of,
        sessions,
    )
    status, metrics = HealthReader(pool, today), Metrics()
    errors = Errors(_problem_page(wikis, public_url), format_of)
    app = web.Application(middlewares=[metrics.middleware, sessions.middleware, errors.middleware, limits.middleware])
    app.on_response_prepare.append(add_headers)
    _add_routes(app, service, wikis, config, client)
    StatusPage(status, metrics, service.source).add_routes(app)

    async def reads(_: web.Application) -> AsyncIterator[None]:
        yield
        await live.close()
        await status.close()

    app.cleanup_ctx.append(reads)
    app.cleanup_ctx.append(limits.tidying)
    return app


def _add_routes(
    app: web.Application, service: Service, wikis: Wikis, config: Config, client: ClientSession | None
) -> None:
    """All addresses but those of the status page."""
    start = StartPage(service, wikis)
    start.add_routes(app)
    LinksPage(service, start).add_routes(app)
    UrlPage(service).add_routes(app)
    ListPages(service).add_routes(app)
    SearchPage(service, content_namespaces(config)).add_routes(app)
    Changes(service).add_routes(app)
    BulkPages(service).add_routes(app)
    Ping(service).add_routes(app)
    NormalForm(service).add_routes(app)
    OpenApi(service).add_routes(app)
    DatasetFiles(service).add_routes(app)
    AboutPages(service, config).add_routes(app)
    provider = Provider(config.people, client, service.public_url + account.BACK, config.net.user_agent)
    account.AccountPage(service, provider).add_routes(app)
    ReplacementPage(service, config.people.daily).add_routes(app)
    ReportPage(service, config.people.daily).add_routes(app)
    AdminPage(service).add_routes(app)
    app.router.add_get("/static/{name}", _static)
    app.router.add_get(source_archive.PATH, _source)


def _problem_page(wikis: Wikis, public_url: str) -> ProblemPage:
    """What is wrong, as a page with the form."""

    async def page(request: web.Request, problem: Problem, say: Messages) -> str:
        try:
            given = given_in(request, NAMES)
        except Problem:
            given = {}
        names: Sequence[str] = ()
        # A flood of questions about how it goes must not reach the database, whatever they name.
        if problem.http not in (401, 429, 500, 503) and request.path != pages.PATH:
            with suppress(StoreError):
                names = await wikis.list_names()
        return html.problem_html(problem, names, given, say, public_url + source_archive.PATH)

    return page


async def _static(request: web.Request) -> web.Response:
    if (file := files().get(request.match_info["name"])) is None:
        raise web.HTTPNotFound
    return sent(request, file.body, file.content_type, cache=_FOR_EVER)


async def _source(request: web.Request) -> web.Response:
    packed = await asyncio.to_thread(source_archive.archive)
    return sent(request, packed, "application/zip", cache="public, max-age=3600")

"""Assembles the webservice: its services and the middleware around every request. `routes` binds the handlers."""

import gc
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Final, Protocol

from aiohttp import ClientSession, web

from weboid.checking.looks import Look
from weboid.config import PROJECT_URL, Config
from weboid.core.verdict.kept_copies import services_of
from weboid.errors import StoreError
from weboid.mechanism.loop_lag import LoopLag
from weboid.store.db.pool import Pool
from weboid.store.lists.alarms import AlarmBounds
from weboid.store.people.throttle import Rate
from weboid.web.answer.answers import Answers
from weboid.web.answer.cards import Cards
from weboid.web.answer.change_watch import ChangeWatch
from weboid.web.answer.live import LiveReader, Sources
from weboid.web.answer.live_spam import FilterOf, LiveSpam
from weboid.web.answer.target_pages import TargetPages, TargetSources
from weboid.web.answer.wiki_names import Wikis
from weboid.web.errors import Errors, ProblemPage
from weboid.web.formats import html
from weboid.web.health.metrics import Metrics
from weboid.web.health.pages import StatusPage
from weboid.web.health.reader import HealthReader
from weboid.web.health.worker_share import WorkerShare
from weboid.web.http import source_archive
from weboid.web.http.arrivals import ARRIVALS, Arrivals
from weboid.web.http.budget import Budget
from weboid.web.http.cache import AnswerCache
from weboid.web.http.lanes import LANES, Lanes
from weboid.web.http.limits import Limits
from weboid.web.http.respond import add_headers
from weboid.web.http.tokens import clients_of
from weboid.web.identity.confirmation import Confirmations
from weboid.web.identity.session import Sessions
from weboid.web.repair.repairing import Repairs
from weboid.web.request.parameters import PAGE_NAMES, parameters_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of, route_at
from weboid.web.routes import add_routes
from weboid.web.service import Service
from weboid.web.words.messages import Messages

_TURN_S: Final = 0.001
_GARBAGE: Final = 100_000
"""New objects, less those that are gone, until the next garbage collection: answers leave next to nothing for it, and
a pass goes through all of them. A thousand callers have 60,000 in use.
"""
_Running = AsyncIterator[None]


class _Closed(Protocol):
    async def close(self) -> None: ...


def make_app(
    config: Config,
    pool: Pool,
    *,
    today: Callable[[], int],
    sources: Sources,
    spam: FilterOf | None = None,
    targets: TargetSources | None = None,
    live_budget_s: float = 5.0,
    public_url: str = PROJECT_URL,
    client: ClientSession | None = None,
    share: WorkerShare | None = None,
    health: HealthReader | None = None,
    look: Look | None = None,
) -> web.Application:
    """The webservice.

    `sources` gives the source that reads a wiki live, or None if there is none; a read may take `live_budget_s`. `spam`
    gives the filter by the lists in force; None: what is spam is only known of stored pages. `targets` gives the
    other wikis of a farm by the addresses of their APIs; None: none of their pages is looked for.
    `public_url` is the URL under which this service is reached from outside. `client` connects to the OAuth provider;
    without it nobody can sign in. The application closes neither sources nor client.
    `share` is this process's share in the figures of all workers; None = there is one process only.
    `health` reads the state of the system by other bounds than those of `config`. `look` looks at URLs for link cards;
    without it those are shown that are kept.
    """
    live = LiveReader(sources, budget_s=live_budget_s)
    wikis = Wikis(pool, config.farms)
    live_spam, pages = LiveSpam(spam), TargetPages(targets, live, wikis)
    answers = Answers(pool, live, wikis, config.policy, services_of(config.archive.services), today, live_spam, pages)
    public_url = public_url.rstrip("/")
    source = public_url + address_of("source", name=source_archive.NAME)
    confirmations = Confirmations(config.people, client, config.net.user_agent)
    sessions = Sessions(config.web.secret, config.people, public_url, pool, confirmations)
    shared = (public_url, source, wikis.list_names, sessions, AnswerCache(), Repairs(answers))
    service = Service(pool, answers, config.policy, today, *shared)
    lag = LoopLag()
    status = health or HealthReader(pool, today, alarms=AlarmBounds.of(config))
    metrics = Metrics(lag, share)
    lanes = Lanes(metrics.shed)
    budget = Budget(pool, Rate(config.web.rate, max(config.web.burst, 1)), today) if config.web.rate else None
    limits = Limits(config.web, clients_of(config.web.tokens), sessions, lanes, budget)
    _measure(metrics, lanes, live, pool)
    errors = Errors(_problem_page(wikis, source))
    around = (metrics.middleware, sessions.middleware, errors.middleware, limits.middleware, lanes.middleware)
    app = web.Application(middlewares=around)
    app.on_response_prepare.append(add_headers)
    app[LANES] = lanes
    app[ARRIVALS] = Arrivals(config.web.proxies, lanes.note_unread)
    cards = Cards(pool, look, config.web.cards, today)
    shown = StatusPage(status, metrics, source, answers.services)
    add_routes(app, service, config, wikis, shown, client, metrics, cards)

    closed = (answers.notifier, confirmations, status, pages, live_spam, live, service.repairs, cards)
    background = _background(closed, lag, ChangeWatch(pool, service.kept))
    tidied = [budget.tidying] if budget else []
    app.cleanup_ctx.extend([_tuned_process, background, *tidied, metrics.publishing])
    return app


def _background(closed: Iterable[_Closed], lag: LoopLag, watch: ChangeWatch) -> Callable[[web.Application], _Running]:
    """The work in the background of a service; at its end these are closed, the last one first."""

    async def background(_: web.Application) -> _Running:
        async with AsyncExitStack() as stack:
            for each in closed:
                stack.push_async_callback(each.close)
            stack.enter_context(lag.open())
            await stack.enter_async_context(watch.open())
            yield

    return background


def _measure(metrics: Metrics, lanes: Lanes, live: LiveReader, pool: Pool) -> None:
    """Shows how many requests wait, how many wikis are silent, and how far a standby is behind."""
    if (standby := pool.standby) is not None:
        name, what = "weboid_database_read_lag_seconds", "How far the standby is behind; endless = it cannot be used."
        metrics.measure(name, what, lambda: standby.lag_s, across="livemax")
    metrics.measure("weboid_web_waiting_requests", "Requests that wait.", lambda: lanes.waiting, across="livesum")
    metrics.measure(
        "weboid_web_silent_wikis", "Wikis that do not answer at the moment.", lambda: live.silent, across="livemax"
    )


async def _tuned_process(_: web.Application) -> AsyncIterator[None]:
    """Excludes all objects that exist at the start from garbage collection: one pass over them takes 0.1 s. Other
    threads give way to the event loop after `_TURN_S`, as an answer takes many turns of the loop.
    """
    html.prepare()
    usual_s, usual = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(_TURN_S)
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    yield
    gc.set_threshold(*usual)
    gc.unfreeze()
    sys.setswitchinterval(usual_s)


def _problem_page(wikis: Wikis, source: str) -> ProblemPage:
    """Makes the HTML page of a problem, with the form to try again."""

    async def page(request: web.Request, problem: Problem, say: Messages) -> str:
        try:
            given = parameters_of(request.query.items(), len(request.rel_url.raw_query_string), PAGE_NAMES)
            place = {"dbname": request.match_info.get("wiki"), "title": request.match_info.get("title")}
            given = {**given, **{name: value for name, value in place.items() if value}}
        except Problem:
            given = {}
        names: Sequence[str] = ()
        route = route_at(request.path)
        if problem.http not in (401, 429, 500, 503) and (route is None or route.asks_store):
            with suppress(StoreError):
                names = await wikis.list_names()
        return html.problem_html(problem, names, given, say, source)

    return page

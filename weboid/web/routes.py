"""Binds a handler to each route of the table, and OPTIONS to those that are open to all (W).

The table itself, with the names, parameters and costs of addresses, is in ``web/request/route``.
"""

from collections.abc import Iterator

from aiohttp import ClientSession, hdrs, web
from aiohttp.typedefs import Handler

from weboid.config import Config
from weboid.remote.crawl.server import CrawlServer
from weboid.remote.feed.calls import FeedServer
from weboid.remote.http.messages import CRAWLERS, FEEDERS
from weboid.web.answer.cards import Cards
from weboid.web.answer.wiki_names import Wikis
from weboid.web.api.bulk import BulkPages
from weboid.web.api.card import LinkCards
from weboid.web.api.changes import Changes
from weboid.web.api.dataset import DatasetFiles
from weboid.web.api.normal_form import NormalForm
from weboid.web.api.openapi import OpenApi, preflight
from weboid.web.api.page_repair import PageRepair
from weboid.web.api.ping import Ping
from weboid.web.api.reverts import Reverts
from weboid.web.api.spam_feed import SpamFeed
from weboid.web.api.unrepaired import UnrepairedPages
from weboid.web.health.metrics import Metrics
from weboid.web.health.pages import StatusPage
from weboid.web.http.respond import OPEN_TO_ALL
from weboid.web.http.tokens import clients_of
from weboid.web.identity.oauth import Provider
from weboid.web.pages import about
from weboid.web.pages.domain import DomainPage
from weboid.web.pages.edit_section import SectionEditor
from weboid.web.pages.lists import ListPages
from weboid.web.pages.page import LinksPage
from weboid.web.pages.repair_page import RepairPage
from weboid.web.pages.search import SearchPage, content_namespaces
from weboid.web.pages.spam_pages import PagesWithSpam
from weboid.web.pages.start import StartPage
from weboid.web.pages.suggested_titles import SuggestedTitles
from weboid.web.pages.url import UrlPage
from weboid.web.pages.wiki import PageOfWiki
from weboid.web.people.account import AccountPage
from weboid.web.people.admin import AdminPage
from weboid.web.people.repaired_pages import RepairedPages
from weboid.web.people.replacement import ReplacementPage
from weboid.web.people.report import ReportPage
from weboid.web.people.robot import RobotMonitor
from weboid.web.remote.internal import RemoteProcesses
from weboid.web.request.route import ROUTES, Lane, address_of
from weboid.web.service import Service

_Bound = Iterator[tuple[str, str, Handler]]
"""Names of routes, each with methods and their handler. The handler of GET also serves HEAD where that is allowed."""


def add_routes(
    app: web.Application,
    service: Service,
    config: Config,
    wikis: Wikis,
    status: StatusPage,
    client: ClientSession | None,
    metrics: Metrics,
    cards: Cards,
) -> None:
    """Adds every route of the table to the application, and that of addresses with a slash at their end."""
    parts = [_pages(service, config, wikis, status), _programs(service, status, cards)]
    parts += [_remote(service, config, metrics), _people(service, config, client)]
    bound = [(name, method, handler) for part in parts for name, methods, handler in part for method in methods.split()]
    handlers = {(name, method): handler for name, method, handler in bound}
    assert len(handlers) == len(bound), "two handlers for one method of a route"
    for route in ROUTES:
        for method in route.methods:
            served_by = hdrs.METH_GET if method == hdrs.METH_HEAD else method
            app.router.add_route(method, _pattern_of(route.path), handlers[route.name, served_by])
        if route.is_open:
            app.router.add_route(hdrs.METH_OPTIONS, route.path, preflight)
    app.router.add_route(hdrs.METH_ANY, "/{path:.+}/", _without_slash)
    unbound = handlers.keys() - {(route.name, method) for route in ROUTES for method in route.methods}
    assert not unbound, f"handlers without a route: {unbound}"


async def _without_slash(request: web.Request) -> web.Response:
    """Leads to the address without slashes at its end (308); raises web.HTTPException as that one would (404, 405)."""
    address = request.rel_url.with_path(request.rel_url.raw_path.rstrip("/"), encoded=True, keep_query=True)
    if error := (await request.app.router.resolve(request.clone(rel_url=address))).http_exception:
        raise error
    return web.Response(status=308, headers={hdrs.LOCATION: str(address), **OPEN_TO_ALL})


def _pattern_of(path: str) -> str:
    """The path with the title of a page, which may have slashes."""
    return path.replace("{title}", "{title:.+}")


def _pages(service: Service, config: Config, wikis: Wikis, status: StatusPage) -> _Bound:
    titles = SuggestedTitles(service.answers.live)
    start = StartPage(service, wikis, titles)
    yield "start", "GET", start.page
    yield "wikis", "GET", start.wikis_page
    yield "api-titles", "GET", start.titles
    links = LinksPage(service, start, titles)
    yield "link-info", "GET", links.link_info
    yield "page", "GET", links.by_name
    yield "link-problem", "GET", links.link_problem
    yield "api-page", "GET POST", links.api
    url = UrlPage(service)
    yield "url", "GET", url.page
    yield "url", "POST", url.look.sent
    yield "api-url", "GET", url.api
    yield "wiki", "GET", PageOfWiki(service, status.reader.find_status).page
    yield "domain", "GET", DomainPage(service).page
    lists = ListPages(service)
    yield "dead-links", "GET", lists.dead
    yield "spam-pages", "GET", PagesWithSpam(service).page
    yield "repair", "GET", RepairPage(service).page
    yield "edit-section", "GET", SectionEditor(service).lead
    search = SearchPage(service, content_namespaces(config))
    yield "search", "GET", search.form
    yield "search", "POST", search.found
    explained = about.AboutPages(service, config)
    yield "help", "GET", explained.help
    yield "bot", "GET", explained.bot
    yield "privacy", "GET", explained.privacy
    yield "policy", "GET", explained.policy
    yield "static", "GET", about.static
    yield "source", "GET", explained.source
    yield "robots", "GET", about.robots
    yield "favicon", "GET", about.favicon
    yield "security", "GET", explained.security
    yield "tool-info", "GET", explained.tool_info


def _programs(service: Service, status: StatusPage, cards: Cards) -> _Bound:
    yield "api-card", "GET", LinkCards(service, cards).card
    changes = Changes(service)
    yield "changes", "GET", changes.changes
    yield "dead-feed", "GET", changes.feed
    yield "spam-feed", "GET", SpamFeed(service).feed
    yield "api-pages", "GET", BulkPages(service).pages
    yield "api-ping", "GET POST", Ping(service).ping
    yield "api-normal", "GET POST", NormalForm(service).normal
    yield "api-reverts", "POST", Reverts(service).state
    yield "api-repair", "GET POST", PageRepair(service).repair
    yield "api-unrepaired", "GET POST", UnrepairedPages(service).pages
    yield "openapi", "GET", OpenApi(service).document
    data = DatasetFiles(service)
    yield "data", "GET", data.index
    yield "data-file", "GET", data.file
    yield "status", "GET", status.status
    yield "metrics", "GET", status.metrics
    yield "health", "GET", status.health
    yield "alarms", "GET", status.alarms


def _remote(service: Service, config: Config, metrics: Metrics) -> _Bound:
    refused = metrics.count("weboid_web_forbidden_calls", "Calls for what no token may do.", ("part", "key"))
    crawl = CrawlServer(service.pool, config.crawl, config.policy, service.today)
    crawlers = clients_of(config.web.crawlers, CRAWLERS.plural)
    yield CRAWLERS.plural, "POST", RemoteProcesses(CRAWLERS, crawl, crawlers, Lane.CRAWLERS, refused).call
    feeders = clients_of(config.web.feeders, FEEDERS.plural, with_wikis=True)
    apis = {each.name: each.api for each in config.wikis}
    feed = FeedServer(service.pool, config.farms, service.today, apis, feeders.wikis)
    yield FEEDERS.plural, "POST", RemoteProcesses(FEEDERS, feed, feeders, Lane.FEEDERS, refused).call


def _people(service: Service, config: Config, client: ClientSession | None) -> _Bound:
    back = service.public_url + address_of("account-back")
    account = AccountPage(service, Provider(config.people, client, back, config.net.user_agent))
    yield "account", "GET", account.page
    yield "account-in", "POST", account.begin
    yield "account-back", "GET", account.back
    yield "account-out", "POST", account.end
    report = ReportPage(service, config.people.daily, account.lead)
    yield "report", "GET", report.page
    yield "report", "POST", report.report
    yield "report-look", "POST", report.look.sent
    yield "report-remove", "POST", report.remove
    yield "check", "POST", report.check
    repaired = RepairedPages(service, config.people.daily)
    yield "repaired", "GET", repaired.page
    yield "repaired-error", "POST", repaired.report
    replacement = ReplacementPage(service, config.people.daily, account.lead)
    yield "replacement", "GET", replacement.page
    yield "replacement", "POST", replacement.suggest
    yield "replacement-look", "POST", replacement.look.sent
    yield "replacement-remove", "POST", replacement.remove
    admin = AdminPage(service)
    yield "admin", "GET", admin.page
    yield "admin-undo", "POST", admin.undo
    yield "admin-block", "POST", admin.block
    yield "admin-unblock", "POST", admin.unblock
    yield "admin-lift", "POST", admin.lift
    yield "admin-revert", "POST", admin.review
    yield "admin-host", "POST", admin.judge
    robot = RobotMonitor(service, config)
    yield "robot", "GET", robot.page
    yield "robot-json", "GET", robot.json
    yield "robot-start", "GET", robot.form
    yield "robot-start", "POST", robot.start
    yield "robot-stop", "POST", robot.stop
    yield "robot-task", "GET", robot.task
    yield "robot-file", "GET", robot.file

"""The one table of routes: every address of the webservice with all its properties (W-8, W-9, W-12).

Limits, formats, parameters, OPTIONS and the addresses in pages are read from here; ``web/routes`` binds the handlers.
One law: no other module and no template spells out an address of ours
(`test_no_address_is_spelled_out_but_in_the_table_of_routes`).
"""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote, urlencode

from aiohttp import hdrs, web

from weboid.robot.wanted import WantedTask
from weboid.web.request.accept import Format, Formats
from weboid.web.request.parameters import LANGUAGE, MOST_QUERY, PAGE_NAMES
from weboid.web.request.properties import COST as COST
from weboid.web.request.properties import FORM_COST as FORM_COST
from weboid.web.request.properties import MOST_FORM as MOST_FORM
from weboid.web.request.properties import PAGE, SHOWN, Surcharge
from weboid.web.request.properties import Lane as Lane
from weboid.web.request.properties import Route as Route
from weboid.web.request.work import FORMAT

_SENT: Final = (hdrs.METH_POST,)
_BOTH: Final = (*SHOWN, *_SENT)

_JSON_TYPE: Final = ("application/json", Format.JSON)
_XML_TYPE: Final = ("application/xml", Format.XML)
_HTML_TYPE: Final = ("text/html", Format.HTML)
_MACHINE_TYPES: Final = (_JSON_TYPE, _XML_TYPE, ("text/xml", Format.XML))

_CALL: Final = Formats((Format.JS,))
_FEED: Final = Formats((Format.XML,))
_LIST: Final = Formats((Format.HTML, Format.JSON, Format.XML))
_TABLE: Final = Formats((*_LIST.offered, Format.CSV))
_DATA: Final = Formats((Format.JSON, Format.XML), _MACHINE_TYPES)
_JSON: Final = Formats((Format.JSON,), (_JSON_TYPE,))
_ANY: Final = Formats((Format.JSON, Format.XML, Format.HTML), (*_MACHINE_TYPES, _HTML_TYPE))
_STATUS: Final = Formats((Format.HTML, Format.JSON, Format.XML), (_HTML_TYPE, *_MACHINE_TYPES))

_FORM_OF_PAGES: Final = 512 * 1024
"""The most titles, percent-encoded."""
_FORM_OF_URLS: Final = 512 * 1024
_FORM_OF_TEXT: Final = 6 << 20 | 1 << 20
"""The longest text of a page, each byte percent-encoded, with choices."""
_FORM_OF_REVERT: Final = 32 * 1024
"""The longest URL, percent-encoded."""


def _lang_and(*names: str) -> frozenset[str]:
    """These names, and those of the parameters for the language."""
    return LANGUAGE.union(names)


def _api(
    name: str,
    path: str,
    *names: str,
    methods: tuple[str, ...] = SHOWN,
    fields: Iterable[str] | None = None,
    formats: Formats = _DATA,
    cost: int,
    lane: Lane,
    **others: Any,
) -> Route:
    """An address for programs, whose answers have words in a language that may be given.

    A form that is sent there has these `fields`, None = the same parameters; `others` are as in Route.
    """
    if hdrs.METH_POST in methods:
        others |= {"fields": _lang_and(*(names if fields is None else fields)), "form_cost": cost}
    others |= {"cost": cost, "lane": lane, "form_lane": lane, "is_described": True, "is_open": True}
    return Route(name, path, methods, formats, _lang_and(*names), **others)


def _file(
    name: str, path: str, *, cost: int, lane: Lane = Lane.FILES, is_open: bool = False, formats: Formats = PAGE
) -> Route:
    """An address without any parameters."""
    return Route(
        name, path, formats=formats, parameters=frozenset(), cost=cost, lane=lane, is_described=is_open, is_open=is_open
    )


def _form(name: str, path: str, *fields: str) -> Route:
    """An address that takes nothing but a form that is sent there."""
    return Route(name, path, _SENT, parameters=frozenset(), fields=_lang_and(*fields), form_lane=Lane.PEOPLE)


def _page_and_form(name: str, path: str, parameters: Iterable[str], fields: Iterable[str]) -> Route:
    """An address where people get a page, and send its form to."""
    names, sent = _lang_and(*parameters), _lang_and(*fields)
    return Route(name, path, _BOTH, parameters=names, fields=sent, lane=Lane.PEOPLE, form_lane=Lane.PEOPLE)


def _calls(name: str, path: str, lane: Lane) -> Route:
    """An address for calls of remote processes."""
    return Route(name, path, _SENT, parameters=frozenset(), form_cost=0, form_lane=lane, asks_store=False)


_PLACE: Final = ("url", "dbname")
_OF_PAGE: Final = (*_PLACE, "pageid")
_REVISION: Final = ("dbname", "pageid", "curid", "title", "revid")
_FOR_PEOPLE: Final = PAGE_NAMES - {"revid", "format", "callback"} | {"sort"}
_NOT_FOR_CALLS: Final = frozenset({"all", "extent", "verdict", "reason", "copy", "repaired", "format"})
_WHOLE: Final = ("dbname", "namespace", "category", "after")
_SCOPE: Final = ("dbname", "page", "pageid", "curid", "category")
_CHOICE: Final = ("copy", "repaired", "domain", "path", "namespace", "category")
_SPAM: Final = ("dbname", "namespace", "sort", "after", "format")
_SEARCH: Final = ("pattern", "dbname", "namespace", "verdict", "copy")
_URL: Final = _lang_and(*_OF_PAGE, "at", "after", "spamafter")
_ORDERS: Final = ("starts", *WantedTask.__dataclass_fields__)
_PING: Final = (*_WHOLE, "pageid", "curid", "title", "format")

ROUTES: Final = (
    # The links of pages.
    Route("start", "/", parameters=_FOR_PEOPLE, tolerated=PAGE_NAMES - _FOR_PEOPLE, lane=Lane.LISTS),
    Route(
        "link-info",
        "/externalLinkInfo",
        parameters=_FOR_PEOPLE,
        tolerated=PAGE_NAMES - _FOR_PEOPLE,
        cost=1,
        lane=Lane.PAGES,
        counts_pages=True,
        is_described=True,
    ),
    Route(
        "page",
        "/page/{wiki}/{title}",
        parameters=_lang_and("all", "extent", "verdict", "reason", "copy", "repaired", "sort", "at", "continue"),
        cost=1,
        lane=Lane.PAGES,
        counts_pages=True,
    ),
    Route("wikis", "/wikis", lane=Lane.LISTS),
    _api("api-titles", "/api/titles", "dbname", "title", "format", cost=1, lane=Lane.LISTS),
    _api(
        "link-problem",
        "/externalLinkProblem",
        *PAGE_NAMES - _NOT_FOR_CALLS,
        formats=_CALL,
        tolerated=_NOT_FOR_CALLS,
        cost=1,
        lane=Lane.PAGES,
        counts_pages=True,
    ),
    _api(
        "api-page",
        "/api/page",
        *PAGE_NAMES - {"callback"},
        methods=_BOTH,
        formats=_ANY,
        tolerated=frozenset({"callback"}),
        cost=1,
        lane=Lane.PAGES,
        most_form=_FORM_OF_PAGES,
        counts_pages=True,
    ),
    _api("api-pages", "/api/pages", *_WHOLE, "all", "extent", "verdict", "format", cost=20, lane=Lane.BULK),
    _api("api-ping", "/api/ping", *_PING, methods=("GET", "POST"), most_form=MOST_QUERY, cost=1, lane=Lane.LISTS),
    _api(
        "api-reverts",
        "/api/reverts",
        *("dbname", "pageid", "revid", "url", "reverter", "why", "format"),
        methods=_SENT,
        most_form=_FORM_OF_REVERT,
        cost=FORM_COST,
        lane=Lane.PEOPLE,
    ),
    _api(
        "api-repair",
        "/api/repair",
        *(*_REVISION, "choices", "only"),
        methods=_BOTH,
        fields=(*_REVISION, "text", "choices", "only"),
        formats=_JSON,
        most_form=_FORM_OF_TEXT,
        cost=5,
        lane=Lane.REPAIRS,
    ),
    _api(
        "api-unrepaired",
        "/api/unrepaired",
        *("dbname", "pageid", "format"),
        methods=_BOTH,
        most_form=_FORM_OF_REVERT,
        cost=2,
        lane=Lane.LISTS,
    ),
    # URLs.
    _api("api-url", "/api/url", *_PLACE, "at", "pageid", "curid", "title", "format", cost=2, lane=Lane.LISTS),
    _api(
        "api-card",
        "/api/card",
        *(*_PLACE, "at", "pageid", "curid", "title", "pagelang", "after", "format"),
        cost=4,
        lane=Lane.CARDS,
    ),
    _api(
        "api-normal",
        "/api/normal",
        *_PLACE,
        "format",
        methods=_BOTH,
        fields=("urls", "dbname", "format"),
        most_form=_FORM_OF_URLS,
        cost=1,
        lane=Lane.LISTS,
    ),
    Route("url", "/url", _BOTH, PAGE, _URL, fields=_URL, cost=3, form_cost=3, lane=Lane.LISTS, form_lane=Lane.LISTS),
    Route(
        "search",
        "/search",
        _BOTH,
        parameters=_lang_and(*_SEARCH, "after"),
        fields=_lang_and(*_SEARCH, "after"),
        cost=20,
        form_cost=20,
        form_lane=Lane.SEARCH,
    ),
    Route("wiki", "/wiki/{wiki}", cost=5, lane=Lane.LISTS),
    Route("domain", "/domain/{domain}", parameters=_lang_and("dbname"), cost=10, lane=Lane.SEARCH),
    # Lists, which read many rows.
    _api("changes", "/changes", *_SCOPE, "since", "to", "format", cost=4, lane=Lane.LISTS),
    _api("dead-feed", "/feeds/dead", *{*_SCOPE, *_CHOICE, "verdict"}, formats=_FEED, cost=4, lane=Lane.LISTS),
    _api("spam-feed", "/feeds/spam", "dbname", "namespace", formats=_FEED, cost=4, lane=Lane.LISTS),
    _api(
        "dead-links",
        "/lists/dead",
        *("dbname", "verdict", *_CHOICE, "sort", "after", "format"),
        formats=_TABLE,
        cost=5,
        lane=Lane.LISTS,
        # This list costs more: it is found by going through the links of pages.
        surcharge=Surcharge("verdict", "doubtful", 10),
    ),
    _api("spam-pages", "/lists/spam", *_SPAM, formats=_TABLE, cost=5, lane=Lane.LISTS),
    _api("data", "/data", "format", formats=_LIST, cost=2, lane=Lane.LISTS),
    _file("data-file", "/data/{name}", cost=40, lane=Lane.DATA, is_open=True),
    # Cached or static: no query of the database or a wiki, or not for each request.
    Route(
        "status",
        "/status",
        formats=_STATUS,
        parameters=_lang_and("dbname", "format"),
        cost=0,
        asks_store=False,
        is_described=True,
        is_open=True,
    ),
    _file("metrics", "/metrics", cost=0, is_open=True),
    _file("health", "/healthz", cost=0, lane=Lane.HEALTH, is_open=True),
    _file("alarms", "/healthz/alarms", cost=0, lane=Lane.HEALTH, is_open=True),
    _file("openapi", "/api/openapi.json", cost=0, is_open=True, formats=_DATA),
    _file("static", "/static/{name}", cost=0),
    _file("source", "/source/{name}", cost=40, lane=Lane.DATA),
    _file("robots", "/robots.txt", cost=0),
    _file("favicon", "/favicon.ico", cost=0),
    _file("security", "/.well-known/security.txt", cost=0),
    _file("tool-info", "/toolinfo.json", cost=0, formats=_DATA),
    # Pages that explain.
    Route("help", "/help", cost=1),
    Route("bot", "/bot", cost=1),
    Route("privacy", "/privacy", cost=1),
    Route("policy", "/policy", cost=1),
    # For remote crawlers and feeders.
    _calls("crawlers", "/internal/crawl/{call}", Lane.CRAWLERS),
    _calls("feeders", "/internal/feed/{call}", Lane.FEEDERS),
    # For people who have signed in.
    Route("account", "/account", parameters=_lang_and("back"), lane=Lane.PEOPLE),
    _form("account-in", "/account/in", "back"),
    Route("account-back", "/account/back", parameters=_lang_and("code", "state", "iss", "error"), lane=Lane.PEOPLE),
    _form("account-out", "/account/out"),
    _page_and_form("report", "/report", (*_OF_PAGE, "done", "extent"), (*_OF_PAGE, "extent")),
    Route("edit-section", "/edit", parameters=_lang_and(*_OF_PAGE), cost=5, lane=Lane.REPAIRS),
    Route("repair", "/repair", parameters=_lang_and(*_REVISION), cost=5, lane=Lane.REPAIRS),
    Route("repaired", "/repair/{wiki}/{page}/{revision}", cost=5, lane=Lane.REPAIRS),
    Route(
        "repaired-error",
        "/repair/error",
        _SENT,
        parameters=frozenset(),
        fields=_lang_and("dbname", "pageid", "revid", "url", "why"),
        form_lane=Lane.REPAIRS,
    ),
    _form("report-look", "/report/look", *_OF_PAGE),
    _form("report-remove", "/report/remove", *_OF_PAGE, "extent"),
    _form("check", "/check", *_OF_PAGE),
    _page_and_form("replacement", "/replacement", (*_OF_PAGE, "done", "target"), (*_OF_PAGE, "target")),
    _form("replacement-look", "/replacement/look", *_OF_PAGE),
    _form("replacement-remove", "/replacement/remove", *_OF_PAGE, "archive", "target"),
    Route("admin", "/admin", parameters=_lang_and("subject", "before", "did", "url", "reverts"), lane=Lane.PEOPLE),
    _form("admin-undo", "/admin/undo", "subject"),
    _form("admin-block", "/admin/block", "subject", "reason"),
    _form("admin-unblock", "/admin/unblock", "subject"),
    _form("admin-lift", "/admin/lift", "url", "lifted"),
    _form("admin-revert", "/admin/revert", "revert", "state", "reverts"),
    _form("admin-host", "/admin/host", "host", "word"),
    Route("robot", "/robot", parameters=_lang_and("refresh"), lane=Lane.PEOPLE),
    _file("robot-json", "/robot/tasks.json", cost=2, lane=Lane.PEOPLE),
    _page_and_form("robot-start", "/robot/start", (), _ORDERS),
    _form("robot-stop", "/robot/stop", "task"),
    Route(
        "robot-task",
        "/robot/{task}",
        parameters=_lang_and("host", "reason", "state", "after", "at", "from"),
        cost=20,
        lane=Lane.LISTS,
    ),
    _file("robot-file", "/robot/{task}/{name}", cost=40, lane=Lane.DATA),
)

_ERROR_FORMATS: Final = (("/api/", _DATA), ("/changes", _DATA), ("/feeds/", _FEED), ("/lists/", _LIST))
"""The formats of errors at addresses that do not exist, by how their paths begin."""

_BY_PATH: Final = {route.path: route for route in ROUTES}
_READABLE: Final = "/:@,()!"
"""What a path may have as it is, in the names of wikis and pages."""
_PATHS: Final = {route.name: route.path for route in ROUTES}


def route_of(request: web.Request) -> Route | None:
    """The route of a request; None if there is no such address or method."""
    resource = request.match_info.route.resource
    return None if resource is None else _BY_PATH.get(resource.canonical)


def lane_of(request: web.Request) -> Lane:
    """The lane of a request, by its route and method."""
    route = route_of(request)
    if route is None or request.method == hdrs.METH_OPTIONS:
        return Lane.FILES
    return route.lane if request.method in (hdrs.METH_GET, hdrs.METH_HEAD) else route.form_lane


def route_at(path: str) -> Route | None:
    """The route of a path without variables, whatever the method; None if there is no such route."""
    return _BY_PATH.get(path)


def format_of(request: web.Request) -> Format:
    """The format that a request wants, whether its address exists or not (W-8). Never fails."""
    if FORMAT in request:
        return request[FORMAT]
    path = request.path
    if (route := route_at(path)) is not None:
        formats = route.formats
    else:
        formats = next((formats for beginning, formats in _ERROR_FORMATS if path.startswith(beginning)), PAGE)
    return formats.choose(request.query.get("format", ""), request.headers.get(hdrs.ACCEPT, ""))


def address_of(name: str, /, **values: str | None) -> str:
    """The address of a route on this service: its path with the variables filled in, and all other values as query.

    Values that are None are left out. In templates this function is called ``url``.
    """
    path = _PATHS[name]
    if not values:
        return path
    query = {}
    for key, value in values.items():
        if (variable := f"{{{key}}}") in path:
            path = path.replace(variable, quote(value or "", safe=_READABLE))
        elif value is not None:
            query[key] = value
    return f"{path}?{urlencode(query)}" if query else path

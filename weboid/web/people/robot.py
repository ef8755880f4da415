"""``/robot``: tasks of the robot that administrators order, how far they are, and what they found (R-7).

A page shows so much that its reader can read it; all that a task found is in files, which are sent as they are read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import UTC
from typing import Any, Final, get_type_hints

import msgspec
from aiohttp import hdrs, web
from markupsafe import Markup

from weboid.config import Config
from weboid.core.url.hosts import InvalidReason, InvalidUrl, is_ip
from weboid.core.url.urls import DEFAULT_PORTS, parse
from weboid.errors import ConfigError
from weboid.mechanism.fair_slots import aside
from weboid.net.guard import Guard, NotPublic, require_port
from weboid.robot.orders import Restriction
from weboid.robot.plugins import plugin
from weboid.robot.wanted import WantedTask
from weboid.site.formats import FORMATS
from weboid.site.place import Place, Summary
from weboid.site.places import FAULTS
from weboid.store.people.audit import Action
from weboid.store.site import ordered
from weboid.web.formats import html
from weboid.web.http.respond import see_other
from weboid.web.people.forms import address_in_language, record_action, require_allowed
from weboid.web.request.cursor import Cursor
from weboid.web.request.parameters import MOST_SHOWN, Parameters, only
from weboid.web.request.problem import Problem
from weboid.web.service import Service, ServiceHandlers, given_in, html_words
from weboid.web.words.language import DEFAULT
from weboid.web.words.messages import Messages, catalogue
from weboid.web.words.phrases import visible

START: Final = "robot-start"
STOP: Final = "robot-stop"
_REFRESH_S: Final = "10"
_MOST_STARTS: Final = 20
_LISTED: Final = 200
_ROWS: Final = 4
_NUMBER: Final = Cursor(range(10**9))
_KINDS: Final = get_type_hints(WantedTask, include_extras=True)
_FILES: Final = {
    "links.jsonl": ("jsonl", "application/x-ndjson"),
    "links.csv": ("csv", "text/csv"),
    "links.dot": ("dot", "text/vnd.graphviz"),
}
_STATES: Final = {state: f"weboid-robot-fault-{state}" for state in FAULTS}
_COUNTS: Final = ("waiting", "downloaded", "hits", "failed", "dropped", "filtered", "seen")


class RobotMonitor(ServiceHandlers):
    """The handlers; starts that the guard of `config` would refuse are refused at once."""

    def __init__(self, service: Service, config: Config) -> None:
        super().__init__(service)
        self._guard = Guard(config.net.deny, config.net.permit)
        self._config = config.robot

    async def page(self, request: web.Request) -> web.Response:
        """The tasks: those under way, those that wait, and the newest others."""
        given, found = given_in(request), await self._tasks(request)
        values = {**found, "token": await self._service.sessions.form_token(request, STOP)}
        response = await self._service.form_html(request, "robot.html", given, html_words(request, given), **values)
        if "refresh" in given:
            response.headers["Refresh"] = _REFRESH_S
        return response

    async def json(self, request: web.Request) -> web.Response:
        """The same for programs of an administrator."""
        return web.json_response(await self._tasks(request), headers={hdrs.CACHE_CONTROL: "no-store"})

    async def _tasks(self, request: web.Request) -> dict[str, Any]:
        await self._service.sessions.require_administrator(request)
        async with self._service.pool.connection() as conn:
            tasks = [_task_payload(each) for each in await ordered.list_ordered(conn)]
        jobs = sum(each["statistics"].get("waiting", 0) + len(each["open"]) for each in tasks)
        return {"tasks": len(tasks), "jobs": jobs, "task": tasks}

    async def form(self, request: web.Request) -> web.Response:
        """The form of a new task."""
        given = given_in(request)
        await self._service.sessions.require_administrator(request)
        return await self._form(request, given, {}, asdict(WantedTask()))

    async def start(self, request: web.Request) -> web.Response:
        """Orders a task; or the form again, with what is wrong next to each field."""
        service, given = self._service, await self._service.posted(request, START)
        person = await service.sessions.require_administrator(request)
        faults: dict[str, Problem] = {}
        starts, wanted = self._starts_in(given, faults), _wanted_in(given, faults)
        if not faults:
            async with service.pool.connection() as conn:
                await require_allowed(conn, Action.START_TASK, person, daily=0)
                if task := await ordered.record_order(conn, starts, wanted, service.today()):
                    usual = msgspec.to_builtins(WantedTask())
                    other = [f"{name}={value}" for name, value in wanted.items() if value != usual[name]]
                    await record_action(conn, Action.START_TASK, person, starts[0], " ".join(other)[:_LISTED])
                    return see_other(address_in_language("robot", given))
            faults["starts"] = (
                Problem(409, "robot-runs") if task is None else Problem(409, "robot-full", ordered.MOST_WAITING)
            )
        return await self._form(request, given, faults, wanted)

    async def stop(self, request: web.Request) -> web.Response:
        """Has a task stopped; where another administrator did so before, nothing more happens."""
        service, given = self._service, await self._service.posted(request, STOP)
        person = await service.sessions.require_administrator(request)
        async with service.pool.connection() as conn:
            await require_allowed(conn, Action.STOP_TASK, person, daily=0)
            if name := await ordered.record_stop(conn, _number_of(given.get("task", ""))):
                await record_action(conn, Action.STOP_TASK, person, name)
        return see_other(address_in_language("robot", given))

    async def task(self, request: web.Request) -> web.Response:
        """The results of a task: links at fault in groups, those of one group, and the tree of the site."""
        given, say = given_in(request), html_words(request, given_in(request))
        task = await self._task(request)
        group = (given.get("host", ""), given.get("reason", ""), given["state"]) if "state" in given else None
        parts, at = _NUMBER.parts_in(given), given.get("at", "")
        async with self._service.pool.connection() as conn:
            faults = [] if group else await ordered.list_faults(conn, task.task, limit=_LISTED + 1)
            after = parts.numbers[0] if parts else 0
            rows = await ordered.list_places(conn, task.task, after, limit=2, group=group) if group else []
            branches = (
                [] if group else await ordered.list_branches(conn, task.task, at, given.get("from", ""), limit=_LISTED)
            )
        values: dict[str, Any] = {
            "task": _task_payload(task),
            "ordered": say.moment(task.ordered.astimezone(UTC)),
            "ended": None if task.ended is None or task.is_active else say.moment(task.ended.astimezone(UTC)),
            "files": _FILES,
            "counts": _COUNTS,
            "group": group and {"host": visible(group[0]), "words": _fault_words(group[2], group[1], say)},
            "places": [_place_view(Place(*each)) for each in (rows[0][1] if rows else ())],
            "next": html.query({**given, "after": str(rows[0][0])}) if len(rows) > 1 else None,
            "faults": [
                (
                    visible(host),
                    _fault_words(state, reason, say),
                    size,
                    html.query({"host": host, "reason": reason, "state": state, **only(given, "lang")}),
                )
                for host, reason, state, size in faults[:_LISTED]
            ],
            "are_more": len(faults) > _LISTED,
            "at": visible(at),
            "branches": list(_branch_views(branches, at, given)),
            "further": html.query({**given, "from": branches[-1].name}) if len(branches) == _LISTED else None,
        }
        return await self._service.form_html(request, "robot-task.html", given, say, **values)

    async def file(self, request: web.Request) -> web.StreamResponse:
        """All places of links that a task found, as one of the reports of ``weboid site``."""
        task, name = await self._task(request), request.match_info["name"]
        if name not in _FILES:
            raise Problem(404, "no-such-address", request.path[:MOST_SHOWN])
        kind, content_type = _FILES[name]
        report, after = FORMATS[kind](), 0
        named = {hdrs.CONTENT_DISPOSITION: f'attachment; filename="robot-{task.task}-{name}"'}
        kept = {hdrs.CACHE_CONTROL: "no-store", hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8"}
        response = web.StreamResponse(headers=kept | named)
        await response.prepare(request)
        await response.write(report.begin().encode())
        while True:
            async with self._service.pool.connection() as conn:
                rows = await ordered.list_places(conn, task.task, after, limit=_ROWS)
            if not rows:
                break
            after = rows[-1][0]
            for _, places in rows:
                text = "".join(report.add(Place(*each)) for each in places)
                async with aside():
                    await response.write(text.encode("utf-8", "replace"))
        for text in report.end(_summary_of(task)):
            await response.write(text.encode("utf-8", "replace"))
        return response

    async def _task(self, request: web.Request) -> ordered.OrderedTask:
        """The task that an address names, for an administrator; raises Problem."""
        await self._service.sessions.require_administrator(request)
        async with self._service.pool.connection() as conn:
            task = await ordered.find_ordered(conn, _number_of(request.match_info["task"]))
        if task is None:
            raise Problem(404, "no-such-address", request.path[:MOST_SHOWN])
        return task

    async def _form(
        self, request: web.Request, given: Parameters, faults: Mapping[str, Problem], wanted: Mapping[str, Any]
    ) -> web.Response:
        say = html_words(request, given)
        shown = {name: given.get(name, wanted.get(name, "")) for name in ("starts", *_KINDS)}
        values: dict[str, Any] = {
            "shown": shown | {name: wanted.get(name, name in given) for name, kind in _KINDS.items() if kind is bool},
            "kinds": {each.name: type(each.default).__name__ for each in fields(WantedTask)},
            "restrictions": [each.value for each in Restriction],
            "faults": {name: html.problem_words(fault, say) for name, fault in faults.items()},
            "most": self._config.pages,
            "token": await self._service.sessions.form_token(request, START),
        }
        response = await self._service.form_html(request, "robot-form.html", given, say, **values)
        if faults:
            response.set_status(max(fault.http for fault in faults.values()))
        return response

    def _starts_in(self, given: Parameters, faults: dict[str, Problem]) -> list[str]:
        """The starts in normal form."""
        written = given.get("starts", "").split()
        if not 0 < len(written) <= _MOST_STARTS:
            faults["starts"] = Problem(400, "robot-starts", _MOST_STARTS)
        starts: dict[str, None] = {}
        for text in written[:_MOST_STARTS]:
            try:
                url = parse(text)
                if url.scheme not in ("http", "https"):
                    raise InvalidUrl(InvalidReason.PROTOCOL)
                require_port(port := url.port or DEFAULT_PORTS[url.scheme])
                if is_ip(url.host):  # a name is looked up when it is asked
                    self._guard.require(url.host, port)
                starts[str(url)] = None
            except InvalidUrl:
                faults["starts"] = Problem(400, "robot-start", text[:MOST_SHOWN])
            except NotPublic:
                faults["starts"] = Problem(400, "robot-private", text[:MOST_SHOWN])
        return list(starts)


def _wanted_in(given: Parameters, faults: dict[str, Problem]) -> dict[str, Any]:
    """The orders in a form, as they are stored."""
    wanted: dict[str, Any] = {}
    for each in fields(WantedTask):
        kind, usual, text = _KINDS[each.name], each.default, given.get(each.name, "")
        value: Any = text or usual
        if kind is bool:
            value = each.name in given
        elif isinstance(usual, tuple):
            value = tuple(filter(None, map(str.strip, text.splitlines())))
        wanted[each.name] = value
        try:
            wanted[each.name] = msgspec.to_builtins(msgspec.convert(value, kind, strict=False))
            for name in wanted[each.name] if isinstance(usual, tuple) else ():
                plugin(name)
        except (msgspec.ValidationError, ConfigError):
            bounds = (kind.__metadata__[0].ge, kind.__metadata__[0].le) if type(usual) is int else None
            fault = Problem(400, "robot-number", *bounds) if bounds else Problem(400, "robot-name", text[:MOST_SHOWN])
            faults[each.name] = fault
    return wanted


def _task_payload(task: ordered.OrderedTask) -> dict[str, Any]:
    """A task for programs, and for the templates."""
    progress = task.progress
    return {
        "task": task.task,
        "starts": task.starts,
        "orders": task.wanted,
        "state": "stopping" if task.is_to_stop else task.state,
        "ordered": task.ordered.astimezone(UTC).isoformat(timespec="seconds"),
        "open": progress.get("open", []),
        **{name: progress.get(name, {}) for name in ("statistics", "filtered_by", "places")},
        **{name: progress.get(name, 0) for name in ("pages", "left_out")},
        "fault": progress.get("fault", ""),
    }


def _summary_of(task: ordered.OrderedTask) -> Summary:
    found = _task_payload(task)
    filtered, is_whole = found["filtered_by"], task.state == ordered.TaskState.FINISHED
    numbers = (found["places"], found["statistics"], filtered)
    return Summary(tuple(task.starts), *numbers, is_interrupted=not is_whole, pages=found["pages"])


def _fault_words(state: str, reason: str, say: Messages) -> Markup:
    """The fault in a sentence; a word that has none, of a package's filter say, as it is."""
    keys = [_STATES.get(state, ""), f"weboid-reason-{reason}", f"weboid-invalid-{reason}"]
    return Markup(" ").join(say.html(key) for key in keys if key in catalogue(DEFAULT))


def _place_view(place: Place) -> dict[str, Any]:
    return {
        "url": html.address_html(f"{place.url}#{place.fragment}" if place.fragment else place.url),
        "page": html.address_html(place.parent) if place.parent else None,
        "where": f":{place.line}" if place.line else "",
        "text": visible(place.text),
        "status": place.status,
        "is_new": place.is_new,
    }


def _branch_views(branches: Iterable[ordered.Branch], at: str, given: Parameters) -> Iterator[dict[str, Any]]:
    for each in branches:
        leads_on = each.name and (each.name.endswith("/") or each.urls > 1)
        query = html.query({"at": at + each.name, **only(given, "lang")}) if leads_on else None
        yield {**each._asdict(), "name": visible(each.name or "."), "query": query}


def _number_of(text: str) -> int:
    """The number of a task; raises Problem."""
    if (parts := _NUMBER.parts_of(text)) is None:
        raise Problem(404, "no-such-address", text[:MOST_SHOWN])
    return parts.numbers[0]

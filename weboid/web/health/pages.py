"""The health of the system as a page for people, for programs and for Prometheus, and for load balancers (O-5).

``web/health/reader`` reads the state; nothing here queries the database by itself.
"""

from typing import Any, Final

from aiohttp import hdrs, web
from markupsafe import Markup

from weboid.core.record.days import iso
from weboid.core.record.policy import DEFAULT
from weboid.core.url.farms import WikiName
from weboid.core.verdict.kept_copies import DEFAULT_SERVICES, Services
from weboid.core.verdict.verdict import Verdict
from weboid.errors import StoreError
from weboid.mechanism.fair_slots import aside
from weboid.store.lists.health import Amount, Health, SpamListStatus, WikiStatus
from weboid.store.pages.page_pass import SWEEP_DAYS
from weboid.store.pages.spam import ListKind
from weboid.store.upkeep.alarm import Alarm, AlarmKind
from weboid.web.formats import html
from weboid.web.formats.bar_chart import BAR_HEIGHT, BAR_WIDTH, bar_chart
from weboid.web.formats.html import time_html
from weboid.web.formats.machine_format import payload_format
from weboid.web.health.archives import archives_view
from weboid.web.health.done_by_day import done_view
from weboid.web.health.metrics import CONTENT_TYPE, Metrics
from weboid.web.health.reader import (
    HealthReader,
    changed_to,
    days_of,
    public_detail,
    public_lines,
    shown_verdicts,
    status_of,
    status_payload,
    swept_a_day,
)
from weboid.web.health.running_parts import moment_html, parts_view
from weboid.web.http.rendered import Rendered
from weboid.web.http.respond import sent
from weboid.web.request.accept import Format
from weboid.web.request.parameters import Parameters, wiki_of
from weboid.web.request.route import format_of
from weboid.web.service import given_in, html_words
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import amount_words, visible

_NOT_KEPT: Final = "no-store"
_MANUAL: Final = Markup("<code>docs/operating.md</code>")
_ALARMS: Final = frozenset(AlarmKind)
_LISTS: Final = {ListKind.BLACK: "weboid-status-black", ListKind.WHITE: "weboid-status-white"}


class StatusPage:
    """The handlers; `source` is the URL of our source code (W-2), `services` are the archives as configured."""

    def __init__(
        self, reader: HealthReader, metrics: Metrics, source: str, services: Services = DEFAULT_SERVICES
    ) -> None:
        self._services = services
        self.reader: Final = reader
        self._metrics = metrics
        self._source = source
        self._rendered = Rendered()

    async def status(self, request: web.Request) -> web.Response:
        """The status of all wikis, or of one."""
        given = given_in(request)
        wanted = format_of(request)
        say = html_words(request, given)
        wiki = wiki_of(given) if "dbname" in given else None
        content_type, vary = html.CONTENT_TYPE, "Accept, Accept-Language"
        if wanted is not Format.HTML:
            content_type, vary = payload_format(wanted).content_type, "Accept"
        key = (wanted, say.language.code, tuple(given.items()))
        if (body := self._rendered.find(key)) is None:
            body = self._rendered.keep(key, self._text(await self._status(), wiki, wanted, given, say))
        return sent(request, body, content_type, vary=vary)

    async def _status(self) -> Health:
        async with aside():
            return await self.reader.find_status()

    def _text(
        self, status: Health, wiki: WikiName | None, wanted: Format, given: Parameters, say: Messages
    ) -> str | bytes:
        if wiki is not None:
            status = status_of(status, wiki)
        payload = status_payload(status, wiki, self._source, self._services)
        if wanted is not Format.HTML:
            return payload_format(wanted).text(payload)
        view = {**status_view(status, wiki, given, say), **archives_view(status, self._services, say)}
        return html.render("status.html", say, given, self._source, (), **view)

    async def metrics(self, request: web.Request) -> web.Response:
        """Metrics for Prometheus; while the database does not answer, those of this process only."""
        if (body := self._rendered.find("metrics")) is None:
            try:
                status = await self._status()
            except StoreError:
                status = None
            body = self._rendered.keep("metrics", self._metrics.text(status))
        response = sent(request, body, "text/plain", cache=_NOT_KEPT)
        response.headers[hdrs.CONTENT_TYPE] = CONTENT_TYPE
        return response

    async def health(self, request: web.Request) -> web.Response:
        """Answers ok if the database answers within a second; raises StoreError otherwise (D-377)."""
        async with aside():
            await self.reader.find_health()
        return sent(request, "ok\n", "text/plain", cache=_NOT_KEPT)

    async def alarms(self, request: web.Request) -> web.Response:
        """For monitors that know nothing but the code of an answer: 200 without alarms, 503 with them, one a line.

        Raises StoreError.
        """
        status = await self._status()
        raised = [f"{alarm.kind} {visible(alarm.subject)}".strip() for alarm in status.alarms]
        text = "".join(f"{line}\n" for line in raised) or "ok\n"
        return sent(request, text, "text/plain", http=503 if raised else 200, cache=_NOT_KEPT)


def status_view(status: Health, wiki: WikiName | None, given: Parameters, say: Messages) -> dict[str, Any]:
    """The values that the template of the status page shows."""
    return {
        "wiki": None if wiki is None else str(wiki),
        "moment": moment_html(status.moment, say),
        "alarms": [_alarm_view(alarm, status.day, say) for alarm in status.alarms],
        "alarms_help": say.html("weboid-status-alarms-help", _MANUAL),
        "parts": parts_view(status, say),
        "urls": amount_words(status.urls, say),
        "hosts": amount_words(status.hosts, say),
        "due": amount_words(status.due, say),
        "oldest_due": _time(status.oldest_due, status.day, say),
        "unavailable": amount_words(status.unavailable, say),
        "pace": _pace_words(status, say),
        "checks_a_day": None if status.checks_a_day is None else say.number(status.checks_a_day),
        "big_hosts": [
            {"host": visible(big.host), "urls": say.number(big.urls), "days": say.number(big.days)}
            for big in status.big_hosts
        ],
        "streams": [(visible(streams), say.duration(lag_s)) for streams, lag_s in status.streams.items()],
        "standby_lag": None if status.standby_lag_s is None else say.duration(round(status.standby_lag_s)),
        "passes": [_wiki_view(each, status.day, say) for each in status.wikis],
        "sweep_days": SWEEP_DAYS,
        "spam_lists": [
            _spam_view(each, wiki, status.day, say)
            for each in status.spam_lists
            if wiki is not None or each.wiki is None or each.unusable.value
        ],
        "days": len(days_of(status)),
        "first": say.date(days_of(status)[0]),
        "last": say.date(status.day),
        "pictures": [_picture(status, verdict, say) for verdict in shown_verdicts(status)],
        "table": _table(status, say),
        "json": html.query(given) + ("&" if given else "") + "format=json",
        "status_query": lambda name: html.query({**given, "dbname": name}),
        "all_query": html.query({name: value for name, value in given.items() if name != "dbname"}),
        **done_view(status, say),
        "bar_width": BAR_WIDTH,
        "bar_height": BAR_HEIGHT,
    }


def _pace_words(status: Health, say: Messages) -> str | None:
    """The interval between checks of working links, with the reason if it is a long one."""
    if status.interval is None:
        return None
    usual = DEFAULT.working_interval
    if status.interval <= usual:
        return say.text("weboid-status-pace", status.interval)
    return say.text("weboid-status-pace-wide", status.interval, usual)


def _time(moment: int | None, day: int, say: Messages) -> Markup | None:
    return None if moment is None else time_html(moment, day, say)


def _alarm_view(alarm: Alarm, day: int, say: Messages) -> dict[str, Any]:
    subject = Markup("<bdi>{}</bdi>").format(visible(alarm.subject))
    if alarm.kind in _ALARMS:
        words = say.html(f"weboid-status-alarm-{alarm.kind}", subject)
    else:
        words = say.html("weboid-status-alarm-other", visible(alarm.kind))
    detail = public_detail(alarm)
    return {
        "words": words,
        "kind": visible(alarm.kind),
        "since": say.html("weboid-status-alarm-since", time_html(alarm.since, day, say)),
        "detail": None if detail is None else visible(detail),
    }


def _wiki_view(wiki: WikiStatus, day: int, say: Messages) -> dict[str, Any]:
    running = None
    if wiki.started is not None:
        running = say.html("weboid-status-step", time_html(wiki.started, day, say), wiki.step or 0)
    return {
        "name": str(wiki.name),
        "pages": amount_words(wiki.pages, say),
        "waiting": amount_words(wiki.waiting, say),
        "passed": _time(wiki.passed, day, say),
        "took": None if wiki.pass_s is None else say.duration(wiki.pass_s),
        "running": running,
        "swept": say.number(swept_a_day(wiki)),
    }


def _spam_view(spam: SpamListStatus, wiki: WikiName | None, day: int, say: Messages) -> dict[str, Any]:
    name = Markup("<bdi>{}</bdi>").format(str(spam.wiki or spam.farm))
    lines = public_lines(spam, wiki) or ()
    return {
        "name": say.html(_LISTS[spam.kind], name),
        "day": _time(spam.day, day, say),
        "usable": say.number(spam.usable),
        "unusable": amount_words(spam.unusable, say),
        "lines": [visible(line) for line in lines],
        "more": spam.unusable.value - len(lines),
    }


def _picture(status: Health, verdict: Verdict, say: Messages) -> dict[str, Any]:
    amounts = changed_to(status, verdict)
    most = max(amounts, key=lambda amount: amount.value)
    words = say.text(f"weboid-verdict-{verdict.word}")
    return bar_chart([amount.value for amount in amounts], words, amount_words(most, say), verdict.word)


def _table(status: Health, say: Messages) -> dict[str, Any]:
    """The same numbers, newest day first; days without any change are left out."""
    verdicts = shown_verdicts(status)
    rows = [
        {
            "iso": iso(day),
            "day": say.date(day),
            "amounts": [amount_words(status.changes[day].get(verdict, Amount(0)), say) for verdict in verdicts],
        }
        for day in reversed(days_of(status))
        if day in status.changes
    ]
    return {"verdicts": [say.text(f"weboid-verdict-{verdict.word}") for verdict in verdicts], "rows": rows}

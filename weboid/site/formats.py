"""Reports of a run in six formats, made from its places as they come; all that comes from a site is escaped.

`jsonl`, `csv` and `dot` write each place at once and keep nothing. `text`, `html` and `junit` are written at the end,
grouped by URL: of each the first five places are kept, and of all only so much text. They name the files of a folder,
whose server has gone when they are read; the others have URLs, as programs expect.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar, Final

from weboid.assets import asset
from weboid.core.url.display import many, plain
from weboid.site.folder import file_of
from weboid.site.place import Place, State, Summary

_KEYS: Final = Place._fields[:12]
"""Of a line of JSON; the others only where they are known."""
_TITLES: Final[Mapping[State, str]] = {"broken": "Broken", "fragment": "Missing anchors", "doubtful": "Doubtful"}
_SHOWN: Final = 5
"""Places of a URL that are named."""
_MOST_CHARACTERS: Final = 10_000_000
"""Text that a report keeps; what is more is only counted."""
_MOST_PASSED: Final = 100_000
"""URLs without a fault that JUnit names (GitLab reads 500,000 cases, and 30 MB)."""
_OF_PAGES: Final = frozenset({"a", "area", "form", "frame", "iframe", "refresh"})
"""Kinds of links that lead from page to page."""
_HTTP: Final = ("http://", "https://")


@dataclass(kw_only=True)
class SiteReport:
    """Makes a report: `begin`, `add` for each place, `end`; what they return is to be written at once.

    `only_new`: what was broken before is no failure. `folder`: what is checked is served from there.
    """

    streams: ClassVar = True
    """Places are written as they come."""
    only_new: bool = False
    folder: Path | None = None
    is_first: bool = False
    """There is no run before with which this one is compared."""

    def begin(self) -> str:
        """The head, before all places."""
        return ""

    def add(self, place: Place) -> str:
        """Notes a place; returns what can be written of it now."""
        return ""

    def end(self, summary: Summary) -> Iterator[str]:
        """The rest, piece by piece."""
        return iter(())


class JsonReport(SiteReport):
    """A line of JSON for each place, and one for the summary."""

    def add(self, place: Place) -> str:
        return _json_line(_values(place))

    def end(self, summary: Summary) -> Iterator[str]:
        values = {name: getattr(summary, name) for name in Summary.__slots__}
        values |= {"seconds": round(summary.seconds, 3), "interrupted": values.pop("is_interrupted")}
        yield _json_line({"summary": values})


class CsvReport(SiteReport):
    """A row for each place; there is no summary. No cell is a formula to a spreadsheet."""

    _columns: Final = (*_KEYS, "copy", "dead_since", "new")

    def begin(self) -> str:
        return _csv_row(self._columns)

    def add(self, place: Place) -> str:
        values = _values(place)
        return _csv_row(values.get(column) for column in self._columns)


class DotReport(SiteReport):
    """A graph for graphviz: links from page to page, and all that are broken."""

    def begin(self) -> str:
        return "strict digraph site {\n"

    def add(self, place: Place) -> str:
        is_broken = place.state in ("broken", "fragment")
        if not (is_broken or place.kind in _OF_PAGES or not place.parent):
            return ""
        colour = " [color=red]" if is_broken else ""
        node = f"{_dot(place.url)}{colour if place.state == 'broken' else ''}\n"
        return node + (f"{_dot(place.parent)} -> {_dot(place.url)}{colour}\n" if place.parent else "")

    def end(self, summary: Summary) -> Iterator[str]:
        yield "}\n"


@dataclass(slots=True)
class _Fault:
    """A URL at fault, and where it is linked."""

    first: Place
    count: int = 0
    shown: list[Place] = field(default_factory=list)
    is_new: bool = False

    def more(self) -> str:
        """The number of places that are not shown, in words; empty if all are."""
        return f"and {self.count - len(self.shown):,} more" if self.count > len(self.shown) else ""


@dataclass(kw_only=True)
class _GroupedReport(SiteReport):
    """Keeps what is at fault until the end; then URLs of the site itself are written without its origin."""

    streams = False
    _faults: dict[tuple[str, str, State], _Fault] = field(default_factory=dict)
    _kept: int = 0
    _left_out: int = 0
    _origin: str = ""

    def add(self, place: Place) -> str:
        key = (place.url, place.fragment if place.state == "fragment" else "", place.state)
        is_full = self._kept > _MOST_CHARACTERS
        if place.state not in _TITLES or (is_full and key not in self._faults):
            self._left_out += place.state in _TITLES
            return ""
        fault = self._faults.setdefault(key, _Fault(place))
        fault.count += 1
        fault.is_new |= place.is_new
        if len(fault.shown) < _SHOWN and not is_full:
            fault.shown.append(place)
            self._kept += 500 + sum(map(len, (place.url, place.parent, place.text, place.final, place.copy)))
        return ""

    def _groups(self, summary: Summary) -> Iterator[tuple[str, list[_Fault]]]:
        """Faults of each kind with a heading: new ones first, then those of most places."""
        if summary.starts:
            self._origin = "/".join(summary.starts[0].split("/")[:3])
        for state, title in _TITLES.items():
            if faults := [fault for fault in self._faults.values() if fault.first.state == state]:
                faults.sort(key=lambda fault: (not fault.is_new, -fault.count))
                yield f"{title}: {many(len(faults), 'URL')}", faults

    def _is_file(self, url: str) -> bool:
        return bool(self.folder) and url.startswith(f"{self._origin}/")

    def _short(self, url: str) -> str:
        if self._is_file(url):
            return url.removeprefix(f"{self._origin}/") or "/"
        return url.removeprefix(self._origin) if url.startswith(f"{self._origin}/") else url

    def _name(self, place: Place) -> str:
        return self._short(place.url) + (f"#{place.fragment}" if place.state == "fragment" else "")

    def _where(self, place: Place) -> str:
        page = self._short(place.parent)
        if self.folder and self._is_file(place.parent):
            page = file_of(self.folder, page)
        return f"{page or 'start'}{f':{place.line}' if place.line else ''}"

    def _why(self, fault: _Fault) -> str:
        """Status and reason in words, since when, and where redirects end."""
        place = fault.first
        found = (_sentences().get(f"weboid-{kind}-{place.reason}") for kind in ("reason", "invalid"))
        reason = next(filter(None, found), place.reason.replace("-", " ").capitalize() + ".")
        answer = f"{place.status}: {reason}" if place.status else reason
        words = (
            "The page has no element of that name." if place.state == "fragment" else answer,
            "" if place.dead_since is None else f"Dead since {_date(place.dead_since)}.",
            "New since the last run." if fault.is_new and not self.is_first else "",
            f"It leads to {self._short(place.final)}" if place.final else "",
        )
        return " ".join(filter(None, words))

    def _places(self, fault: _Fault) -> str:
        shown = filter(None, (*map(self._where, fault.shown), fault.more()))
        return f"{many(fault.count, 'place')}: {', '.join(shown)}"

    def _closing(self, summary: Summary) -> Iterator[str]:
        links = f"{many(sum(summary.counts.values()), 'link')} on {many(summary.pages, 'page')}"
        states = ", ".join(f"{count:,} {state}" for state, count in summary.counts.items() if count)
        yield f"{links} in {summary.seconds:.1f} s: {states or 'nothing found'}."
        if summary.filtered_by:
            yield f"Not followed: {', '.join(f'{name} {count:,}' for name, count in summary.filtered_by.items())}."
        if self._left_out:
            yield f"{many(self._left_out, 'more place')} of other URLs are not shown here."
        if summary.is_interrupted:
            yield "The run was interrupted: what it did not reach is missing."


class TextReport(_GroupedReport):
    """Text for people at a terminal."""

    def end(self, summary: Summary) -> Iterator[str]:
        for heading, faults in self._groups(summary):
            yield f"{heading}\n\n"
            for fault in faults:
                lines = [self._why(fault), f"copy: {fault.first.copy}" if fault.first.copy else "", self._places(fault)]
                yield (
                    plain(self._name(fault.first)) + "".join(f"\n    {plain(line)}" for line in lines if line) + "\n\n"
                )
        yield "".join(f"{plain(line)}\n" for line in self._closing(summary))


class HtmlReport(_GroupedReport):
    """One page without scripts, which loads nothing."""

    def end(self, summary: Summary) -> Iterator[str]:
        yield _HEAD.replace("TITLE", _html(f"Links of {self.folder or ' '.join(summary.starts[:3])}"))
        yield "".join(f"<p>{_html(line)}</p>\n" for line in self._closing(summary))
        for heading, faults in self._groups(summary):
            yield f"<h2>{heading}</h2>\n"
            for fault in faults:
                copy = f"<p>Copy: {_anchor(fault.first.copy, fault.first.copy)}</p>" if fault.first.copy else ""
                yield f"<section><h3>{self._link(fault.first.url, self._name(fault.first))}</h3>"
                yield f"<p>{_html(self._why(fault))}</p>{copy}<p>{many(fault.count, 'place')}:</p><ul>\n"
                for place in fault.shown:
                    yield f"<li>{self._link(place.parent, self._where(place))} {_html(place.text)}</li>\n"
                yield f"</ul><p>{fault.more()}</p></section>\n"
        yield "</main></html>\n"

    def _link(self, url: str, shown: str) -> str:
        """A link, but not to the server of a folder, which has gone."""
        return _html(shown) if self._is_file(url) else _anchor(url, shown)


@dataclass(kw_only=True)
class JUnitReport(_GroupedReport):
    """A test case for each URL that was looked at, by whose name servers of CI compare runs; a doubt is skipped.

    GitLab takes the first of several with one name, and shows the text of a failure, Jenkins its message, too. The port
    of a folder that is served changes from run to run; it is in no name.
    """

    _passed: dict[str, None] = field(default_factory=dict)

    def add(self, place: Place) -> str:
        if place.state in ("ok", "redirect") and len(self._passed) < _MOST_PASSED:
            self._passed[place.url] = None
        return super().add(place)

    def end(self, summary: Summary) -> Iterator[str]:
        cases = {self._name(fault.first): fault for _, faults in self._groups(summary) for fault in faults}
        passed = [name for url in self._passed if (name := self._short(url)) not in cases]
        failures = sum(map(self._is_failure, cases.values()))
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="links" errors="0" '
        yield f'tests="{len(cases) + len(passed)}" failures="{failures}" skipped="{len(cases) - failures}" '
        yield f'time="{summary.seconds:.3f}">\n'
        for name, fault in cases.items():
            text = _html(f"{self._why(fault)} {self._places(fault)}")
            kind, type_ = ("failure", f' type="{fault.first.state}"') if self._is_failure(fault) else ("skipped", "")
            yield f'{_case(name)}><{kind}{type_} message="{text}">{text}</{kind}></testcase>\n'
        yield from (f"{_case(name)}/>\n" for name in passed)
        yield f"<system-out>{_html(' '.join(self._closing(summary)))}</system-out>\n</testsuite>\n</testsuites>\n"

    def _is_failure(self, fault: _Fault) -> bool:
        return fault.first.state != "doubtful" and (fault.is_new or not self.only_new)


FORMATS: Final[Mapping[str, type[SiteReport]]] = {
    "text": TextReport,
    "jsonl": JsonReport,
    "csv": CsvReport,
    "html": HtmlReport,
    "junit": JUnitReport,
    "dot": DotReport,
}


def _values(place: Place) -> dict[str, Any]:
    values = {key: getattr(place, key) for key in _KEYS}
    since = None if place.dead_since is None else _date(place.dead_since)
    more = {"copy": place.copy, "dead_since": since, "new": place.is_new}
    return values | {key: value for key, value in more.items() if value}


def _date(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def _json_line(value: Any) -> str:
    return json.dumps(value).replace("\x7f", "\\u007f") + "\n"  # the only control that JSON leaves as it is


def _csv_row(cells: Iterable[object]) -> str:
    row = StringIO()
    csv.writer(row).writerow(map(_cell, cells))
    return row.getvalue()


def _cell(value: object) -> object:
    text = plain(value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and text.lstrip()[:1] in tuple("=+-@＝＋－＠") else text


def _dot(url: str) -> str:
    return '"{}"'.format(plain(url).replace("\\", "\\\\").replace('"', '\\"'))


@cache
def _sentences() -> Mapping[str, str]:
    sentences: Mapping[str, str] = json.loads((asset("i18n") / "en.json").read_text(encoding="utf-8"))
    return sentences


def _html(text: str) -> str:
    return escape(plain(text))


def _anchor(url: str, shown: str) -> str:
    text = _html(shown)
    return f'<a href="{_html(url)}" rel="nofollow noreferrer">{text}</a>' if url.startswith(_HTTP) else text


def _case(name: str) -> str:
    return f'<testcase classname="links.{"external" if name.startswith(_HTTP) else "site"}" name="{_html(name)}"'


_HEAD: Final = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>TITLE</title><style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 50rem; margin: auto }
section { border-left: .25rem solid #b32424; padding-left: .75rem; margin: 1.5rem 0 }
h3, section p { margin: .25rem 0 }
</style><main><h1>TITLE</h1>
"""

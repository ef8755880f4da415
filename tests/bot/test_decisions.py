"""The table of decisions in docs/bots.md: no row without a case."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from support.repairs import COPY, FOUND, NOW, URL, known, repaired, settings_of

from weboid.bot.repair import repair

_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "bots.md"
_ROW = re.compile(r"^\| (D\d+) \|", re.MULTILINE)

_CITE = f"{{{{cite web|url={URL}|title=A}}}}"
_PARAMETERS = f"|archive-url={COPY}|archive-date=7 May 2012|url-status=dead"
_ARCHIVED = f"{{{{cite web|url={URL}|title=A{_PARAMETERS}}}}}"
_LIVING = _ARCHIVED.replace("status=dead", "status=live")
_TAG = "{{dead link|date=November 2026|bot=WeboidBot|fix-attempted=yes}}"
_BY_HAND = "{{dead link|date=May 2015}}"
_BY_BOT = "{{dead link|date=May 2015|bot=InternetArchiveBot|fix-attempted=yes}}"
_BRACKETED = f"* [{URL} Town]"
_WEBARCHIVE = f"{{{{webarchive|url={COPY}|date=7 May 2012}}}}"
_BARRED = _ARCHIVED.replace(COPY, f"https://archive.today/20120507093011/{URL}")
_OTHER = _ARCHIVED.replace(COPY, COPY.replace("history", "another"))
_SAVED = _ARCHIVED.replace(COPY, f"https://web.archive.org/save/{URL}")
_CHOSEN = _ARCHIVED.replace(COPY, "https://clips.example.com/4711")
_WAYBACK = f"{{{{Wayback|url={URL}|date=20120507093011}}}}"
_NONE = f"https://web.archive.org/web/*/{URL}"
_LISTED = f"{{{{Wayback|url={_NONE}}}}}"

_NESTED = f"https://web.archive.org/web/20190101000000/{COPY}"
_DAY = "|archive-date=7 May 2012"


class Row(NamedTuple):
    """A row of the table: what stands in the page, what is known, what becomes of it."""

    row: str
    before: str
    after: str
    verdict: Any = "dead"
    archive: Any = FOUND
    wiki: str = "enwiki"
    options: dict[str, Any] = {}  # noqa: RUF012


def flagged(flag: str, verdict: str = "dead") -> dict[str, Any]:
    return {"verdict": verdict, "flags": [flag]}


ROWS = (
    Row("D1", _CITE, _CITE, verdict=flagged("frozen")),
    Row("D1", _BARRED, _BARRED, verdict=flagged("frozen")),
    Row("D2", _CITE, _CITE, verdict="spam"),
    Row("D2", _CITE, _CITE, verdict="invalid"),
    Row("D3", _CITE, _ARCHIVED, verdict=flagged("permadead", "working")),
    Row("D4", _CITE, _CITE, verdict=flagged("permalive")),
    Row("D4", _CITE + _BY_HAND, _ARCHIVED, verdict=flagged("permalive", "working")),
    Row("D4", _CITE + _BY_HAND, _CITE, verdict=flagged("permalive"), options={"trust_tags": False}),
    Row("D5", _CITE, _CITE, verdict=flagged("subscription")),
    Row("D5", _CITE.replace("|title", "|url-access=subscription|title"), "=", verdict="dead"),
    Row("D5", _CITE + " {{subscription required}}", "=", verdict="dead"),
    Row("D5", _CITE.replace("=A", "=A {{subscription required}}"), "=", verdict="dead"),
    Row("D5", _CITE + _BY_HAND, _ARCHIVED, verdict=flagged("subscription", "unknown")),
    Row("D6", _BARRED, _ARCHIVED),
    Row("D6", _BARRED, _BARRED, archive=None),
    Row("D6", _BARRED, _BARRED, options={"replace_deprecated_archives": False}),
    Row("D6", _SAVED, _ARCHIVED),
    Row("D6", _SAVED, _SAVED, archive="error"),
    Row("D6", _SAVED.replace("/save/", "/web/20120507093011*/"), _ARCHIVED),
    Row("D6", _SAVED.replace("web.archive.org/save/", "archive.org/wayback/available?url="), _ARCHIVED),
    Row("D6", _OTHER, _ARCHIVED),
    Row("D6", _CHOSEN, "="),
    Row("D6", f"{_BRACKETED} {_LISTED}", f"{_BRACKETED} {_WEBARCHIVE}"),
    Row("D6", f"{_BRACKETED} {_LISTED}", "=", options={"convert_obsolete_archive_templates": False}),
    Row("D6", _ARCHIVED.replace(COPY, URL), _ARCHIVED),
    Row("D7", _LIVING, _ARCHIVED),
    Row("D7", _ARCHIVED.replace("|url-status=dead", ""), "="),
    Row("D8", f"{_CITE} {_WEBARCHIVE}", _ARCHIVED, archive="absent"),
    Row("D8", _CITE.replace(URL, COPY), _ARCHIVED, archive="absent"),
    Row("D9", f"{_BRACKETED} {_WAYBACK}", f"{_BRACKETED} {_WEBARCHIVE}", archive="absent"),
    Row("D9", f"{_BRACKETED} {_WAYBACK}", "=", options={"convert_obsolete_archive_templates": False}),
    Row("D10", _ARCHIVED + _BY_BOT, _ARCHIVED),
    Row("D10", _ARCHIVED + _BY_HAND, "="),
    Row("D11", _ARCHIVED, "=", archive={"url": COPY.replace("2012", "2020"), "stamp": "20200507093011"}),
    Row("D11", _ARCHIVED.replace("https://web", "http://web"), "="),
    Row("D11", f"{_BRACKETED} ([{COPY} archived])", "="),
    *(Row("D11", f"{text} [{COPY} archived]", "=", archive=None) for text in (_BRACKETED, _CITE)),
    Row("D11", f"[{COPY} Archived] from [{URL} the original] on 7 May 2012", "="),
    Row("D11", f"{_BRACKETED} ([{COPY} Archiv])", "=", wiki="dewiki"),
    Row("D11", _ARCHIVED.replace("https://web", "http://web"), _ARCHIVED, options={"cosmetic_only_edits": True}),
    Row("D11", _ARCHIVED.replace("=7 May 2012", "="), _ARCHIVED),
    Row("D11", _ARCHIVED.replace("|archive-date=7 May 2012", ""), f"{_ARCHIVED.replace(_DAY, '')[:-2]}{_DAY}}}}}"),
    Row("D11", _ARCHIVED.replace("=7 May", "=9 May"), _ARCHIVED),
    Row("D11", f"{_BRACKETED} {_WEBARCHIVE.replace('=7 May', '=9 May')}", f"{_BRACKETED} {_WEBARCHIVE}"),
    Row("D11", _ARCHIVED.replace(COPY, _NESTED), _ARCHIVED),
    Row("D11", f"* [{_NESTED} Town]", f"* [{COPY} Town]"),
    Row("D12", _CITE, _ARCHIVED),
    Row("D12", _BRACKETED, f"{_BRACKETED} {_WEBARCHIVE}"),
    Row("D12", f"{_BRACKETED} {_BY_HAND}", f"{_BRACKETED} {_WEBARCHIVE}"),
    Row("D12", _CITE + _BY_BOT, _ARCHIVED),
    Row("D12", _CITE.replace("=A", "=A " + _BY_HAND), _ARCHIVED),
    Row("D13", _CITE, _CITE, archive="unknown"),
    Row("D13", _CITE, _CITE, archive="error"),
    Row("D13", _CITE, _CITE, archive="absent"),
    Row("D13", _CITE, _CITE, archive="unsuitable"),
    Row("D13", _CITE, _CITE, archive="excluded"),
    Row("D13", _CITE, _CITE, archive=FOUND | {"verified": False}),
    Row("D14", _CITE, _CITE + _TAG, archive=None),
    Row("D14", _BRACKETED, f"{_BRACKETED} {_TAG}", archive=None),
    Row("D14", f"{_CITE} [{_NONE} list]", f"{_CITE}{_TAG} [{_NONE} list]", archive=None),
    Row("D14", f"{_BRACKETED} ({_NONE})", f"{_BRACKETED} {_TAG} ({_NONE})", archive=None),
    Row(
        "D14", f"{{{{Internetquelle |url={URL} |titel=A}}}}", f"{{{{Internetquelle |url={URL} |titel=A |offline=ja}}}}",
        archive=None, wiki="dewiki",
    ),
    Row("D15", _CITE + _BY_HAND, "=", archive=None),
    Row("D15", _CITE.replace("=A", "=A " + _BY_HAND), "=", archive=None),
    Row("D15", _CITE, "=", archive=None, options={"only_with_archive": True}),
    Row("D16", _CITE + _BY_BOT, _CITE, verdict="working"),
    Row("D16", _CITE + _BY_HAND, "=", verdict="working"),
    Row("D16", _CITE + _BY_HAND, _CITE, verdict="working", options={"trust_tags": False}),
    Row("D16", _ARCHIVED, _LIVING, verdict="working", options={"trust_tags": False}),
    Row("D16", _CITE + _BY_BOT, "=", verdict="working", options={"revive": False}),
    Row("D17", _CITE, "=", verdict="working"),
    Row("D17", _CITE, _LIVING, verdict="working", options={"living_archives": True}),
    Row("D17", _BARRED, "=", verdict="working"),
    Row("D17", _SAVED, "=", verdict="working"),
    Row("D17", _OTHER, "=", verdict="working"),
    Row("D18", _BARRED, "=", verdict="doubtful"),
    Row("D18", _CITE + _BY_BOT, "=", verdict="doubtful"),
    Row("D18", _CITE + _BY_HAND, "=", verdict="unknown"),
)  # fmt: skip


def test_a_link_is_treated_as_the_table_says_once_and_every_row_of_the_table_has_a_case() -> None:
    for row in ROWS:
        links = known(row.verdict, row.archive)
        once = repaired(row.before, row.wiki, links=links, **row.options)
        assert once == (row.before if row.after == "=" else row.after), row
        assert repaired(once, row.wiki, links=links, **row.options) == once, row
    assert set(_ROW.findall(_DOCUMENT.read_text(encoding="utf-8"))) == {row.row for row in ROWS}


def test_what_the_wiki_says_of_a_link_counts_without_an_answer_that_says_it() -> None:
    for flag, verdict, after in [
        ("permadead", "working", _ARCHIVED),
        ("permalive", "dead", _CITE),
        ("subscription", "dead", _CITE),
    ]:
        for entry in ["example.org", "http://www.town.example.org/hist"]:
            settings = settings_of(links={flag: [entry]})
            assert repair(_CITE, settings, known(verdict), now=NOW).text == after, (flag, entry)
            other = settings_of(links={flag: ["example.net", "http://www.town.example.org/other"]})
            unlisted = repair(_CITE, other, known(verdict), now=NOW).text
            assert unlisted == repaired(_CITE, links=known(verdict)) != after, (flag, entry)


def test_only_links_wait_of_which_another_time_may_know_more() -> None:
    for archive, waits in [
        ("unknown", True), ("error", True), ("pending", True), ("absent", True), ("excluded", False), (None, False),
    ]:  # fmt: skip
        page = repair(_CITE, settings_of(), known(archive=archive), now=NOW)
        assert page.waiting == ((URL,) if waits else ()), archive
        assert repair(_ARCHIVED, settings_of(), known(archive=archive), now=NOW).waiting == ()
        assert repair(_CITE, settings_of(), known("working", archive), now=NOW).waiting == ()

"""Wikitext to copy: the wiki's own templates, and that no value gets out of them."""

import json
import re
from datetime import UTC, date, datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from weboid.assets import asset, toml_next_to
from weboid.core.wikitext.settings import WikiSettings, parse_settings
from weboid.core.wikitext.templates import (
    archive_parameters,
    archive_wikitext,
    date_text,
    dead_wikitext,
    text_value,
    url_value,
)

_CASES = toml_next_to(__file__)

_URL = "http://example.org/a"
_COPY = f"https://web.archive.org/web/20120507093011/{_URL}"
_TAKEN = datetime(2012, 5, 7, 9, 30, 11, tzinfo=UTC)
_TODAY = date(2026, 11, 22)


def settings(wiki: str, **changes: object) -> WikiSettings:
    page = json.loads((asset("wikis") / f"{wiki}.json").read_text(encoding="utf-8"))
    return parse_settings(json.dumps(page | changes))


def written(wiki: str, text: str = "A title", copy: str = _COPY, url: str = _URL, bot: str | None = None) -> str | None:
    now = _TODAY if bot is None else datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    return archive_wikitext(settings(wiki), url=url, archive_url=copy, taken=_TAKEN, text=text, today=now, bot=bot)


def test_a_copy_is_written_and_a_dead_link_marked_as_the_wiki_does() -> None:
    for wiki, wikitext in [
        ("enwiki", f"{{{{webarchive|url={_COPY}|date=7 May 2012}}}}"),
        ("dewiki", f"{{{{Webarchiv|url={_URL}|wayback=20120507093011|text=A title}}}}"),
        ("frwiki", f"{{{{Lien archive|url={_URL}|horodatage archive=20120507093011|titre=A title}}}}"),
        ("ptwiki", f"{{{{Wayback|url={_URL}|date=20120507093011}}}}"),
    ]:
        assert written(wiki) == wikitext
    for wiki, wikitext in [
        ("enwiki", "{{dead link|date=November 2026|fix-attempted=yes}}"),
        ("dewiki", f"{{{{Toter Link|url={_URL}|text=T|date=2026-11-22}}}}"),
        ("frwiki", f"{{{{Lien brisé|url={_URL}|titre=T|brisé le=2026-11-22}}}}"),
        ("ptwiki", "{{Ligação inativa|data=novembro de 2026}}"),
    ]:
        assert dead_wikitext(settings(wiki), url=_URL, text="T", today=_TODAY) == wikitext


def test_only_a_bot_says_that_it_was_one_and_no_template_names_another_archives_copy() -> None:
    wikitext = written("dewiki", bot="Bot|1")
    assert wikitext is not None
    assert wikitext.endswith("|text=A title|archiv-bot=2026-11-22 12:00:00 Bot&#124;1}}")
    assert "archiv-bot" not in (written("dewiki") or "")
    other_copy = f"https://arquivo.pt/wayback/20120507093011/{_URL}"
    assert [written(wiki, copy=other_copy) is None for wiki in ("enwiki", "dewiki", "frwiki", "ptwiki")] == [
        False, True, True, True,
    ]  # fmt: skip


def test_a_text_that_is_not_known_is_left_out_and_the_day_of_a_copy_is_that_in_utc() -> None:
    assert written("dewiki", text=" \n") == f"{{{{Webarchiv|url={_URL}|wayback=20120507093011}}}}"
    late = datetime(2012, 5, 7, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    wikitext = archive_wikitext(settings("dewiki"), url=_URL, archive_url=_COPY, taken=late, text="", today=_TODAY)
    assert "wayback=20120508043000" in (wikitext or "")


def test_the_parameters_of_a_citation_are_written_as_the_wiki_does() -> None:
    def parameters(wiki: str) -> str | None:
        return archive_parameters(settings(wiki), archive_url=_COPY, taken=_TAKEN, today=_TODAY)

    assert parameters("enwiki") == f"|archive-url={_COPY} |archive-date=7 May 2012 |url-status=dead"
    assert parameters("dewiki") == f"|archiv-url={_COPY} |archiv-datum=2012-05-07 |offline=ja"
    assert parameters("frwiki") == f"|archive-url={_COPY} |archive-date=2012-05-07 |brisé le=2026-11-22"
    assert parameters("ptwiki") == f"|arquivourl={_COPY} |arquivodata=7 de maio de 2012 |urlmorta=sim"
    assert archive_parameters(settings("enwiki"), archive_url="no url", taken=_TAKEN, today=_TODAY) is None


def test_dates_go_by_the_wikis_pattern_and_by_the_templates_of_the_page() -> None:
    english = settings("enwiki")
    assert date_text(english, _TODAY) == "22 November 2026"
    assert date_text(english, _TODAY, ["Infobox", "use_mdy dates"]) == "November 22, 2026"
    assert date_text(settings("ptwiki"), _TODAY) == "22 de novembro de 2026"
    for changes, like, day in _CASES["dates"]:
        assert date_text(settings("enwiki", date_rules=[], **changes), _TODAY, like=like) == day


def test_a_url_stays_the_same_url_and_no_markup() -> None:
    for url, value in _CASES["urls"]:
        assert (url_value(url) or "") == value


def test_a_text_is_shown_as_it_is_and_no_markup() -> None:
    for text, value in [
        ("A | B = {{C}}", "A &#124; B = &#123;&#123;C&#125;&#125;"), ("a]b[[c]]", "a&#93;b&#91;&#91;c&#93;&#93;"),
        ("one\n\n* two\ttwo", "one * two two"), ("* a", "&#42; a"), ("it's ''x''", "it's &#39;'x&#39;'"),
        ("<ref>&amp;</ref>", "&#60;ref&#62;&amp;amp;&#60;/ref&#62;"), ("AT&T", "AT&T"),
        ("by ~~~~", "by &#126;&#126;~~"), ("__NOTOC__", "&#95;_NOTOC__"), ("a\u202eb\ud800c", "abc"),
        ("x" * 400, "x" * 299 + "…"),
    ]:  # fmt: skip
        assert text_value(text) == value


_HOSTILE = st.text(st.sampled_from("|={}[]<>'~_&;\n!#*:-/ a1é\u202e\x00\x7f"), max_size=30) | st.text(max_size=30)


@given(st.sampled_from(["enwiki", "dewiki", "frwiki", "ptwiki"]), _HOSTILE, _HOSTILE, st.none() | _HOSTILE)
@example("dewiki", "a}}{{b", "c|d=e", "f|g")
@example("dewiki", "", "{date}", "{url}")
def test_no_value_gets_out_of_the_template(wiki: str, path: str, text: str, bot: str | None) -> None:
    url = f"http://x.example/{path}"
    now = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    copy = f"https://web.archive.org/web/20120507093011/{url}"
    for wikitext in (
        archive_wikitext(settings(wiki), url=url, archive_url=copy, taken=_TAKEN, text=text, today=now, bot=bot),
        dead_wikitext(settings(wiki), url=url, text=text, today=now, bot=bot),
    ):
        assert wikitext is not None
        wikitext.encode()
        assert re.fullmatch(r"\{\{[^{}\[\]<>\x00-\x1f\x7f]*\}\}", wikitext)
        assert not re.search(r"~~~|''|__\w+__", wikitext)
        assert {part.partition("=")[0] for part in wikitext[2:-2].split("|")} <= _names(settings(wiki))


def _names(given: WikiSettings) -> set[str]:
    patterns = (given.archive_template.write, given.dead_tag.write)
    return {part.partition("=")[0] for pattern in patterns for part in pattern[2:-2].split("|")}


def test_positional_parameters_are_numbered_where_they_must_be() -> None:
    given = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))["archive_template"]
    english = settings("enwiki", archive_template=given | {"write": "{{webarchive|{text}|{archive_url}|3}}"})

    def filled(text: str, url: str) -> str | None:
        return archive_wikitext(english, url=url, archive_url=url, taken=_TAKEN, text=text, today=_TODAY)

    assert filled("t", "http://x.example/") == "{{webarchive|t|http://x.example/|3}}"
    assert filled("t", "http://x.example/?a=1") == "{{webarchive|t|2=http://x.example/?a=1|3=3}}"
    assert filled("", "http://x.example/") == "{{webarchive|2=http://x.example/|3=3}}"

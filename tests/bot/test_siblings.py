"""Forms of a link that differ little from those of the shared cases, and must come out as well."""

from support.repairs import COPY, FOUND, NOW, URL, known, repaired, settings_of

from weboid.assets import toml_next_to
from weboid.bot.repair import repair

_CASES = toml_next_to(__file__)

_CITE = f"{{{{cite web|url={URL}|title=A}}}}"
_ARCHIVED = f"{{{{cite web|url={URL}|title=A|archive-url={COPY}|archive-date=7 May 2012|url-status=dead}}}}"
_WEBARCHIVE = f"{{{{webarchive|url={COPY}|date=7 May 2012}}}}"
_TAG = "{{dead link|date=May 2015|bot=X}}"
_STAMP = "20120507093011"


def _addresses(kind: str) -> list[str]:
    return [address.replace("$URL", URL) for address in _CASES[kind]]


def test_a_citation_in_a_label_that_moves_is_repaired_where_it_then_stands() -> None:
    after = repaired(f"[{URL} A<ref>{{{{Internetquelle|url={URL}|titel=B}}}}</ref>]", "dewiki")
    assert after.startswith(f"{{{{Webarchiv|url={URL}|wayback={_STAMP}|text=A<ref>{{{{Internetquelle|url={URL}|titel")
    assert after.count("archiv-url=") == 1
    assert after.endswith("WeboidBot}}")


def test_a_mark_takes_along_what_held_it_but_no_comma_or_parentheses_of_more_text() -> None:
    tag = "<small> (<small>{{dead link}}</small>)</small>"
    for mark in [f" ({_WEBARCHIVE})", f", {_WEBARCHIVE}", " <sup>{{dead link}}</sup>", f"; {_WEBARCHIVE}", tag]:
        assert repaired(f"<ref>{_CITE}{mark}.</ref>") == f"<ref>{_ARCHIVED}.</ref>"
    for behind in [" says", " {{pd}}"]:
        assert repaired(f"* [{URL} A],{_TAG}{behind}", links=known("working")) == f"* [{URL} A],{behind}"
    for other in [" see ", "see "]:
        assert repaired(f"<ref>{_CITE} ({other}{_WEBARCHIVE})</ref>") == f"<ref>{_ARCHIVED} ({other.rstrip()})</ref>"


def test_an_obsolete_template_hands_its_other_parameters_on_unless_they_have_no_names() -> None:
    for more, kept in [("|df=y", ""), ("|title=Town", "|title=Town"), (" | title = Town |df=mdy", "|title = Town")]:
        before = f"* [{URL} A] {{{{wayback|url={URL}|date={_STAMP}{more}}}}}"
        assert repaired(before) == f"* [{URL} A] {_WEBARCHIVE[:-2]}{kept}}}}}", more
    for given in [f"1={URL}|2=Town", f"url={URL}|Town", f"url={URL}|1=http://other.example.org/"]:
        before = f"* [{URL} A] {{{{wayback|{given}|date={_STAMP}}}}}"
        assert repaired(before) == before, given


def test_the_front_page_of_an_archive_is_no_copy_and_what_is_of_no_one_day_not_written() -> None:
    for address in ["https://web.archive.org/", "https://archive.org", "https://web.archive.org/web/"]:
        before = _ARCHIVED.replace(COPY, address)
        assert repaired(before) == _ARCHIVED, address
    for path in ["web/*", "save", "web/2012", "web", "liveweb", "web/20990507093011"]:
        given = {"url": f"https://web.archive.org/{path}/{URL}", "stamp": "20120507093011"}
        assert repaired(_CITE, links=known("dead", given)) == _CITE, path
        assert repaired(_CITE, links=known("dead", [given, FOUND])) == _ARCHIVED, path


def test_an_obsolete_template_next_to_a_citation_that_does_not_say_which_copy_gives_way_to_one() -> None:
    for stamp in ["20120507", "", "*"]:
        before = f"<ref>{_CITE} {{{{wayback|url={URL}|date={stamp}}}}}</ref>"
        assert repaired(before) == f"<ref>{_ARCHIVED}</ref>", stamp
        assert repaired(before, links=known("dead", None)) == before, stamp


def test_what_is_no_copy_of_one_day_gives_way_to_one() -> None:
    for address in _addresses("of-no-one-day"):
        for parameter in ["archive-url={}|archive-date=1 May 2011", "url={}"]:
            given = parameter.format(address)
            rest = "" if given.startswith("url") else f"url={URL}|"
            before = f"<ref>{{{{cite web|{rest}title=A|{given}}}}}</ref>"
            after = repaired(before)
            cited = after.replace(f"|url={URL}", "", 1)
            assert f"|archive-url={COPY}|archive-date=7 May 2012|url-status=dead" in cited, (address, parameter)
            assert address not in after, parameter
            assert repaired(before, links=known("dead", None)) == before, (address, parameter)


def test_an_address_that_an_editor_chose_as_a_copy_stays_one() -> None:
    for address in _addresses("chosen"):
        before = _ARCHIVED.replace(COPY, address)
        for verdict in ("working", "dead", "doubtful", "unknown"):
            assert repaired(before, links=known(verdict)) == before, address
        tagged = repaired(before.replace("|url-status=dead", "|url-status=live"))
        assert tagged == before, address
    before = _ARCHIVED.replace("https://web.", "https://web&#46;")
    assert repaired(before) == before


def test_what_is_no_copy_for_certain_gives_way_to_one_where_the_link_is_dead() -> None:
    for address in _addresses("no-copies"):
        before = _ARCHIVED.replace(COPY, address)
        assert repaired(before) == _ARCHIVED, address
        assert repaired(before, links=known("dead", None)) == before, address
        assert repaired(before, replace_deprecated_archives=False) == _ARCHIVED, address
        for verdict in ("working", "doubtful", "unknown"):
            assert repaired(before, links=known(verdict)) == before, address


def test_a_copy_that_is_deprecated_or_of_another_page_gives_way_only_where_the_link_is_dead() -> None:
    for address in [
        "https://www.webcitation.org/5xyzAbCdE",
        f"https://archive.today/20120507093011/{URL}",
        "http://www.freezepage.com/1336382611ABCDEFGHIJ",
        f"http://www.collectionscanada.gc.ca/webarchives/20120507093011/{URL}",
        f"https://web.archive.org/web/20120507093011/{URL.replace('history', 'other')}",
    ]:
        before = _ARCHIVED.replace(COPY, address)
        assert repaired(before) == _ARCHIVED, address
        for verdict in ("working", "doubtful", "unknown"):
            assert repaired(before, links=known(verdict)) == before, address


def test_an_archive_template_without_a_moment_gets_one_unless_it_may_name_a_copy_otherwise() -> None:
    for stamp in ["*", ""]:
        before = f"* {{{{Webarchiv |url={URL} |wayback={stamp} |text=Fest}}}}"
        assert repaired(before, "dewiki") == before.replace(f"wayback={stamp}", f"wayback={_STAMP}")
        assert repaired(before, "dewiki", links=known("dead", None)) == before, stamp
    before = f"* {{{{Webarchiv|url={URL}|wayback=|archive-it=123|text=Fest}}}}"
    assert repaired(before, "dewiki") == before
    template = f"{{{{Webarchiv|url={URL}|wayback={_STAMP}|text=A}}}}"
    after = repaired(f"{template} [{URL} B]", "dewiki", links=known("dead", None))
    assert after.startswith(f"{template} {{{{Toter Link|url={URL}|text=B|")


def test_a_bad_copy_of_a_living_link_stays_and_a_deprecated_one_goes_where_there_is_a_good_one() -> None:
    before = f"<ref>{_CITE} {{{{webarchive|url=https://archive.today/abc|date=7 May 2012}}}}</ref>"
    assert repaired(before, links=known("working")) == before
    assert repaired(before) == f"<ref>{_ARCHIVED}</ref>"
    before = _ARCHIVED.replace(f"|url={URL}", f"|url=https://archive.today/20100101000000/{URL}")
    assert repaired(before) == _ARCHIVED
    assert repaired(before, replace_deprecated_archives=False) == before


def test_older_names_and_spellings_are_known_and_the_page_that_keeps_a_bot_off() -> None:
    assert "|deadurl=usurped|" in repaired(_CITE.replace("|title", "|deadurl=usurped|title"))
    assert repaired(_CITE.replace("|title", "|url-status=yes|title")).count("|url-status=dead|title") == 1
    for name in ["Use MDY dates", "use mdy dates", "Template:Use mdy dates"]:
        assert "|archive-date=May 7, 2012|" in repaired(f"{{{{{name}|date=May 2020}}}}\n{_CITE}")
    for name in ["User:WeboidBot", "Benutzer:WeboidBot"]:
        before = f"{{{{bots|deny={name}}}}} [{URL} A]"
        assert repaired(before) == before, name


def test_a_tag_in_a_label_and_a_template_with_several_copies_stay_where_they_are() -> None:
    after = repaired(f"* [{URL} Fest {{{{Toter Link}}}}] x", "dewiki")
    assert after.startswith(f"* {{{{Webarchiv|url={URL}|wayback={_STAMP}|text=Fest|")
    assert after.endswith("}} x")
    assert "Toter" not in after
    more = f"|url2=https://web.archive.org/web/20150507093011/{URL}|date2=7 May 2015"
    before = f"<ref>{_CITE} {_WEBARCHIVE[:-2]}{more}}}}}</ref>"
    assert repaired(before) == before
    assert repaired(f"{{{{cite web|url=\n{URL}\n|title=A}}}}").endswith(_ARCHIVED.partition("|title=A")[2])


def test_a_copy_in_an_unknown_parameter_or_written_with_entities_is_a_copy() -> None:
    before = f"{{{{Lien web|titre=A|url={URL}|archiv-url={COPY}|brisé le=2019-05-21}}}}"
    assert repaired(before, "frwiki") == before
    other = before.replace(COPY, COPY.replace("history", "another"))
    assert f"|archive-url={COPY}|" in repaired(other, "frwiki")
    url = URL + "?a=b&amp;c=d"
    links = known("dead", FOUND | {"url": COPY + "?a=b&c=d"}, URL + "?a=b&c=d")
    once = repaired(f"* {url}", "dewiki", links=links)
    assert f"{{{{Webarchiv|url={url}|wayback={_STAMP}|" in once
    assert repair(once, settings_of("dewiki"), links, now=NOW).changes == ()
    for written, read in [("?a=b&amp;c=d", "?a=b&c=d"), ("?a{{=}}b&#38;c&#x3d;d", "?a=b&c=d")]:
        before = f"<ref>{{{{cite web|url={url}}}}} {{{{webarchive|url={COPY}{written}}}}}</ref>"
        assert f"|url={url}|archive-url={COPY}{read}|" in repaired(before, links=known("dead", None, url)), written

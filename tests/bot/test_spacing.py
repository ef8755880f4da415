"""Parameters are written in the template's own spacing, and what is not repaired keeps its own."""

from support.repairs import COPY, URL, known, repaired

from weboid.core.wikitext.nodes import BLANKS

_LINES = f"archive-url={COPY}", "archive-date=7 May 2012", "url-status=dead"


def test_added_parameters_look_like_their_neighbours() -> None:
    for before, after in [
        (f"{{{{cite web|url={URL}|title=A}}}}", "{before}|{0}|{1}|{2}}}}}"),
        (f"{{{{cite web |url={URL} |title=A }}}}", "{before} |{0} |{1} |{2} }}}}"),
        (f"{{{{cite web\n|url={URL}\n|title=A\n}}}}", "{before}\n|{0}\n|{1}\n|{2}\n}}}}"),
        (f"{{{{cite web\r\n|url={URL}\r\n|title=A\r\n}}}}", "{before}\r\n|{0}\r\n|{1}\r\n|{2}\r\n}}}}"),
        (f"{{{{cite web|\n url={URL}|\n title=A\n}}}}", "{before}|\n {0}|\n {1}|\n {2}\n}}}}"),
        (f"{{{{cite web|url={URL}|title=A <!-- sic -->}}}}", "{before}|{0}|{1}|{2}}}}}"),
        (f"{{{{cite web|url={URL}\u00a0|title=A\u3000}}}}", "{before}|{0}|{1}|{2}}}}}"),
    ]:
        kept = before[:-2].rstrip(BLANKS)
        assert repaired(before) == after.format(*_LINES, before=kept)


def test_columns_are_kept_and_empty_parameters_filled_where_they_stand_with_their_comments() -> None:
    before = f"{{{{cite web\n | url         = {URL}\n | title       = A\n}}}}"
    added = f" | archive-url = {COPY}\n | archive-date = 7 May 2012\n | url-status  = dead\n"
    assert repaired(before) == before[:-2] + added + "}}"
    before = f"{{{{cite web | url = {URL} | archive-url = | title = A | archive-date = }}}}"
    filled = before.replace("archive-url = ", f"archive-url = {COPY} ")
    assert repaired(before) == filled.replace("date = ", "date = 7 May 2012 | url-status = dead")
    before = f"{{{{cite web|url={URL}|archive-url=<!-- none -->|title=A}}}}"
    assert f"|archive-url={COPY}<!-- none -->|title=A" in repaired(before)
    assert repaired(f"{{{{cite web|url={URL}|title=A|}}}}").endswith("|url-status=dead|}}")
    before = f"{{{{cite web |url={URL} |deadurl=no |archiveurl={COPY} |archivedate=2012-05-07 }}}}"
    assert repaired(before) == before.replace("deadurl=no", "url-status=dead")


def test_a_removed_parameter_takes_its_blanks_along_and_a_mark_its_line_but_no_word() -> None:
    before = f"{{{{Internetquelle\n |url={URL}\n |titel=A\n |offline=ja\n}}}}"
    after = repaired(before, "dewiki", links=known("working"), trust_tags=False)
    assert after == f"{{{{Internetquelle\n |url={URL}\n |titel=A\n}}}}"
    before = f"<ref>{{{{cite web\n|url={URL}\n}}}}\n{{{{dead link|date=May 2015}}}}\n</ref>"
    assert repaired(before).endswith("|url-status=dead\n}}\n</ref>")
    for behind in ["x", "/a", "?b"]:
        before = f"{URL}{{{{dead link|bot=X}}}}{behind}"
        assert repaired(before, links=known("working")) == f"{URL} {behind}"


def test_a_label_stays_one_parameter_or_leaves_the_link_alone() -> None:
    assert "|text=A&#124;b|" in repaired(f"[{URL} A|b]", "dewiki")
    assert repaired(f"[{URL} A}}}} b]", "dewiki") == f"[{URL} A}}}} b]"
    before = f"<ref>[{URL} {URL}]</ref>"
    assert repaired(before, convert_bare_refs=True).startswith(f"{before[:-6]} {{{{webarchive|")


def test_a_copy_that_may_not_be_shown_or_named_by_the_template_is_not_written() -> None:
    other = {"url": f"https://wayback.archive-it.org/1/20120507093011/{URL}", "stamp": "20120507093011"}
    before = f"[{URL} A]"
    assert repaired(before, "dewiki", links=known("dead", other)) == before
    assert "archive-it" in repaired(before, links=known("dead", other))
    for copy in [
        {"url": COPY.replace("2012", "2031"), "stamp": "20310507093011"},
        {"url": COPY.replace("history", "other"), "stamp": "20120507093011"},
        {"url": f"https://archive.today/20120507093011/{URL}", "stamp": "20120507093011"},
        {"url": URL, "stamp": "20120507093011"},
        {"url": COPY, "stamp": "20120507093011", "verified": False},
        {"url": "javascript:alert(1)", "stamp": "20120507093011"},
        {"url": None},
        17,
    ]:
        before = f"{{{{cite web|url={URL}|title=A}}}}"
        assert repaired(before, links=known("dead", copy)) == before


def test_a_tag_that_names_the_link_before_it_is_no_link_but_stays_if_it_spells_it_otherwise() -> None:
    after = repaired(f"* [{URL} A] {{{{Toter Link|url={URL}|date=2018-12}}}}", "dewiki")
    assert after.startswith(f"* {{{{Webarchiv|url={URL}|wayback=20120507093011|text=A|")
    assert after.count(URL) == 1
    tag = f"{{{{Toter Link|url={URL.replace('http:', 'https:')}#a|date=2018-12}}}}"
    for link in (f"[{URL} A]", f"{{{{Internetquelle |url={URL} |titel=A}}}}"):
        after = repaired(f"* {link} {tag}", "dewiki")
        assert "20120507093011" in after
        assert after.endswith(f" {tag}")


def test_a_copy_gets_https_alongside_and_the_form_that_readers_want() -> None:
    for scheme in ["http:", ""]:
        after = f"{{{{cite web|url={URL}|archive-url={COPY}|archive-date=x|url-status=dead}}}}"
        assert repaired(after.replace("https:", scheme).replace("dead", "live")) == after, scheme
    for stamp, raw in [("20120507093011", "20120507093011id_"), ("20120507", "20120507id_")]:
        copy = {"url": COPY.replace("https:", "http:").replace("20120507093011", raw), "stamp": "20120507093011"}
        after = repaired(f"{{{{cite web|url={URL}|title=A}}}}", links=known("dead", copy))
        assert f"|archive-url={COPY.replace('20120507093011', stamp)}|" in after
    before = f"* {{{{Webarchiv |url={URL} |webciteID=5xyz |text=A |archive-is=2012}}}}"
    after = f"* {{{{Webarchiv |url={URL} |wayback=20120507093011 |text=A}}}}"
    assert repaired(before, "dewiki") == after


def test_the_day_of_a_copy_is_written_like_the_days_of_its_citation_then_as_its_page_writes_days() -> None:
    for wiki, given, day in [
        ("enwiki", "|date=May 3, 2013|access-date=June 1, 2015", "May 7, 2012"),
        ("enwiki", "|date=May 3, 2013|access-date=2015-06-01", "2012-05-07"),
        ("enwiki", "|date=3 May 2013|archive-date=Jun 1, 2015", "May 7, 2012"),
        ("enwiki", "|date=May 2013|access-date=05/06/2015", "7 May 2012"),
        ("enwiki", "|date=3 Mai 2013|access-date=2015", "7 May 2012"),
        ("dewiki", "|datum=2013|abruf=1. Juni 2015", "7. Mai 2012"),
        ("ptwiki", "|acessodata=2015-06-01", "2012-05-07"),
    ]:
        name = {"enwiki": "cite web|title", "dewiki": "Internetquelle|titel", "ptwiki": "Citar web|título"}[wiki]
        before = f"{{{{{name}=A|url={URL}{given}}}}}"
        assert f"={day}|" in repaired(before, wiki), before
    assert "=May 7, 2012|" in repaired(f"{{{{Use mdy dates}}}}{{{{cite web|url={URL}|title=A}}}}")


def test_a_pipe_is_part_of_a_url_where_it_separates_nothing_and_is_escaped_where_it_would() -> None:
    url = "http://a.example.org/q?x=1|2"
    copy = f"https://web.archive.org/web/20120507093011/{url}"
    links = known("dead", {"url": copy, "stamp": "20120507093011"}, url)
    for before in [f"[{url} A]", f"* {url}", f"<ref>[{url} A|b]</ref>"]:
        assert "x=1%7C2|date=7 May 2012}}" in repaired(before, links=links), before
    assert "|url=http://a.example.org/q?x=1{{!}}2|wayback=" in repaired(f"[{url} A]", "dewiki", links=links)
    cite = "{{cite web|url=http://a.example.org/q?x=1{{!}}2|title=A}}"
    after = repaired(cite, links=links)
    assert after.startswith(f"{cite[:-2]}|archive-url=")
    assert "x=1%7C2|archive-date=7 May 2012" in after
    assert repaired(after, links=links) == after
    within = cite.replace("http://a", "https://web.archive.org/web/20120507093011/http://a")
    assert "|url=http://a.example.org/q?x=1{{!}}2|" in repaired(within, links=links)
    for before in [f"| [{url} A]", f"{{{{small|[{url} A]}}}}"]:
        assert repaired(before, links=links) == before


def test_a_citation_keeps_the_family_of_names_that_it_uses() -> None:
    for wiki, before, names in [
        ("enwiki", f"{{{{cite web|url={URL}|title=A|accessdate=2012}}}}", "archiveurl archivedate"),
        ("enwiki", f"{{{{cite web|url={URL}|title=A|access-date=2012}}}}", "archive-url archive-date"),
        ("dewiki", f"{{{{Cite web|url={URL}|title=A}}}}", "archive-url archive-date archivebot"),
        ("dewiki", f"{{{{Cite web|url={URL}|title=A|accessdate=2012}}}}", "archiveurl archivedate archivebot"),
        ("dewiki", f"{{{{Internetquelle|url={URL}|titel=A}}}}", "archiv-url archiv-datum archiv-bot"),
        ("frwiki", f"{{{{Lien web|url={URL}|archivedate=}}}}", "archiveurl archivedate"),
    ]:
        after = repaired(before, wiki)
        assert [f"|{name}=" in after for name in names.split()] == [True] * len(names.split()), after
        assert after.count("archiv") == len(names.split()) + 1, after  # and the host of the copy
        assert repaired(after, wiki) == after

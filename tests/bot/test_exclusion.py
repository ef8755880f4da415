"""Templates that keep bots off pages and links, and those that do not."""

from support.repairs import NOW, URL, known, repaired, settings_of

from weboid.assets import toml_next_to
from weboid.bot.exclusion import excludes
from weboid.bot.repair import repair
from weboid.core.wikitext.reader import read_wikitext

_CASES = toml_next_to(__file__)

_CITE = f"{{{{cite web|url={URL}|title=A}}}}"


def test_a_page_is_kept_from_bots_by_its_templates() -> None:
    for template, is_admitted in _CASES["templates"]:
        kept_off = excludes(read_wikitext(template), settings_of(), bot="WeboidBot", script="weboid_repair")
        assert (kept_off is None) is is_admitted, template
        page = repair(f"{template}\n{_CITE}", settings_of(), known(), now=NOW)
        assert bool(page.changes) is is_admitted, template
        assert page.kept_off == kept_off, template


def test_a_link_is_left_alone_by_a_template_that_belongs_to_it_and_only_the_one_before_it() -> None:
    for text, is_left in [
        (f"{_CITE}{{{{cbignore}}}}", True), (f"{_CITE} {{{{Cbignore|bot=WeboidBot}}}}", True),
        (f"{_CITE}{{{{cbignore|bot=medic}}}}", False), (f"{_CITE}{{{{cbignore|bot=all}}}}", True),
        (f"<ref>{_CITE}</ref>{{{{cbignore}}}}", True), (f"{{{{cite web|url={URL}|title=A{{{{cbignore}}}}}}}}", True),
        (f"{_CITE}\n{{{{cbignore}}}}", False),
    ]:  # fmt: skip
        assert (repaired(text) == text) is is_left
    assert repaired(f"{_CITE} {_CITE}{{{{cbignore}}}}").count("archive-url") == 1


def test_a_mark_behind_a_reference_that_stands_at_another_place_is_no_matter_of_links_before_it() -> None:
    for reference in ["<ref name=b/>", '<ref name="b" details="p. <5" /> ', "<REF name=b />"]:
        tagged = f"[{URL} A] and{reference}{{{{dead link|bot=X}}}}"
        assert repaired(tagged, links=known("working")) == tagged, reference
        ignored = f"[{URL} A] and{reference}{{{{cbignore}}}}"
        assert repaired(ignored) != ignored, reference


def test_an_address_at_the_end_of_another_or_behind_a_bracket_and_a_comment_is_left_alone() -> None:
    for text in (f"[<!-- x -->{URL} A]", f"[web.archive.org/web/2012/{URL} A]", f"web.archive.org/web/2012/{URL}"):
        assert repaired(text) == text
        assert repaired(f"{text} [{URL} A]").startswith(f"{text} [{URL} A] {{{{webarchive|")
    assert "webarchive" in repaired(f"[{'<!---->' * 40}no end {URL} A]")  # at once

"""Wikitext is read as MediaWiki reads it, by offsets, and in time that grows with its length."""

import random
from time import process_time

from support.awkward_wikitext import awkward_page

from weboid.assets import toml_next_to
from weboid.core.wikitext.nodes import Enclosure
from weboid.core.wikitext.reader import read_wikitext

_CASES = toml_next_to(__file__)

_URL = "http://a.example.org/b"


def links(text: str) -> list[tuple[str, str | None]]:
    return [(link.url, link.label) for link in read_wikitext(text).links]


def enclosures(text: str) -> list[Enclosure]:
    return [link.spot.enclosure for link in read_wikitext(text).links]


def test_links_are_found_where_readers_see_them() -> None:
    for text, found in [
        (f"[{_URL} A b]", [(_URL, "A b")]), (f"[{_URL}]", [(_URL, "")]),
        (f"[{_URL} ''A'' [[B|c]] {{{{d|e}}}}]", [(_URL, "''A'' [[B|c]] {{d|e}}")]),
        (f"[{_URL}''A'']", [(_URL, "''A''")]), (f"[{_URL} A\nb]", []),
        ("[//a.example.org/b A]", [("//a.example.org/b", "A")]), (f"[{_URL} [{_URL} A]]", [(_URL, f"[{_URL} A")]),
        (f"See {_URL}.", [(_URL, None)]), (f"({_URL})", [(_URL, None)]), (f"{_URL}(c)", [(f"{_URL}(c)", None)]),
        (f"''{_URL}''", [(_URL, None)]), (f"{_URL}&lt;x", [(_URL, None)]), (f"{_URL}&amp;x", [(f"{_URL}&amp;x", None)]),
        (f"x{_URL}", []), ("http://. ", []), (f"http://web.example/{_URL}", [(f"http://web.example/{_URL}", None)]),
        (f"{_URL}''''{_URL}", [(_URL, None), (_URL, None)]), (f"<span title='{_URL} [{_URL} A]'>", []),
        (f"[<tvar name='1'>{_URL}</tvar> A]", []), (f"[<tvar|1>{_URL}</> A]", []),  # of T274881
        (f"[[File:A.jpg|link=//a?{_URL}]]", []), (f"[[File:A.jpg|alt={_URL} [{_URL} A]|b =[{_URL} B]]]", [(_URL, "B")]),
        (f"{_URL}\\ {_URL}?c=&quot;d&#x22;; [{_URL} ]", [(_URL, None), (f"{_URL}?c=&quot;d&#x22;", None), (_URL, "")]),
        (f"<!-- {_URL} -->", []), (f"<!-- {_URL}", []), (f"<ref a=<[{_URL} A]</ref><b>[{_URL} B]</ref>", [(_URL, "B")]),
        (f"<ref><!-- {_URL}</ref> {_URL}", [(_URL, None)]), (f"<NoWiki>{_URL}</nowiki >", []),
        (f"<nowiki>{_URL}", [(_URL, None)]), (f"<nowiki/>{_URL}<pre a='{'b ' * 999}'>{_URL}</pre>", [(_URL, None)]),
        (f"<pre>{_URL}</pre><code>{_URL}</code><source>{_URL}</source><math>{_URL}</math>", []),
        (f"<syntaxhighlight lang='x'>{_URL}</syntaxhighlight><templatedata>{_URL}</templatedata>", []),
        (f"<gallery>{_URL}|b\nA.jpg|[{_URL} c]\n{_URL}\n</gallery>", [(_URL, "c")]), (f"| {_URL} ||a", [(_URL, None)]),
        (f"<gallery>\nA.jpg|alt=See [{_URL} a]|b {_URL}|d [{_URL} e|f]\nB.jpg|[{_URL} g]</gallery>", [(_URL, None),
         (_URL, "g")]),
        (f":{{| title='{_URL}'\n|- id={_URL}\n|+ [{_URL} A] | [{_URL} B] | {_URL}", [(_URL, "B"), (_URL, None)]),
        (f"{{|\n! [{_URL} A|B] || [{_URL} C] || {_URL} | [[D]] {_URL}", [(_URL, "C"), (_URL, None)]),
        (f"{{|\n| [{_URL} A] [[B|C]] [{_URL} D] [[E]] | F || [{_URL} G || H]", [(_URL, "A"), (_URL, "D")]),
        (f"!A[{_URL} B|C]\n{{|\n|}} [{_URL} D|E]\n[[a|b=5\n* [{_URL} F]", [(_URL, a) for a in ("B|C", "D|E", "F")]),
        (f"{{|\n| a<ref>[{_URL} A]</ref> [{_URL} B|C]\n|| [{_URL} D|E]\n| b ||| [{_URL} F|G]", [(_URL, "A"),
         (_URL, "D|E"), (_URL, "F|G")]),
        (f"{{|\n| {{{{h}}}} [{_URL} A|B]\n{{{{k\n|l=m}}}} [{_URL} C|D]", [(_URL, "A|B"), (_URL, "C|D")]),
        (f"{{{{a|\n|- {_URL}}}}}", [(_URL, None)]), (f"{{|\n! a | b !! c={_URL} | {_URL} !! [{_URL} d]", [(_URL, None),
         (_URL, "d")]), (f"{{|\n| a !! b={_URL} | [{_URL} c]", [(_URL, "c")]),
    ]:  # fmt: skip
        assert links(text) == found


def test_a_link_knows_what_it_stands_in_and_is_not_whole_where_its_url_goes_on() -> None:
    for text, enclosure in [
        (_URL, Enclosure.TEXT), (f"[[File:A.jpg|thumb|See [{_URL} b]]]", Enclosure.CAPTION),
        (f"[[Datei:A.svg|mini|See {_URL} c]]", Enclosure.CAPTION), (f"[[A|{_URL}]]", Enclosure.WIKILINK),
        (f"[[{_URL} A]]", Enclosure.BROKEN), (f"== {_URL} ==", Enclosure.HEADING),
        (f"{{{{a|{_URL}}}}}", Enclosure.TEMPLATE), (f"{{{{{{a|{_URL}}}}}}}", Enclosure.TEMPLATE),
        (f"{{{{a|<ref>{_URL}</ref>}}}}", Enclosure.TEXT), (f"{{{{a|\n{_URL}", Enclosure.BROKEN),
        (f"[[a {_URL}", Enclosure.BROKEN), (f"[[a\n{_URL}", Enclosure.TEXT), (f"{{{{a}}}} {_URL}", Enclosure.TEXT),
    ]:  # fmt: skip
        assert enclosures(text) == [enclosure]
    tags = ["<noinclude>e", "</onlyinclude >f", "<includeonly>g</includeonly>h"]
    for after in ["{{{id}}}", "{b", "<!-- c --><!-- c -->d", *tags]:
        assert [link.is_whole for link in read_wikitext(f"{_URL}{after}\n{_URL} {after}").links] == [False, True]


def test_templates_are_read_as_mediawiki_reads_them() -> None:
    for text, found in _CASES["templates"]:
        wikitext = read_wikitext(text)
        assert [
            [template.name, [[each.name, wikitext.value_of(each)] for each in template.parameters]]
            for template in wikitext.templates
        ] == found, text


def test_offsets_are_those_of_the_text() -> None:
    for number in range(1_000):
        text = awkward_page(random.Random(number))
        wikitext = read_wikitext(text)
        for link in wikitext.links:
            assert text[link.start : link.end] == link.url or text[link.start] + text[link.end - 1] == "[]"
        for template in wikitext.templates:
            assert text[template.start : template.start + 2] + text[template.end - 2 : template.end] == "{{}}"
            edges = [template.name_end, *(each.start for each in template.parameters)]
            assert all(text[edge] == "|" for edge in edges[1:])
            assert edges == sorted(edges)
        for reference in wikitext.references:
            assert text[reference.start : reference.start + 4].lower() == "<ref"
            assert text[reference.inner_end : reference.inner_end + 2] == "</"


def test_four_times_the_text_takes_no_more_than_its_share() -> None:
    def seconds(part: str, characters: int) -> float:
        text = " " * (characters // 4) + part * (characters // len(part)) + "}}" * (characters // 20)
        began = process_time()
        read_wikitext(text)
        return process_time() - began

    for part in [
        "{{a|", "}}", "[[", "]]", "{{{{{", "<ref>", "<ref><gallery>", "<nowiki>", "<!--", "<a ", "[http://b.c ",
        "http://b.c''", "http://b.c{{d|e}}", "{{a|b=http://c.d}}", "[[File:a.jpg|", "|", "=", "&lt;", "\n", " ",
        "{{a|[http://b.c d", "<ref>{{a|</ref>", "http://b&quot;", "!|\n", "<ref ",
    ]:  # fmt: skip
        # What takes more takes sixteen times as much, each time; a busy machine is slow now and then.
        assert any(seconds(part, 80_000) < max(0.05, 10 * seconds(part, 20_000)) for _ in range(5)), part

"""Articles that we wrote, full of links that differ between wikitext, tables and browser; the templates that exports of
Wikipedias lack; and an interwiki map for both.

Hosts are real-looking, as reserved ones are of a class of their own; nobody asks them.
"""

import struct
import zlib
from typing import Final

from support.mediawiki import Interwiki

_CITATION: Final = (
    "{{#if:{{{url|{{{URL|}}}}}}|[{{{url|{{{URL}}}}}} {{{title|link}}}]|{{{title|}}}}}"
    "{{#if:{{{archiveurl|{{{archive-url|}}}}}}| [{{{archiveurl|{{{archive-url}}}}}} Archived]}}"
    "{{#if:{{{chapter-url|{{{chapterurl|}}}}}}| [{{{chapter-url|{{{chapterurl}}}}}} {{{chapter|chapter}}}]}}"
    "{{#if:{{{doi|}}}| [[doi:{{{doi}}}|doi]] [//dx.doi.org/{{urlencode:{{{doi}}}}} {{{doi}}}]}}"
    "{{#if:{{{pmid|}}}| [//www.ncbi.nlm.nih.gov/pubmed/{{{pmid}}} {{{pmid}}}]}}"
    "{{#if:{{{jstor|}}}| [//www.jstor.org/stable/{{{jstor}}} {{{jstor}}}]}}"
    "{{#if:{{{bibcode|}}}| [http://adsabs.harvard.edu/abs/{{urlencode:{{{bibcode}}}}} {{{bibcode}}}]}}"
    "{{#if:{{{oclc|}}}| [https://www.worldcat.org/oclc/{{{oclc}}} {{{oclc}}}]}}"
)
_CITING: Final = (
    *("Cite web", "Cite book", "Cite journal", "Cite news", "Cite encyclopedia", "Cite press release", "Cite episode"),
    *("Cite conference", "Cite techreport", "Cite thesis", "Cite AV media", "Cite video", "Cite speech", "Citation"),
)
TEMPLATES: Final = {
    **{f"Template:{name}": _CITATION for name in _CITING},
    "Template:Reflist": "{{#tag:references|{{{refs|}}}|group={{{group|}}}}}",
    "Template:Notelist": "{{#tag:references|{{{notes|{{{refs|}}}}}}|group={{{group|lower-alpha}}}}}",
    "Template:Wayback": "[http://web.archive.org/web/{{{date|*}}}/{{{url}}} {{{title|Archived}}}]",
    "Template:Official website": "[{{{1}}} Official website]",
    "Template:URL": "[{{{1}}} {{{2|{{{1}}}}}}]",
    "Template:Dmoz": "[https://www.dmoz.org/{{{1}}} {{{2|{{{1}}}}}}]",
    "Template:IMDb name": "[http://www.imdb.com/name/nm{{{id|{{{1}}}}}}/ IMDb]",
    "Template:Gutenberg author": "[https://www.gutenberg.org/author/{{{id|{{{1}}}}}} Works]",
    "Template:Librivox author": "[https://librivox.org/author/{{{id|0}}} Works]",
    "Template:Internet Archive author": (
        '[https://archive.org/search.php?query=%28subject%3A%22{{urlencode:{{PAGENAME}}}}%22+OR+creator%3A"x"%29 Works]'
    ),
}
INTERWIKIS: Final = (
    *(Interwiki(code, f"https://{code}.wikipedia.org/wiki/$1", local=True) for code in ("de", "fr", "ru", "pt", "lv")),
    *(Interwiki(prefix, "https://en.wikipedia.org/wiki/$1", local=True) for prefix in ("w", "en")),
    *(Interwiki(prefix, "https://en.wiktionary.org/wiki/$1", local=True) for prefix in ("wikt", "wiktionary")),
    *(Interwiki(prefix, "https://commons.wikimedia.org/wiki/$1", local=True) for prefix in ("c", "commons")),
    Interwiki("s", "https://en.wikisource.org/wiki/$1", local=True),
    Interwiki("d", "https://www.wikidata.org/wiki/$1", local=True),
    Interwiki("m", "https://meta.wikimedia.org/wiki/$1", local=True),
    Interwiki("mw", "https://www.mediawiki.org/wiki/$1", local=True),
    Interwiki("doi", "https://dx.doi.org/$1"),
    Interwiki("hdl", "//hdl.handle.net/$1"),
    Interwiki("nost", "https://nostalgia.wikipedia.org/wiki/$1"),
    Interwiki("phab", "https://phabricator.wikimedia.org/$1"),
    Interwiki("bugzilla", "https://bugzilla.wikimedia.org/show_bug.cgi?id=$1"),
    Interwiki("google", "https://www.google.com/search?q=$1"),
    Interwiki("openstreetmap", "http://WIKI.OpenStreetMap.org/wiki/$1"),
    Interwiki("sofar", "//sofar.3sat.de/wiki/$1?x=y"),
    Interwiki("idn", "https://wörter.net/wiki/$1"),
)
_PROTOCOLS: Final = """
[//proto.3sat.de/relative a] [http://3sat.de b] https://3sat.de HTTP://UPPER.3sat.de/Case [HTTPS://Mixed.3Sat.DE/X?Y c]
ftp://ftp.gnu.org/gnu/ [ftps://ftp.gnu.org/secure d] [sftp://ftp.gnu.org/ssh e] [irc://irc.libera.chat/wikipedia f]
[mailto:someone@3sat.de?subject=A%20B g] mailto:other@3sat.de [news:comp.lang.python h] [tel:+49-30-1234 i]
[git://git.kernel.org/pub j] [magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a k] [xmpp:a@3sat.de l]
[//proto.3sat.de m] [//PROTO.3sat.de:443/ n] [https:// o] [http://] [urn:isbn:3-499-00000-0 p] [geo:52.5,13.4 q]
"""
_HOSTS: Final = """
http://müller.de/ü [http://xn--mller-kva.de/%C3%BC a] [http://XN--MLLER-KVA.de/b b]
[http://faß.de/ c] http://пример.рф/путь
[http://例え.jp d] http://192.0.2.7/x [http://[2001:db8::1]/y e] [http://[2001:DB8:0:0:0:0:0:1]:8080/z f]
https://user:pw@3sat.de:8443/a?b=c#frag [http://3sat.de./dot g] [http://3sat.de:80/ h] [https://3sat.de:443 i]
[https://3sat.de:80/j j] http://a_b.tumblr.com/ [http://www.%33sat.de/k k] [http://3sat.de:/l l] http://localhost/m
[http://no-dot n] [http://256.1.1.1/ o] [http://0x7f.1/ p] [http://a..3sat.de/ q] [http://3sat.de:99999/ r]
[http://-3sat.de/ s] [http://m%C3%BCller.de/t t] [http://MÜLLER.de/u u] http://example.org/ http://3sat.de:08080/v
[http://münchen.de?ä=ö w] [http://3sat.de?query x] [http://3sat.de#fragment y] [http://ἐγώ.3sat.de/ω z]
"""
_ENCODINGS: Final = """
[http://3sat.de/a%3Ab a] [http://3sat.de/a%28b%29 b] [http://3sat.de/a+b%2Bc c] [http://3sat.de/?a+b%2Bc d]
[http://3sat.de/a? e] [http://3sat.de/a{b}c f] [http://3sat.de/a%7Bb%7D g] [http://3sat.de/a|b h] http://3sat.de/a|c
[http://3sat.de/%5Bi%5D i] [http://3sat.de/a%20b j] [http://3sat.de/é k] [http://3sat.de/%E9 l] [http://3sat.de/%e9x m]
[http://3sat.de/?a=1&amp;b=2 n] [http://3sat.de/?a=1&b=3 o] [http://3sat.de/?a&#61;4 p] [http://3sat.de/a'b q]
[http://3sat.de/''r'' r] http://3sat.de/''s'' [http://3sat.de/a%2Fb t] [http://3sat.de/?a%2Fb%3Fc u]
[http://3sat.de/a;b,c*d~e!f$g@h v] [http://3sat.de/a%3Bb%2Cc%2Ad%7Ee%21f%24g%40h w] [http://3sat.de/100% x]
[http://3sat.de/%zz y] [http://3sat.de/%%34%31 z] [http://3sat.de/%2541 aa] [http://3sat.de/a^b`c ab]
[http://3sat.de/a\\b ac] [http://3sat.de/?q=%22x%22 ad] [http://3sat.de/?q="x" ae] [http://3sat.de/a<b af]
http://3sat.de/end. (http://3sat.de/brackets) http://3sat.de/in(brackets) http://3sat.de/semi; http://3sat.de/bang!
http://3sat.de/<nowiki/>cut [http://3sat.de/<!-- c -->comment ag] [http://3sat.de/a%0Ab ah]
[http://3sat.de/%E2%80%AEx ai]
[http://3sat.de/a&nbsp;b aj] [http://3sat.de/a&lt;b ak] [http://3sat.de/a%26b al] [http://3sat.de/?a%26b%3Dc am]
[http://3sat.de/%c3%a4%C3%B6ü an] [http://3sat.de/%7Euser ao] [http://3sat.de/~user ap] [http://3sat.de/%25 aq]
[http://3sat.de/a%00b ar] [http://3sat.de/日本語?語=日 as] [http://3sat.de/😀 at]
http://3sat.de/日本、語 [http://3sat.de/a―b au]
[http://3sat.de/%E3%81%82%ff av] [http://3sat.de/a&#x200E;b aw] [http://3sat.de/a\u200eb ax]
[http://3sat.de/a\u00adb ay]
"""
_PATHS: Final = """
[http://3sat.de/a/../b a] [http://3sat.de/a/./b b] [http://3sat.de/a//b c] [http://3sat.de//d d]
[http://3sat.de/a/%2e%2E/e e]
[http://3sat.de/f#frag f] [http://3sat.de/g# g] [http://3sat.de/h?# h] [http://3sat.de/i?a#b?c i]
[http://3sat.de/#!/j j]
[http://3sat.de/k?a?b k] [http://3sat.de/l/?x=http://other.3sat.de/a//b l] [http://3sat.de/m;v=1/n;w m]
[http://3sat.de/.. n]
[http://web.archive.org/web/2005/http://3sat.de/o?p=q o] [http://web.archive.org/web/2005/http%3A%2F%2F3sat.de%2Fp p]
[http://3sat.de/q/#:~:text=Some%20text q] [http://3sat.de/? r] [http://3sat.de/a/... s] [http://3sat.de?a/../b t]
[http://3sat.de/index.php?title=A_B&action=raw&x[]=1 u] [http://3sat.de/index.php?x%5B%5D=1 v] [http://3sat.de/a=b w]
"""
_INTERWIKI: Final = """
[[sofar:Some page]] [[Sofar:some_page|b]] [[sofar:A?b&c=d]] [[sofar:Ä/Ö#Ü ß]] [[sofar:100%|d]] [[sofar:A'b"c|e]]
[[sofar:]]
[[google:a+b c]] [[doi:10.1000/182]] [[DOI:10.1016/S0140-6736(05)17734-7]] [[hdl:2027.42/1]] [[openstreetmap:Key:name]]
[[idn:Wört]] [[bugzilla:17]] [[phab:T1]] [[:de:Berlin]] [[wikt:Wort#Deutsch|f]] [[:commons:Category:X]]
[[w:Foo|g]] [[wikipedia:Help:Bar]] [[sofar:w:Nested]] [[sofar:talk:x y_z]] [[sofar:a~b!c$d*(e),f:g;h@i|h]]
[[sofar:日本 語|i]]
[[:sofar:Colon first]] [[sofar:#only fragment]] [[sofar:a&amp;b]] [[sofar:a&#39;b]] [[nost:x--y]] [[:fr:é è#ê ë|k]]
[https://sofar.3sat.de/wiki/Both_ways?x=y both] [[sofar:Both ways]] [https://dx.doi.org/10.1000/182 also] {{sofar:Not}}
"""
_IMAGES: Final = """
[[File:Dot.png|link=http://3sat.de/image?a=b|x]] [[File:Dot.png|link=//images.3sat.de/relative]]
[[File:Dot.png|link=sofar:From image|alt=y]] [[File:Dot.png|thumb|link=http://3sat.de/thumb|See
[http://3sat.de/caption c]]]
[[File:Dot.png|link=Main Page]] [[File:Dot.png|link=]] [[File:Dot.png|10px|frameless|link=http://müller.de/ä b]]
[[File:Not there.png|link=http://3sat.de/missing-image]] [[File:Dot.png|frame|link=https://3sat.de/a%3Ab|Z]]
<gallery>
File:Dot.png|link=http://3sat.de/gallery|One [http://3sat.de/gallery-caption two]
File:Dot.png|link=sofar:Gallery|[[sofar:Gallery caption]]
File:Not there either.png|[//images.3sat.de/third three]
</gallery>
"""
_REFS: Final = """
A<ref>[http://3sat.de/ref one]</ref> B<ref name="n">{{Cite web|url=http://3sat.de/cite?a=b&c=d|title=T ''i'' }}</ref>
C<ref name="n" /> D<ref group="g">http://3sat.de/group, http://3sat.de/second.</ref> E<ref>[[sofar:Ref]]</ref>
{{Cite journal|url=//3sat.de/j|title=J|doi=10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2}}
{{Cite journal|title=K|doi=10.1000/a+b c|bibcode=1998A&A...330..515S|pmid=12345|jstor=2118559}}
{{Cite web|url=http://3sat.de/dead|title=D|archiveurl=http://web.archive.org/web/20060101000000/http://3sat.de/dead?x}}
{{Wayback|url=http://3sat.de/w#f|date=20070101000000}} {{URL|http://3sat.de/{{PAGENAMEE}}|x}}
{{Official website|//3sat.de}}
{{URL|http://3sat.de/?q={{urlencode:a b&c/d é}}}} {{URL|http://3sat.de/{{urlencode:a b|WIKI}}}}
{{URL|1=http://3sat.de/?a=b}}
<references /> <references group="g" /> {| class="wikitable"
|-
| [http://3sat.de/cell cell] || http://3sat.de/bare-cell
|}
* <nowiki>http://3sat.de/nowiki</nowiki> <!-- http://3sat.de/comment --> <pre>http://3sat.de/pre</pre>
"""
_OWN: Final = """
[{{fullurl:Main Page|action=history}} a] [{{canonicalurl:Main Page}} b] [{{SERVER}}/wiki/Main_Page c] [[Main Page]]
[[Talk:X]]
[{{SERVER}}{{SCRIPTPATH}}/index.php?title=Main_Page&oldid=1 d] [[Special:BookSources/3499000000]] [[#Top]]
[[File:Dot.png]]
RFC 2616 PMID 12345 ISBN 978-3-499-00000-2 [[Media:Dot.png]] [[Category:Links]] {{filepath:Dot.png}}
"""
ARTICLES: Final = {
    "Protocols": _PROTOCOLS,
    "Hosts": _HOSTS,
    "Encodings": _ENCODINGS,
    "Paths": _PATHS,
    "Interwiki": _INTERWIKI,
    "Images": _IMAGES,
    "References": _REFS,
    "Own pages": _OWN,
}


def many_links(count: int) -> str:
    """The text of a page with so many links, on so many hosts."""
    return "".join(f"* [http://h{number}.3sat.de/page?{number} x]\n" for number in range(count))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def dot() -> bytes:
    """A PNG of 20 × 20 grey pixels."""
    size = struct.pack(">IIBBBBB", 20, 20, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * 20) * 20)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", size) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")

"""The local structure of the source: frames, maps, scripts, large files, other types; file by file (R-11)."""

from collections.abc import Mapping
from pathlib import Path

from support.commands import Place

TITLE = "<!DOCTYPE html><title>t</title>"
LARGE = "<p>" + "word " * 200
LINKED = (
    "map.html script.html large.html long-line.html form.html refresh.html base.html media.html bad.html latin.html "
    "fragments.html files.html shy.html frames.html folder crlf.html deep/er/index.html MAP.html"
)
STRUCTURE: Mapping[str, tuple[str, str]] = {
    "index.html": (
        "<frameset cols='20%,80%'><frame src=nav.html><frame src=main.html noresize>"
        "<noframes><body><a href=noframes.html>x</a><a href=gone1.html>x</a></noframes></frameset>",
        "/nav.html ok, /main.html ok, /noframes.html ok, /gone1.html broken",
    ),
    "nav.html": (
        TITLE + "".join(
            f"<a target=main href={name}>x</a>\n"
            for name in LINKED.split()
        ),
        "/map.html ok, /script.html ok, /large.html ok, /long-line.html ok, /form.html ok, /refresh.html ok, "
        "/base.html ok, /media.html ok, /bad.html ok, /latin.html ok, /fragments.html ok, /files.html ok, "
        "/shy.html ok, "
        "/frames.html ok, /folder redirect, /crlf.html ok, /deep/er/index.html ok, /MAP.html broken",
    ),
    "main.html": (TITLE + "<a href=''>x</a><a href=./>x</a><a href=../../..>x</a>", "/main.html ok, / ok"),
    "noframes.html": (TITLE, ""),
    "frames.html": (
        "<frameset><frame src=inner.html><frameset><frame src=noframes.html><frame src=gone2.html></frameset>"
        "</frameset>",
        "/inner.html ok, /noframes.html ok, /gone2.html broken",
    ),
    "inner.html": (TITLE + "inner", ""),
    "map.html": (
        TITLE + "<img src=pic.png usemap=#m><map name=m><area href=map1.html><AREA HREF='folder/map2.html#x'>"
        "<area nohref>"
        "<area href=gone3.html></map><a href=map1.html><img ismap src=pic.png></a>",
        "/pic.png ok, /map1.html ok, /folder/map2.html#x ok, /gone3.html broken",
    ),
    "map1.html": (TITLE + "map 1", ""),
    "folder/map2.html": (TITLE + "<p id=x>map 2", ""),
    "script.html": (
        TITLE + "<script>document.write('<a href=written.html>x</a>')</script><script src=code.js></script>"
        "<a href=\"javascript:go('x.html')\">x</a><noscript><a href=noscript.html>x</a></noscript>"
        "<!-- <a href=comment.html>x</a> --><textarea><a href=text.html></textarea><style>a { b: url(c.png) }</style>",
        "/code.js ok, javascript:go('x.html') not-asked, /noscript.html ok",
    ),
    "code.js": ("document.write('<a href=gone4.html>x</a>')", ""),
    "noscript.html": (TITLE + "no script", ""),
    "large.html": (
        TITLE + LARGE * 3_200 + "<a href=after.html>x</a><a href=gone5.html>x</a>",
        "/after.html ok, /gone5.html broken",
    ),
    "long-line.html": (TITLE + ("x" * 997 + "<b>") * 2_000 + "<a href=after.html>x</a>", "/after.html ok"),
    "after.html": (TITLE + "after", ""),
    "form.html": (
        TITLE + "<form action=map1.html></form><form method=POST action=post.cgi></form><form></form>"
        "<form action=gone.cgi>",
        "/map1.html ok, /gone.cgi broken",
    ),
    "refresh.html": (TITLE + "<meta http-equiv=Refresh content='5; URL=refreshed.html'>", "/refreshed.html ok"),
    "refreshed.html": (TITLE + "refreshed", ""),
    "base.html": (
        "<link href=style.css rel=stylesheet><base href=folder/><base href=wrong/><a href=in.html>x</a><a href=#x>"
        "x</a>",
        "/folder/style.css broken, /folder/in.html ok, /folder/#x fragment",
    ),
    "folder/in.html": (TITLE + "in", ""),
    "folder/index.html": (TITLE + "folder", ""),
    "deep/er/index.html": (TITLE + "<a href=../up.html>x</a><a href=/pic.png>x</a>", "/deep/up.html ok, /pic.png ok"),
    "deep/up.html": (TITLE + "up", ""),
    "media.html": (
        TITLE + "<iframe src=inner.html></iframe><object data=doc.pdf></object><embed src=film.mp4>"
        "<video src=film.mp4></video>"
        "<audio src=gone.ogg></audio><img src=pic.png srcset='pic.png 1x, gone.png 2x'><a href=doc.pdf#page=3>x</a>",
        "/inner.html ok, /doc.pdf ok, /film.mp4 ok, /gone.ogg broken, /pic.png ok, /gone.png broken, "
        "/doc.pdf#page=3 ok",
    ),
    "doc.pdf": ("%PDF-1.4\n<a href=gone6.html>", ""),
    "film.mp4": ("ftypmp42", ""),
    "pic.png": ("PNG", ""),
    "bad.html": (
        "<HTML><p><a href=map1.html href=second.html>x<table><a href='map1.html?a=1&amp;b=2&copy=3'></div>"
        "<a\thref = '\tma\nin.html '>"
        "<a href='folder\\map2.html'><a href='http://[bad'>x</a></html><a href=after.html>x<a href='cut.html",
        "/map1.html ok, /map1.html?a=1&b=2&copy=3 ok, /main.html ok, /folder/map2.html ok, http://[bad broken, "
        "/after.html ok",
    ),
    "latin.html": (
        "<meta http-equiv=Content-Type content='text/html; charset=utf-8'><a href='café.html'>x</a>"
        "<a href='a b.html#%C3%BC'>x</a>",
        "/caf%C3%A9.html ok, /a%20b.html#%C3%BC ok",
    ),
    "café.html": (TITLE + "coffee", ""),
    "a b.html": ("<meta charset=utf-8><p id='ü'>space", ""),
    "crlf.html": (TITLE + "\r\n<p>\r\n<a href='inner.html'>x</a>\r\n", "/inner.html ok"),
    "fragments.html": (
        TITLE + "<h1 id=one><a name=two><p name=three><a href=#one><a href=#two><a href=#three><a href=#ONE>"
        "<a href=#><a href=#top>",
        "/fragments.html#one ok, /fragments.html#two ok, /fragments.html#three fragment, /fragments.html#ONE fragment, "
        "/fragments.html ok, /fragments.html#top ok",
    ),
    "files.html": (
        TITLE + "<a href=note.txt>x</a><a href=data.bin>x</a><a href=page.xhtml>x</a><a href=gone.pdf>x</a>",
        "/note.txt ok, /data.bin ok, /page.xhtml ok, /gone.pdf broken",
    ),
    "note.txt": ("<a href=gone7.html>no link</a>", ""),
    "data.bin": ("\0\1\2", ""),
    "page.xhtml": (
        "<html xmlns='http://www.w3.org/1999/xhtml'><body><a href='inner.html'/></body></html>",
        "/inner.html ok",
    ),
    "shy.html": (TITLE + "<meta name=robots content=nofollow><a rel=nofollow href=after.html>x</a>", "/after.html ok"),
    "orphan.html": (TITLE + "<a href=gone8.html>nobody links here</a>", ""),
}  # fmt: skip


async def test_each_file_of_the_local_structure_has_the_links_that_it_has(tmp_path: Path) -> None:
    folder = tmp_path / "structure"
    for name, (content, _) in STRUCTURE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    place = Place(tmp_path)
    ran = await place.run("site", str(folder), "--external", "ignore", "--fragments", "--format", "jsonl")
    *places, last = ran.lines()
    origin = last["summary"]["starts"][0].rstrip("/")
    found: dict[str, set[str]] = {}
    for line in places:
        target = line["url"].removeprefix(origin) + (f"#{line['fragment']}" if line["fragment"] else "")
        found.setdefault(line["parent"].removeprefix(origin), set()).add(f"{target} {line['state']}")
    assert len(STRUCTURE) == 39
    assert found.pop("") == {"/ ok"}
    expected = {
        f"/{name}".removesuffix("index.html"): set(links.split(", ")) for name, (_, links) in STRUCTURE.items() if links
    }
    assert found == expected

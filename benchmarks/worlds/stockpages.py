"""Pages that stand where the content was, by kind and language: what hosters, resellers and site builders say.

They are written as such pages read, without a look at the lists by which Weboid knows them: a title and lines of text
each in ``stock/pages.json``, of a login its title and the names of its two fields.
One law: none of them is content, whatever its code; the one exception is what a wall shows to machines only.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from weboid.demo.world import Page


def _page(kind: str, lang: str, title: str, *lines: str) -> Page:
    if kind == "login":
        return _login(lang, title, *lines)
    return Page(title=title, text="\n".join(lines), lang=lang, shows=False)


def _login(lang: str, title: str, name: str, password: str) -> Page:
    html = (
        f'<!doctype html>\n<html lang="{lang}"><title>{title}</title>\n<h1>{title}</h1>\n<form method="post">'
        f'<label>{name} <input name="user"></label> <label>{password} <input type="password" name="word"></label>'
        f"<button>{title}</button></form>\n</html>\n"
    )
    return Page(html=html, lang=lang, shows=False)


STOCK: Final[Mapping[str, Mapping[str, Page]]] = MappingProxyType(
    {
        kind: MappingProxyType({lang: _page(kind, lang, *words) for lang, words in pages.items()})
        for kind, pages in json.loads(Path(__file__).with_name("stock").joinpath("pages.json").read_bytes()).items()
    }
)
"""Pages by kind and language."""

"""The address of a wiki's page as somebody pastes it: of an article, by title or id, mobile, of an editor (W-3).

Nothing of it is requested: host and path only say which of the known wikis is meant, and which of its pages.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

_MOST: Final = 2_000
"""Characters of an address."""
_ARTICLES: Final = "/wiki/"
"""The path of articles, where a wiki does not say another."""
_SCRIPTS: Final = ("/w/index.php/", "/index.php/")
_PASSED_OVER: Final = frozenset({"www", "m", "mobile"})
"""Labels of hosts that serve the same wiki."""


@dataclass(frozen=True, slots=True)
class PastedAddress:
    """An address: the host in lower case, the path as written, and what its query names, "" if nothing."""

    host: str
    path: str
    title: str = ""
    page: str = ""

    def title_at(self, article: str | None, api: str | None = None) -> str:
        """The title that it names on a wiki whose articles are at `article` + title, and its scripts with `api`; "" if
        it names none."""
        scripts, articles = _paths(article, api)
        for beginning in (f"{scripts}/", articles, *_SCRIPTS):
            if not self.title and beginning and self.path.startswith(beginning):
                return unquote(self.path.removeprefix(beginning))
        return self.title

    def is_at(self, article: str | None, api: str | None) -> bool:
        """True if its path is one of that wiki, and not perhaps one of another wiki at the same host."""
        return self.path.startswith(_paths(article, api))


def _paths(article: str | None, api: str | None) -> tuple[str, str]:
    scripts = urlsplit(api or "").path.rpartition("/")[0] + "/index.php"
    return scripts, urlsplit(article).path if article else _ARTICLES


def pasted_address(text: str) -> PastedAddress | None:
    """The address in a text, with or without its scheme; None if it is none."""
    if len(text) > _MOST or any(each.isspace() for each in text):
        return None
    scheme, slashes, _ = text.partition("://")
    if slashes and scheme.lower() not in ("http", "https"):
        return None
    try:
        parts = urlsplit(text if slashes else f"//{text.removeprefix('//')}")
        host = (parts.hostname or "").removesuffix(".")
        named = parse_qs(parts.query, max_num_fields=50)
    except ValueError:
        return None
    if "." not in host and not slashes:
        return None
    return PastedAddress(host, parts.path, named.get("title", [""])[0], named.get("curid", [""])[0])


def same_wiki(host: str) -> str:
    """A host without the labels by which it serves phones: equal for all hosts of one wiki."""
    return ".".join(label for label in host.lower().split(".") if label not in _PASSED_OVER)

"""Atom feeds (RFC 4287) of links that died. Ids never change, even if titles and texts do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from weboid.core.record.days import iso
from weboid.web.formats.xml import text_in_xml

CONTENT_TYPE: Final = "application/atom+xml"
_NAMESPACE: Final = "http://www.w3.org/2005/Atom"
_DEFAULT: Final[Any] = {None: _NAMESPACE}
_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True, slots=True)
class AtomEntry:
    """One entry. `id` is an IRI, `link` a URL of this service; `day` is that of the change, `copy` the address of an
    archived copy of the dead link, None if none is known."""

    id: str
    title: str
    link: str
    summary: str
    day: int
    copy: str | None = None


@dataclass(frozen=True, slots=True)
class AtomFeed:
    """A feed. `day` is that of the newest entry; `itself` is the URL of the feed, `link` that of a page for people."""

    id: str
    title: str
    link: str
    itself: str
    lang: str
    day: int
    entries: tuple[AtomEntry, ...]


def bytes_of(feed: AtomFeed) -> bytes:
    """The feed in UTF-8."""
    root = etree.Element(f"{{{_NAMESPACE}}}feed", {_LANG: feed.lang}, nsmap=_DEFAULT)
    _add(root, (("id", feed.id), ("title", feed.title), ("updated", _moment(feed.day))))
    _add(_added(root, "author"), (("name", "Weboid"),))
    _link(root, "self", feed.itself, CONTENT_TYPE)
    _link(root, "alternate", feed.link, "text/html")
    for entry in feed.entries:
        element = _added(root, "entry")
        _add(element, (("id", entry.id), ("title", entry.title), ("updated", _moment(entry.day))))
        _link(element, "alternate", entry.link, "text/html")
        if entry.copy is not None:
            _link(element, "related", entry.copy)
        _add(element, (("summary", entry.summary),))
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def _add(parent: etree._Element, texts: Iterable[tuple[str, str]]) -> None:
    for name, text in texts:
        _added(parent, name).text = text_in_xml(text)


def _added(parent: etree._Element, name: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{_NAMESPACE}}}{name}")


def _link(parent: etree._Element, relation: str, address: str, media_type: str | None = None) -> None:
    element = _added(parent, "link")
    for name, value in (("rel", relation), ("type", media_type), ("href", address)):
        if value is not None:
            element.set(name, text_in_xml(value))


def _moment(day: int) -> str:
    """The time of a change, of which only the day is known: the beginning of that day."""
    return f"{iso(day)}T00:00:00Z"

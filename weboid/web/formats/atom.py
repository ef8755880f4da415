"""Atom (RFC 4287) of links that died. One law: ids never change, whatever becomes of titles and texts."""

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
    """`id` is an IRI, `link` an address of ours; `day` is that of the change."""

    id: str
    title: str
    link: str
    summary: str
    day: int


@dataclass(frozen=True, slots=True)
class AtomFeed:
    """`day` is that of the newest entry; `itself` where the feed is, `link` what it is about."""

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
        _add(element, (("summary", entry.summary),))
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def _add(parent: etree._Element, texts: Iterable[tuple[str, str]]) -> None:
    for name, text in texts:
        _added(parent, name).text = text_in_xml(text)


def _added(parent: etree._Element, name: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{_NAMESPACE}}}{name}")


def _link(parent: etree._Element, relation: str, address: str, kind: str) -> None:
    element = _added(parent, "link")
    for name, value in (("rel", relation), ("type", kind), ("href", address)):
        element.set(name, text_in_xml(value))


def _moment(day: int) -> str:
    """A change is known by its day; the day's beginning stands for it."""
    return f"{iso(day)}T00:00:00Z"

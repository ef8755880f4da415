"""Parsing events of EventStreams (P-6): from raw text to a value.

Any text from a server gives a value or the reason why there is none; ``feed/effects`` has their effects on the store.
The fields of each stream are declared in ``streams/*.toml``, one file per stream.
"""

import json
import tomllib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_plus

from weboid.assets import asset
from weboid.errors import ConfigError
from weboid.wiki.source import WIKITEXT, clean_text

LINKS_ADDED: Final = "links-added"
GONE: Final = "gone"

_MAX_ID: Final = 2**31 - 1  # PostgreSQL's integer, as in the table page
_MAX_TITLE: Final = 1000
"""Characters; a MediaWiki title has at most 255 bytes and its prefix."""
_MAX_LINK: Final = 20_000


class HandedIn(StrEnum):
    """The reason for which a page is handed in."""

    CREATED = "created"
    UNDELETED = "undeleted"
    MOVED = "moved"
    EDITED = "edited"
    CATEGORISED = "categorised"


class Passed(StrEnum):
    """The reason for which an event has no effect."""

    NOTHING = "nothing"
    """It is about a change without effect here, or about a new page that can never be watched."""
    FOREIGN = "foreign"
    """Of a wiki that is not followed."""
    CANARY = "canary"
    UNKNOWN = "unknown"
    """Of a stream that is not declared."""
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class LinksAdded:
    """External links that were added to a page, as the replicas have them. `title` has its prefix and spaces."""

    wiki: str
    page: int
    title: str
    urls: tuple[str, ...]
    moment: datetime


@dataclass(frozen=True, slots=True)
class PageHandedIn:
    """A page that may now match a criterion: by id, or (if it was categorised) by title with prefix and id 0.

    `category` is the title of the category without its prefix, empty unless it was categorised. `is_article` is False
    for what can only be of interest if it is watched already: a redirect, or no wikitext.
    """

    wiki: str
    page: int
    title: str
    namespace: int | None
    how: HandedIn
    moment: datetime
    category: str = ""
    is_article: bool = True


@dataclass(frozen=True, slots=True)
class PageGone:
    """A page that was deleted."""

    wiki: str
    page: int
    moment: datetime


Value = LinksAdded | PageHandedIn | PageGone


@dataclass(frozen=True, slots=True)
class Reading:
    """An event as read: its value or why it has none. `moment` (UTC) is None only if it cannot be read."""

    value: Value | Passed
    moment: datetime | None = None

    @property
    def kind(self) -> str:
        """The word under which such events are counted."""
        match self.value:
            case Passed() as reason:
                return reason.value
            case LinksAdded():
                return LINKS_ADDED
            case PageHandedIn(how=how):
                return how.value
            case PageGone():
                return GONE


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream: `name` is used in the request, `meta_stream` is its name in the events.

    `fields` are the paths of the fields that are read; `effects` has the effect of each kind, or of all under ``""``.
    `only_with` names what must exist for the stream to be worth following, empty = nothing.
    """

    name: str
    meta_stream: str
    effects: Mapping[str, str]
    fields: Mapping[str, tuple[str, ...]]
    only_with: str = ""


@dataclass(frozen=True, slots=True)
class Streams:
    """All declared streams, or some of them."""

    all: tuple[Stream, ...]

    def named(self, meta_stream: object) -> Stream | None:
        """The stream whose events have that name; None if it is not declared."""
        return next((stream for stream in self.all if stream.meta_stream == meta_stream), None)

    def worthwhile(self, there: Container[str]) -> "Streams":
        """The streams that are worth following if only these things exist."""
        return Streams(tuple(stream for stream in self.all if not stream.only_with or stream.only_with in there))

    @property
    def names(self) -> str:
        """The names for the request, separated by commas; also the key of the stored position."""
        return ",".join(sorted(stream.name for stream in self.all))


def load_streams(folder: Path | None = None) -> Streams:
    """The streams declared in a folder, by default ``streams/``; raises ConfigError for a file that declares none."""
    files = sorted((folder or asset("streams")).glob("*.toml"))
    return Streams(tuple(_stream(file) for file in files))


def read(data: str, streams: Streams, wikis: Container[str]) -> Reading:
    """Reads the JSON of one event for a follower of these wikis (database names). Never raises."""
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return Reading(Passed.MALFORMED)
    if not isinstance(event, dict) or not isinstance(meta := event.get("meta"), dict):
        return Reading(Passed.MALFORMED)
    moment = _moment(meta.get("dt"))
    if meta.get("domain") == "canary":
        return Reading(Passed.CANARY, moment)
    stream = streams.named(meta.get("stream"))
    if stream is None:
        return Reading(Passed.UNKNOWN, moment)
    wiki = _at(event, stream.fields["wiki"])
    if moment is None or not isinstance(wiki, str):
        return Reading(Passed.MALFORMED, moment)
    if wiki not in wikis:
        return Reading(Passed.FOREIGN, moment)
    return Reading(_value(_Facts(event, stream.fields), stream, wiki, moment), moment)


def external_urls(links: object) -> tuple[str, ...] | None:
    """The URLs in ``added_links``, each once; None if it is no list of links.

    MediaWiki encodes them once as PHP's urlencode does, and gives no scheme where the page gives none.
    """
    if not isinstance(links, list):
        return None
    urls: dict[str, None] = {}
    for each in links:
        match each:
            case {"external": True, "link": str(link)} if len(link) <= _MAX_LINK:
                url = clean_text(unquote_plus(link))
                urls["https:" + url if url.startswith("//") else url] = None
            case {"link": str(), "external": bool()}:
                continue
            case _:
                return None
    return tuple(urls)


def first_link(comment: str) -> str:
    """The title that a comment's first ``[[:…]]`` names; empty if there is none."""
    inside = comment.partition("[[:")[2]
    title, end, _ = inside.partition("]]")
    return spaced(title.partition("|")[0]) if end else ""


def spaced(title: str) -> str:
    """A title as people write it."""
    return clean_text(title.replace("_", " ").strip())


class _Facts:
    """The declared fields of one event; each is None if it is missing or has another type."""

    def __init__(self, event: dict[str, Any], fields: Mapping[str, tuple[str, ...]]) -> None:
        self._event = event
        self._fields = fields

    def raw(self, name: str) -> object:
        return _at(self._event, self._fields.get(name, ()))

    def text(self, name: str) -> str | None:
        value = self.raw(name)
        return value if isinstance(value, str) and len(value) <= _MAX_TITLE else None

    def number(self, name: str) -> int | None:
        value = self.raw(name)
        return value if type(value) is int and 0 <= value <= _MAX_ID else None


def _value(facts: _Facts, stream: Stream, wiki: str, moment: datetime) -> Value | Passed:
    kind = facts.raw("kind") if "kind" in stream.fields else ""
    effect = stream.effects.get(kind) if isinstance(kind, str) else None
    if effect is None:
        return Passed.NOTHING
    if effect == HandedIn.CATEGORISED:
        return _categorised(facts, wiki, moment)
    page = facts.number("page")
    if page is None or page < 1:
        return Passed.MALFORMED
    if effect == GONE:
        return PageGone(wiki, page, moment)
    title = spaced(facts.text("title") or "")
    if effect == LINKS_ADDED:
        # An event that is only about removed links has no such field.
        links = facts.raw("links")
        urls = () if links is None else external_urls(links)
        if urls is None:
            return Passed.MALFORMED
        return LinksAdded(wiki, page, title, urls, moment) if urls else Passed.NOTHING
    is_article = facts.raw("redirect") is not True and facts.text("model") in (None, WIKITEXT)
    if not is_article and effect in (HandedIn.CREATED, HandedIn.UNDELETED):
        return Passed.NOTHING
    namespace = facts.number("namespace")
    return PageHandedIn(wiki, page, title, namespace, HandedIn(effect), moment, is_article=is_article)


def _categorised(facts: _Facts, wiki: str, moment: datetime) -> Value | Passed:
    category, comment = facts.text("category"), facts.raw("comment")
    title = first_link(comment) if isinstance(comment, str) else ""
    if not category or not 0 < len(title) <= _MAX_TITLE:
        return Passed.MALFORMED
    name = spaced(category.partition(":")[2])
    return PageHandedIn(wiki, 0, title, None, HandedIn.CATEGORISED, moment, name)


def _at(event: object, path: Iterable[str]) -> object:
    """The value at a path; None for an empty path or if there is no value."""
    value: object = None
    for step in path:
        event = value = event.get(step) if isinstance(event, dict) else None
    return value


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _stream(file: Path) -> Stream:
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        name = given.pop("stream")
        meta_stream, only_with = given.pop("meta_stream", name), given.pop("only_with", "")
        fields = {key: tuple(path.split(".")) for key, path in given.pop("fields").items()}
        effects = given.pop("effects", None) or {"": given.pop("effect")}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{file} declares no stream ({type(error).__name__}: {error})") from None
    if unknown := given.keys() | (fields.keys() - _FIELDS) | (set(effects.values()) - _NEEDED.keys()):
        raise ConfigError(f"{file}: unknown {min(unknown)!r}")
    needed = {"wiki", *("kind" for _ in effects.keys() - {""})}.union(*(_NEEDED[each] for each in effects.values()))
    if missing := needed - fields.keys():
        raise ConfigError(f"{file}: the field {min(missing)!r} is missing")
    return Stream(name, meta_stream, effects, fields, only_with)


_NEEDED: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(HandedIn, frozenset({"page", "namespace"})),
    HandedIn.CATEGORISED: frozenset({"category", "comment"}),
    LINKS_ADDED: frozenset({"page", "links"}),
    GONE: frozenset({"page"}),
}
_FIELDS: Final = frozenset(
    {"wiki", "kind", "page", "title", "namespace", "redirect", "model", "links", "category", "comment"}
)

"""The properties of a route: its lane, its cost, its formats. The table of all routes is ``web/request/route``."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from aiohttp import hdrs

from weboid.web.request.accept import Format, Formats
from weboid.web.request.parameters import LANGUAGE

SHOWN: Final = (hdrs.METH_GET, hdrs.METH_HEAD)
PAGE: Final = Formats((Format.HTML,))

COST: Final = 2
"""Units of a route that states no other cost, and of an address that does not exist."""

FORM_COST: Final = 10
"""Units of a form that is sent, by default."""

MOST_FORM: Final = 16 * 1024
"""Bytes of a form of ours."""


class Lane(Enum):
    """Kinds of work with separate queues (``web/http/lanes``); each is named as in the metrics."""

    FILES = "files"
    """What is there already, or is rendered once for all: files, the status, errors, answers from a cache."""
    HEALTH = "health"
    """What operators' monitors ask, which nothing else may hold up."""
    PAGES = "pages"
    """The links of pages. A handler enters it itself, once it has work to do, and gives its turn back while a wiki is
    read (``mechanism/fair_slots``: ``aside``)."""
    LARGE = "large"
    """Answers about so many links that they would take the turns of all others. A page answer goes over to it."""
    SEARCH = "search"
    LISTS = "lists"
    DATA = "data"
    BULK = "bulk"
    CARDS = "cards"
    """Link cards, which wait for looks at other servers aside."""
    PEOPLE = "people"
    REPAIRS = "repairs"
    """Repairs of single pages, which another process computes."""
    CRAWLERS = "crawlers"
    """Calls of remote crawlers. The handler enters it itself, once it has received the body."""
    FEEDERS = "feeders"
    """Calls of remote feeders, which take longer. Entered likewise."""


@dataclass(frozen=True, slots=True)
class Surcharge:
    """Additional units if a value of the parameter `name` contains `word`."""

    name: str
    word: str
    units: int


@dataclass(frozen=True, slots=True)
class Route:
    """An address: `path` with its variables in braces, and its properties without its handler.

    `parameters` are those of the address; `tolerated` ones, which other addresses have, are read as well and have no
    effect here. `fields` are those of a form that is sent there, without its token. `cost` and `form_cost` are units
    of the limits; `counts_pages`: each page that is named costs one more. `most_form` is the most bytes of a form.
    `lane` and `form_lane` are the kinds of work of an address, and of a form that is sent there. `asks_store` is false
    where the page of an error may not query the database. `is_described`: it is in ``openapi.json``; `is_open`: every
    web page may read it (CORS).
    """

    name: str
    path: str
    methods: tuple[str, ...] = SHOWN
    formats: Formats = PAGE
    parameters: frozenset[str] = LANGUAGE
    tolerated: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    cost: int = COST
    form_cost: int = FORM_COST
    most_form: int = MOST_FORM
    counts_pages: bool = False
    surcharge: Surcharge | None = None
    lane: Lane = Lane.FILES
    form_lane: Lane = Lane.FILES
    asks_store: bool = True
    is_described: bool = False
    is_open: bool = False

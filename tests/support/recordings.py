"""The recorded exchanges of ../shared/data/archives, as replies; and services as they were asked in them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.url.archives import BY_NAME
from weboid.core.url.urls import Url, parse

PYWB = ArchiveService(BY_NAME["ukwa"], Dialect.PYWB, "http://127.0.0.1:8097/web", "http://127.0.0.1:8097/web", 0, 0)
UNFRAMED = replace(PYWB, base="http://127.0.0.1:8098/web", public="http://127.0.0.1:8098/web")
RFC = replace(PYWB, dialect=Dialect.TIMEMAP, base="http://arxiv.example.net/web", public="http://arxiv.example.net/web")
KNOWN = {**SERVICES, "pywb": PYWB, "unframed": UNFRAMED, "rfc": RFC}


def replies_in(file: Path) -> list[tuple[str, ServiceReply]]:
    """The requested address and the reply of each exchange."""
    exchanges = json.loads(file.read_text(encoding="utf-8"))["exchanges"]
    return [(exchange["request"]["url"], _reply(exchange["response"])) for exchange in exchanges]


def _reply(response: dict[str, object]) -> ServiceReply:
    headers, body, status = response["headers"], response["body"], response["status"]
    assert isinstance(headers, dict)
    assert isinstance(status, int)
    return ServiceReply(status, {name.lower(): value for name, value in headers.items()}, str(body).encode())


def stamp_asked(address: str) -> int:
    """The moment that the address of a replay contains."""
    found = re.search(r"/([0-9]{14})(?:id_)?/", address)
    assert found
    return int(found[1])


def page_asked(address: str) -> Url:
    """The URL whose captures an address asks for."""
    parts = urlsplit(address)
    if "/http" in parts.path:
        return parse(address[address.index("/http", len("https://")) + 1 :])
    (url,) = parse_qs(parts.query).get("url", ["http://mill.demo/"])
    url = unquote(url).removesuffix("*")
    return parse(url if "://" in url else f"http://{url}") if "." in url else parse("http://mill.demo/")

"""Events in Wikimedia's form, for tests; pages and persons are made up."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def moment(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


def links_added(
    page: int, urls: Iterable[str], minute: float, title: str = "", wiki: str = "testwiki"
) -> dict[str, Any]:
    links = [{"link": quote(url, safe="/:"), "external": True} for url in urls]
    more = {"page_title": title or f"Page_{page}", "page_namespace": 0, "rev_id": 1, "added_links": links}
    return {"meta": _meta("mediawiki.page-links-change", minute), "database": wiki, "page_id": page, **more}


def change(
    kind: str, page: int, minute: float, namespace: int = 0, wiki: str = "testwiki", **more: Any
) -> dict[str, Any]:
    title = f"Talk:Page_{page}" if namespace else f"Page_{page}"
    facts = {"page_id": page, "page_title": title, "namespace_id": namespace, "is_redirect": False, **more}
    meta = _meta("mediawiki.page_change.v1", minute)
    return {"meta": meta, "wiki_id": wiki, "page_change_kind": kind, "page": facts}


def categorised(title: str, category: str, minute: float) -> dict[str, Any]:
    """A page that was put into a category, or taken out."""
    comment = f"[[:{title}]] added to category"
    meta = _meta("mediawiki.recentchange", minute)
    return {"meta": meta, "wiki": "testwiki", "type": "categorize", "title": f"Category:{category}", "comment": comment}


def _meta(stream: str, minute: float) -> dict[str, str]:
    return {"stream": stream, "dt": moment(minute).strftime("%Y-%m-%dT%H:%M:%SZ"), "domain": "test.sample.org"}

"""Questions to a wiki's API through pywikibot, as plain JSON; one exception for all that goes wrong."""

from typing import Any, Final

from pywikibot.exceptions import APIError, Error
from requests.exceptions import RequestException

from weboid.errors import WeboidError

_MOST_TEXT: Final = 300


class WikiSilent(WeboidError):
    """The wiki does not answer, or with something that is no answer."""


class WikiRefuses(WikiSilent):
    """The wiki answers with an error; `code` is the API's own word for it."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code: Final = code


def ask(site: Any, **parameters: str | int | bool | None) -> dict[str, Any]:
    """The whole answer to an ``action=query``, tried again by pywikibot's rules. Raises WikiSilent."""
    try:
        answer = site.simple_request(action="query", formatversion=2, **parameters).submit()
    except APIError as error:
        raise WikiRefuses(error.code, f"{site} refuses to answer: {brief(error)}. Start again later.") from None
    except (Error, RequestException, OSError) as error:
        raise WikiSilent(f"{site} does not answer: {brief(error)}. Start again later; nothing is done twice.") from None
    if not isinstance(answer, dict):
        raise WikiSilent(f"{site} gives an answer that is none. Check the family file in pywikibot's folder.")
    return answer


def pages_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The pages of an answer; what is none is left out."""
    return tables_of(answer, "pages")


def tables_of(answer: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of tables in an answer; what is none is left out."""
    query = answer.get("query")
    found = query.get(key) if isinstance(query, dict) else None
    return [each for each in (found if isinstance(found, list) else ()) if isinstance(each, dict)]


def person_of(answer: dict[str, Any]) -> dict[str, Any]:
    """As whom the wiki sees the one who asks."""
    query = answer.get("query")
    person = query.get("userinfo") if isinstance(query, dict) else None
    return person if isinstance(person, dict) else {}


def newest_revision(page: dict[str, Any]) -> tuple[int, str] | None:
    """Number and text of a page's newest revision; None if it was not given, is hidden, or the page is missing."""
    revisions = page.get("revisions")
    revision = revisions[0] if isinstance(revisions, list) and revisions else None
    slots = revision.get("slots") if isinstance(revision, dict) else None
    main = slots.get("main") if isinstance(slots, dict) else None
    if not isinstance(revision, dict) or not isinstance(main, dict):
        return None
    number, text = revision.get("revid"), main.get("content")
    return (number, text) if isinstance(number, int) and isinstance(text, str) else None


def brief(error: object) -> str:
    """A message as one short line: it may hold text of a server."""
    text = "".join(each if each.isprintable() else " " for each in str(error))
    line = " ".join(text.split())
    if len(line) > _MOST_TEXT:
        return f"{line[:_MOST_TEXT]}…"
    return line.rstrip(".") or type(error).__name__

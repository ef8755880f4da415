"""The raw response of one check, and what was observed in it. A server's failure is a value, not an exception."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct, field

from weboid.core.document.document import Document, document_from, document_of, is_html
from weboid.core.document.face import Face
from weboid.core.document.portrait import Portrait
from weboid.core.document.reading import MarkupReader
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status
from weboid.core.url.urls import Url


class Hop(Struct, frozen=True):
    """One redirect: the URL that sent it, its code, and its target (absolute, as resolved)."""

    url: str
    code: int
    location: str


class RawResponse(Struct, frozen=True, dict=True):
    """The last response of one check. Exactly one of `code` and `fault` is set.

    `final` is the URL that gave this response or fault; `headers` has lower-case names with the first value of each,
    bounded in number and size; `body` is the bounded beginning of the body, empty after HEAD. `reached`: as in a Fault.
    """

    url: str
    final: str
    method: str
    code: int | None = None
    fault: Reason | None = None
    hops: tuple[Hop, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0
    head_failed: bool = False
    """HEAD had been tried before, and its answer was not reliable (C-1)."""
    bare: bool = False
    """It was requested with the fewest headers, after a 431 (U-4)."""
    reading: MarkupReader | None = None
    """What was read of the document while it arrived."""
    reached: bool = True

    @cached_property
    def document(self) -> Document:
        """The document in the body, read at its first use; an empty one if there is no body or it is not HTML."""
        kind = self.headers.get("content-type", "")
        if not self.body or not is_html(kind, self.body):
            return Document(url=self.final)
        return document_from(self.reading, self.final) if self.reading else document_of(self.body, kind, self.final)


class Observation(Struct, frozen=True):
    """The result of one check, by itself. `inferred` = taken over from another contact with the same host (C-5).

    `target` is where a redirect led: a Url, or text if that is none (``mailto:…``, an app's scheme).
    """

    status: Status
    reason: Reason
    target: Url | str | None = None
    mime: str | None = None
    size_kib: int | None = None
    http: int | None = None
    """The exact code at the end of the check; NO_CODE if no HTTP answer stands there, None if that is not known."""
    inferred: bool = False
    held: bool = False
    """A failure that may be ours, since a part of the net is lost to us: it proves nothing (C-16)."""
    needs: frozenset[Special] = frozenset()
    """Specials of the host that the check has shown (C-1, C-6)."""
    on_other_host: bool = False
    """A redirect led to another host, and that one failed: no evidence against the URL's own host (C-5)."""
    not_http: bool = False
    """A service other than HTTP failed (ftp, sftp), or stands at a port that is never contacted: no evidence for or
    against the host as a whole (C-5, C-10, C-13)."""
    retry_after_s: float | None = None
    """The URL's own host requested a pause of so many seconds (C-3)."""
    portrait: Portrait | None = None
    """The document's portrait, if one was requested and shows anything new (C-11)."""
    face: Face | None = None
    """The host's face, if the check has learned something about it (C-11)."""
    meant: str | None = None
    """The URL that was probably meant, if this one fails and that one was looked at and works (L-9)."""

    @property
    def outcome(self) -> Outcome:
        """The outcome of this check, which follows from its reason."""
        return self.reason.outcome

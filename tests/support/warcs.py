"""WARC files (ISO 28500) as archives keep them: each record packed by itself, as much of the format as tests need."""

import base64
import gzip
import hashlib
import uuid
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus

HTML = {"Content-Type": "text/html; charset=utf-8"}


def response_record(url: str, moment: datetime, status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    """A capture: what was answered at a moment (UTC)."""
    digest = {"WARC-Payload-Digest": _digest(body)}
    return _record("response", url, moment, digest, _http(status, headers) + body)


def revisit_record(
    url: str, moment: datetime, first: datetime, status: int, headers: Mapping[str, str], body: bytes
) -> bytes:
    """A capture that was as at the moment `first`, so that its body was not kept again."""
    told = {
        "WARC-Payload-Digest": _digest(body),
        "WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
        "WARC-Refers-To-Target-URI": url,
        "WARC-Refers-To-Date": _moment(first),
    }
    return _record("revisit", url, moment, told, _http(status, headers))


def _record(kind: str, url: str, moment: datetime, told: Mapping[str, str], block: bytes) -> bytes:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Target-URI": url,
        "WARC-Date": _moment(moment),
        **told,
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    head = "\r\n".join(["WARC/1.0", *(f"{name}: {value}" for name, value in fields.items()), "", ""])
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


def _http(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _digest(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()

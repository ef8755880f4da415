"""The endpoints of a server, and the messages to them, as bytes: MessagePack, compressed (zlib, RFC 1950).

msgspec decodes into our own types and accepts nothing of another form. A message from outside is bounded before
it is inflated or decoded, and never more is inflated than the caller allows. JSON would need a codec for each of twenty
types; zstd is not in Python before 3.14.
"""

import zlib
from collections.abc import AsyncIterable, Callable, Collection, Mapping
from functools import cache
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

import msgspec

from weboid.store.pages.pending import NO_CONTROLS

MOST_SENT: Final = 8 << 20
"""Bytes of a request, compressed."""
MOST_INFLATED: Final = 64 << 20
"""Bytes of a message, as it was before it was compressed."""
MOST_ANSWERED: Final = 32 << 20
"""Bytes of an answer, compressed."""
_LEVEL: Final = 1

_Type = TypeVar("_Type")


class Endpoint:
    """The endpoint for the processes of one command: its `word`, the authentication `scheme` of their tokens, next to
    ``Bearer`` of trusted clients, and their `plural`, which is also the key of their tokens in ``[web]``.

    A token opens one endpoint: who may write verdicts may not write pages, nor the other way round (D-390). `version`
    is that of its calls, counted up whenever a program of before could not make them any more.
    """

    def __init__(self, word: str, scheme: str, plural: str, version: int) -> None:
        self.word, self.scheme, self.plural = word, scheme, plural
        self.path = f"/internal/{word}/"
        self.kind = f"application/vnd.weboid.{word}"
        """The media type of requests and answers."""
        self.version = version
        self.sent_kind = f"{self.kind}; version={version}"
        """The same with the version of the calls, as requests name it; one that names none is of version 1."""
        self.token, self.server = f"WEBOID_{word.upper()}_TOKEN", f"WEBOID_{word.upper()}_CORE"
        """The variables of a process with its token, and with the address of the server."""
        self.tokens = f"WEBOID_WEB_{plural.upper()}"
        """The server's variable with the hashes of the tokens."""


CRAWLERS: Final = Endpoint("crawl", "Weboid-Crawler", "crawlers", 3)
FEEDERS: Final = Endpoint("feed", "Weboid-Feeder", "feeders", 3)


class Call(msgspec.Struct, frozen=True):
    """A request: the worker that makes it, its number (for a call that `is_once`), and the arguments, by the call."""

    worker: Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=NO_CONTROLS)]
    request: UUID
    arguments: msgspec.Raw


class BadMessage(Exception):
    """Bytes that are no message of the expected form; the text names the reason, without repeating the message.

    `status` is that of the answer.
    """

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


class TooLong(BadMessage):
    """A message that is longer than any may be."""

    def __init__(self) -> None:
        super().__init__("the message is too long", 413)


async def read_whole(chunks: AsyncIterable[bytes], most: int = MOST_ANSWERED) -> bytes:
    """The bytes of a body; raises TooLong if there are more than `most`."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            raise TooLong
    return bytes(body)


def _plain(value: object) -> Any:
    """A collection as one of those that can be sent."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Collection):
        return list(value)
    raise NotImplementedError(type(value))


@cache
def _decoder_of(kind: Any) -> Any:  # building one takes longer than most messages
    return msgspec.msgpack.Decoder(kind)


_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=_plain)


def encoded(value: Any) -> bytes:
    """A value as a message that is not yet compressed."""
    return _ENCODER.encode(value)


def decoded(message: bytes | msgspec.Raw, kind: Callable[..., _Type]) -> _Type:
    """The value in an inflated message; raises BadMessage if it is not of this type."""
    try:
        value: _Type = _decoder_of(kind).decode(message)
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError) as error:
        raise BadMessage(f"the message is not of the expected form: {type(error).__name__}") from None
    return value


def compressed(message: bytes) -> bytes:
    """A message as it is sent."""
    return zlib.compress(message, _LEVEL)


def inflated(sent: bytes, most: int = MOST_INFLATED) -> bytes:
    """The message that was sent; raises TooLong if it has more than `most` bytes, BadMessage if it is broken."""
    inflating = zlib.decompressobj()
    try:
        message = inflating.decompress(sent, most)
    except zlib.error:
        raise BadMessage("the message is not compressed with zlib, or is broken") from None
    if inflating.unconsumed_tail:
        raise TooLong
    if not inflating.eof or inflating.unused_data:
        raise BadMessage("the message is cut off, or something follows it")
    return message

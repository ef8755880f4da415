"""Reads the replies of Save Page Now 2 (archive.org, revision of 2026-07-22): submissions, jobs, the account (A-4).

Refusals come with code 200 and without a job; a job that the service forgot is ``pending`` for ever: count the asking.
"""

from enum import StrEnum
from typing import NamedTuple

from weboid.core.archive.captures import ServiceReply


class SaveState(StrEnum):
    """What a reply means for the URL that is to be saved."""

    STARTED = "started"
    """A job runs; ask for it in a few seconds."""
    PENDING = "pending"
    """The job still runs, or is unknown."""
    SAVED = "saved"
    """There is a new capture; indexes know it only later."""
    ALREADY = "already"
    """The service captured it today, or within the asked time, and does not do so again."""
    AGAIN = "again"
    """It failed for a reason that passes."""
    NEVER = "never"
    """It failed for a reason that stays: not again for this URL. No evidence that the page is dead."""
    LATER = "later"
    """The service wants fewer requests for all URLs: see `rest_s`, None = the rest of the day."""
    REFUSED = "refused"
    """The keys are not accepted: stop, tell the operator."""


class SaveReply(NamedTuple):
    """`job` for STARTED and PENDING; `stamp` (14 digits) and `original` (the URL captured) for SAVED. `why` is the
    service's ``status_ext`` without ``error:``, or a word of ours."""

    state: SaveState
    why: str = ""
    job: str | None = None
    stamp: int | None = None
    original: str | None = None
    rest_s: float | None = None


class SaveAccount(NamedTuple):
    """What the service says of the account: jobs free and running, captures of today and the most of a day; None =
    not said."""

    available: int | None
    processing: int | None
    daily: int | None
    daily_limit: int | None


def submitted(reply: ServiceReply) -> SaveReply:
    """What the reply to a submission says. Never raises."""
    raise NotImplementedError


def job_status(reply: ServiceReply, job: str) -> SaveReply:
    """What the reply to the question for a job says. Never raises."""
    raise NotImplementedError


def account_of(reply: ServiceReply) -> SaveAccount | None:
    """What the reply to the question for the account says; None if it is no answer. Never raises."""
    raise NotImplementedError

"""Reads the replies of Save Page Now 2 (archive.org, revision of 2026-07-22): submissions, jobs, the account (A-4).

Refusals come with code 200 and without a job; a job that the service forgot is ``pending`` for ever: count the asking.
"""

import re
from enum import StrEnum
from typing import Final, NamedTuple

from weboid.assets import toml_next_to
from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.dialects.replies import json_of, moment_of, number_of, original_of, rest_of, text_of

_MINUTE_S: Final = 60.0
_MOST: Final = 10**9
_LONGEST_MESSAGE: Final = 1_000
_JOB: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_CODE: Final = re.compile(r"[a-z0-9-]{1,60}")
_SAME: Final = re.compile(r"same snapshot had been made", re.IGNORECASE)
_TABLE: Final = toml_next_to(__file__)


class SaveState(StrEnum):
    """The consequence of a reply for the URL that is to be saved."""

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
    TOMORROW = "tomorrow"
    """It failed for a reason not known to us: not again today."""
    LATER = "later"
    """The service wants fewer requests for all URLs: see `rest_s`, None = the rest of the day."""
    REFUSED = "refused"
    """The keys are not accepted: stop, and alert the operator."""


class SaveReply(NamedTuple):
    """The consequence of a reply. `job` for STARTED and PENDING, and for ALREADY if that job can be asked for its
    capture; `stamp` (14 digits), `original` (the URL captured) and `status` (its HTTP code, if given) for SAVED.

    `why` is the service's ``status_ext`` without ``error:``, or a word of ours.
    """

    state: SaveState
    why: str = ""
    job: str | None = None
    stamp: int | None = None
    original: str | None = None
    rest_s: float | None = None
    status: int | None = None


class SaveAccount(NamedTuple):
    """The account's limits: jobs free, captures of today and the most of a day; None = not given."""

    available: int | None
    daily: int | None
    daily_limit: int | None


def submitted(reply: ServiceReply) -> SaveReply:
    """Reads the reply to a submission. Never raises."""
    data = _object(reply)
    if isinstance(data, SaveReply):
        return data
    # ``spn2-`` and 40 digits, a UUID formerly, and what else may come.
    job = data.get("job_id")
    if not isinstance(job, str) or not _JOB.fullmatch(job) or data.get("status") == "error" or "status_ext" in data:
        return _failure(data)
    if _SAME.search(_message(data)):
        return SaveReply(SaveState.ALREADY, "same-snapshot", job)
    return SaveReply(SaveState.STARTED, job=job)


def job_status(reply: ServiceReply, job: str) -> SaveReply:
    """Reads the reply to a request for a job. Never raises."""
    data = _object(reply)
    if isinstance(data, SaveReply):
        return data
    if data.get("job_id") not in (None, job):
        return SaveReply(SaveState.TOMORROW, "other-job")
    match data.get("status"):
        case "pending":
            return SaveReply(SaveState.PENDING, job=job)
        case "success":
            return _success(data)
        case _:
            return _failure(data)


def account_of(reply: ServiceReply) -> SaveAccount | None:
    """Reads the reply to a request for the account; None if it is no answer. Never raises."""
    data = _object(reply)
    if isinstance(data, SaveReply):
        return None
    numbers = (data.get(name) for name in ("available", "daily_captures", "daily_captures_limit"))
    account = SaveAccount(*(number_of(number, most=_MOST) for number in numbers))
    return account if account.available is not None else None


def _object(reply: ServiceReply) -> dict[str, object] | SaveReply:
    """The JSON object of a reply with code 200, else the consequence of its failure."""
    if reply.fault or reply.code is None:
        return SaveReply(SaveState.AGAIN, reply.fault or "network")
    if reply.code == 401:
        return SaveReply(SaveState.REFUSED, "unauthorized-keys")
    if reply.code == 429:
        return SaveReply(SaveState.LATER, "rate-limited", rest_s=rest_of(reply) or _MINUTE_S)
    data = json_of(text_of(reply.body))
    if isinstance(data, dict) and (reply.code == 200 or "status_ext" in data):
        return data
    if reply.code >= 500:
        return SaveReply(SaveState.AGAIN, "server-error", rest_s=rest_of(reply))
    return SaveReply(SaveState.AGAIN, "unreadable" if reply.code == 200 else "unexpected-code")


def _success(data: dict[str, object]) -> SaveReply:
    taken = moment_of(data.get("timestamp"))
    if taken is None:
        return SaveReply(SaveState.TOMORROW, "no-stamp")
    status = number_of(data.get("http_status"), most=999)
    return SaveReply(
        SaveState.SAVED, stamp=stamp_of(taken), original=original_of(data.get("original_url")), status=status
    )


def _failure(data: dict[str, object]) -> SaveReply:
    """The consequence of a refusal or a failed job, by its ``status_ext``, or by its message where there is none."""
    reason = data.get("status_ext")
    code = reason.removeprefix("error:") if isinstance(reason, str) else ""
    code = code if _CODE.fullmatch(code) else "no-reason"
    if code in ("no-reason", "too-many-daily-captures"):  # of this URL, or of its host
        message = _message(data)
        rows = (row for row in _TABLE["message"] if code == "no-reason" or row["reason"] == "host-limit")
        code = next((row["reason"] for row in rows if re.search(row["pattern"], message, re.IGNORECASE)), code)
    if code == "too-many-daily-captures":
        return SaveReply(SaveState.ALREADY, code)
    if code == "user-session-limit":
        return SaveReply(SaveState.LATER, code, rest_s=_MINUTE_S)
    if code in _TABLE["ends-day"]:
        return SaveReply(SaveState.LATER, code)
    if code == "unauthorized-keys":
        return SaveReply(SaveState.REFUSED, code)
    state = SaveState.NEVER if code in _TABLE["stays"] else SaveState.TOMORROW
    state = SaveState.AGAIN if code in _TABLE["passes"] else state
    return SaveReply(state, code)


def _message(data: dict[str, object]) -> str:
    texts = (data.get(name) for name in ("message", "error", "exception"))
    return " ".join(text for text in texts if isinstance(text, str))[:_LONGEST_MESSAGE]

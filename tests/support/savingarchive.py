"""A made-up archive that saves, as Save Page Now 2 does, on loopback; how it misbehaves is given by a test.

One law: it takes nothing without the keys, and notes whatever it was sent.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs

from support.madearchive import Copy, MadeArchive
from support.misbehaving import Act, Asked, reply, serve

KEY: Final = "k3y"
SECRET: Final = "s3cr3t"
STAMP: Final = 20260103040506

Says = Mapping[str, Any] | Act
"""What it says: a JSON object with code 200, or anything else."""


@dataclass
class SavingArchive(MadeArchive):
    """`saved` = the URLs of which it made copies; `jobs` = what it says of a job, by its id, in turn, the last always.

    `refusals` are its answers to submissions in place of a job, by URL. `answers` come before everything, by the end of
    the path.
    """

    submitted: list[dict[str, str]] = field(default_factory=list)
    jobs: dict[str, list[Says]] = field(default_factory=dict)
    urls: dict[str, str] = field(default_factory=dict)
    saved: list[str] = field(default_factory=list)
    refusals: dict[str, Says] = field(default_factory=dict)
    answers: dict[str, Says] = field(default_factory=dict)
    pendings: int = 1
    """So often a new job is pending."""
    daily: int = 0
    shows: bool = True
    """Whether its index has what it saved."""
    on_submit: Callable[[str], None] = lambda url: None

    def answer(self, asked: Asked) -> Act:
        """Its answer to a request."""
        path = asked.target.partition("?")[0]
        if not path.startswith("/save"):
            return super().answer(asked)
        headers = {name.lower(): value for name, value in asked.headers.items()}
        name = path.rpartition("/")[2]
        if name != "system" and headers.get("authorization") != f"LOW {KEY}:{SECRET}":
            return reply(401, body=b'{"message": "You need to be logged in to use Save Page Now."}')
        if name in self.answers:
            return _act(self.answers[name])
        if name == "system":
            return _act({"status": "ok"})
        if name == "user":
            return _act({"available": 5, "processing": 0, "daily_captures": self.daily, "daily_captures_limit": 30_000})
        return _act(self._submit(asked.body) if asked.method == "POST" else self._job(name))

    def _submit(self, body: bytes) -> Says:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.submitted.append(form)
        self.daily += 1
        url = form["url"]
        self.on_submit(url)
        if url in self.refusals:
            return self.refusals[url]
        job = f"spn2-{len(self.submitted):040x}"
        self.urls[job] = url
        pending = {"status": "pending", "job_id": job, "resources": []}
        done = {"status": "success", "job_id": job, "original_url": url, "timestamp": str(STAMP), "http_status": 200}
        self.jobs.setdefault(job, [*[pending] * self.pendings, done])
        return {"url": url, "job_id": job}

    def _job(self, job: str) -> Says:
        says = self.jobs.get(job, [{"status": "pending", "job_id": job}])
        said = says.pop(0) if len(says) > 1 else says[0]
        if isinstance(said, Mapping) and said.get("status") == "success":
            self.saved.append(self.urls[job])
            if self.shows:
                self.copies[self.urls[job]] = [Copy(int(said["timestamp"]))]
        return said


def failed(reason: str) -> dict[str, Any]:
    """A job or a submission that failed, as the service says it."""
    return {"status": "error", "status_ext": f"error:{reason}", "message": f"It failed: {reason}.", "resources": []}


@asynccontextmanager
async def open_saving_archive(copies: Mapping[str, Sequence[Copy]] | None = None) -> AsyncIterator[SavingArchive]:
    """Runs it until the block ends."""
    archive = SavingArchive(dict(copies or {}))
    async with serve(archive.answer) as archive.site:
        yield archive


def _act(says: Says) -> Act:
    return (
        reply(200, body=json.dumps(dict(says)).encode(), kind="application/json") if isinstance(says, Mapping) else says
    )

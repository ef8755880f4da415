"""Other hosts name the day by the Date of their answers (C-16)."""

import pytest

from weboid.checking.checker import CheckResult
from weboid.checking.date_witnesses import is_witnessed
from weboid.checking.turns import NotAsked
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status

RIGHT, EVE, WRONG = "Tue, 11 Apr 2017 12:00:00 GMT", "Mon, 10 Apr 2017 23:00:00 GMT", "Sat, 15 Apr 2017 12:00:00 GMT"
DAY = 100


@pytest.mark.parametrize(
    ("dates", "is_right"),
    [
        ([RIGHT, EVE, RIGHT], True),
        ([RIGHT, RIGHT], False),
        ([RIGHT, RIGHT, RIGHT, WRONG, WRONG], True),
        ([RIGHT, RIGHT, RIGHT, WRONG, WRONG, WRONG], False),
        ([RIGHT, RIGHT, RIGHT, None, "nonsense", "", "Tue, 11 Apr 1817 12:00:00 GMT"], True),
        ([WRONG] * 5, False),
        ([], False),
    ],
)
async def test_three_domains_and_the_majority_decide(dates: list[str | None], is_right: bool) -> None:
    urls = [f"http://h{number}.demo/" for number in range(len(dates))]

    async def check(request: CheckRequest) -> CheckResult:
        date = dates[urls.index(request.url)]
        if date is None:
            raise NotAsked(request.url)
        answer = RawResponse(request.url, request.url, "HEAD", 404, headers={"date": date})
        return CheckResult(Observation(Status.NOT_FOUND, Reason.NOT_FOUND), answer)

    assert await is_witnessed(check, urls, DAY) is is_right


async def test_hosts_of_one_domain_and_what_leads_to_one_host_are_one_witness() -> None:
    async def check(request: CheckRequest) -> CheckResult:
        final = "http://end.demo/" if "to-end" in request.url else request.url
        answer = RawResponse(request.url, final, "HEAD", 200, headers={"date": RIGHT})
        return CheckResult(Observation(Status.FINE, Reason.OK), answer)

    assert not await is_witnessed(check, [f"http://h{n}.one.demo/" for n in range(8)], DAY)
    assert not await is_witnessed(check, [f"http://h{n}.demo/to-end" for n in range(8)], DAY)

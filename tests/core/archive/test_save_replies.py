"""Save Page Now: refusals with code 200, jobs that are pending for ever, limits and account."""

import json

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.save_replies import SaveAccount, SaveState, account_of, job_status, submitted

CASES = toml_next_to(__file__)
JOB = "spn2-ffa890ab71a52c6ca87389d4f214becedbaa275a"


def _reply(data: object, code: int = 200) -> ServiceReply:
    return ServiceReply(code, {"content-type": "application/json"}, json.dumps(data).encode())


def test_a_submission_says() -> None:
    for data, state, why in CASES["submissions"]:
        said = submitted(_reply(json.loads(data)))
        assert (said.state, said.why) == (state, why), data
        has_job = said.state in (SaveState.STARTED, SaveState.PENDING) or why == "same-snapshot"
        assert (said.job is not None) == has_job, data


def test_a_job_says_how_it_is_and_a_saved_page_its_moment_and_what_was_captured() -> None:
    for data, state, why in CASES["jobs"]:
        said = job_status(_reply(json.loads(data)), JOB)
        assert (said.state, said.why) == (state, why), data
    data = {
        "status": "success", "timestamp": "20240104034229", "original_url": "https://mill.demo/", "http_status": 200,
    }  # fmt: skip
    said = job_status(_reply(data), JOB)
    assert (said.stamp, said.original, said.status) == (20240104034229, "https://mill.demo/", 200)


def test_what_is_no_answer_is_no_refusal() -> None:
    for reply, state, rest_s in [
        (ServiceReply(None, fault="refused"), "again", None),
        (ServiceReply(None), "again", None),
        (ServiceReply(401, {}, b'{"message": "You need to be logged in"}'), "refused", None),
        (ServiceReply(429), "later", 60.0),
        (ServiceReply(429, {"retry-after": "600"}), "later", 600.0),
        (ServiceReply(502, {}, b"<html>"), "again", None),
        (ServiceReply(200, {}, b"<html>Sorry</html>"), "again", None),
        (ServiceReply(200, {}, b""), "again", None),
        (ServiceReply(200, {}, b"[]"), "again", None),
        (ServiceReply(302, {"location": "https://archive.org/login"}), "again", None),
        (ServiceReply(403, {}, b"<html>"), "again", None),
        (ServiceReply(400, {}, b'{"status_ext": "error:invalid-url-syntax"}'), "never", None),
    ]:
        for said in (submitted(reply), job_status(reply, JOB)):
            assert (said.state, said.rest_s) == (state, rest_s), reply
        assert account_of(reply) is None


def test_the_account_is_read() -> None:
    data = {"available": 8, "daily_captures": 10199, "daily_captures_limit": 10000, "processing": 0}
    assert account_of(_reply(data)) == SaveAccount(8, 10199, 10000)
    assert account_of(_reply({"available": 8})) == SaveAccount(8, None, None)
    assert account_of(_reply({"available": "many"})) is None
    assert account_of(_reply({"message": "no"})) is None


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=2)),
    st.sampled_from(["job_id", "status", "status_ext", "message", "timestamp", "original_url", "available"]),
    st.integers(100, 599),
)
def test_nothing_raises(value: object, name: str, code: int) -> None:
    reply = _reply({"status": "success", "timestamp": "20240104034229", name: value}, code)
    submitted(reply)
    job_status(reply, JOB)
    account_of(reply)

"""The client of the API: complete answers, or what to do next; never endless, no other service, no token shown."""

import pytest
from support.little_service import (
    TOKEN,
    LittleService,
    Misdeed,
    busy,
    endless,
    garbage,
    hang_up,
    link,
    open_little_service,
    redirect,
)

from weboid.errors import WeboidError
from weboid_scripts.client import ServiceGarbled, ServiceRefused, ServiceUnreachable, WeboidClient

WIKI = "testwiki@WMF"


class Waits(list[float]):
    """Waits for nothing, and notes for how long it would have."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def client_of(service: LittleService, token: str | None = None, waits: Waits | None = None) -> WeboidClient:
    return WeboidClient(service.base, user_agent="test", token=token, wait=Waits() if waits is None else waits)


def test_pages_are_complete_however_the_answer_is_cut(service: LittleService) -> None:
    service.most_links = 3
    service.pages = {page: [link(f"http://a{n}.demo/{page}") for n in range(page)] for page in range(9)}
    answers = {page["id"]: page["links"] for page in client_of(service).pages(WIKI, [*range(9), 77, 3])}
    assert answers == service.pages
    assert service.count("/api/page") == 13


def test_500_pages_a_request(service: LittleService) -> None:
    service.pages = {page: [link("http://a.demo/")] for page in range(1, 1_002)}
    assert len(list(client_of(service).pages(WIKI, service.pages))) == 1_001
    assert service.count("/api/page") == 3


def test_changes_go_on_to_the_end(service: LittleService) -> None:
    for number in range(250):
        service.add_change(f"http://a.demo/{number}", {number: "A"}, after="dead" if number % 2 else "working")
    parts = list(client_of(service).changes(WIKI, since=10, to="dead"))
    assert [part["next"] for part in parts] == [110, 210, 250]
    assert [change["change"] for part in parts for change in part["changes"]] == list(range(12, 251, 2))


@pytest.mark.parametrize("after", ["-1", "1" + 18 * "0", "true", "null"])
def test_a_list_of_changes_that_goes_on_nowhere_is_none(service: LittleService, after: str) -> None:
    service.misdeeds = [garbage(f'{{"version": 2, "changes": [], "next": {after}, "more": false}}'.encode())]
    with pytest.raises(ServiceGarbled, match="without an end"):
        list(client_of(service).changes(WIKI))


def test_normal_forms_in_their_order(service: LittleService) -> None:
    urls = [f"HTTP://A.demo:80/{number}" for number in range(1_200)]
    answers = list(client_of(service).normal([*urls, "", "a\nb"]))
    assert [each["url"] for each in answers] == urls
    assert answers[7]["normal"] == "http://a.demo/7"
    assert service.count("/api/normal") == 2


def test_a_revert_is_reported_once(service: LittleService) -> None:
    service.pages = {1: [link("http://a.demo/x")]}
    client = client_of(service, TOKEN)
    report = {"page": 1, "revision": 7, "url": "http://a.demo/x", "reverter": "A | B & c=ü", "why": "link-works"}
    first = client.report_revert(WIKI, **report)  # type: ignore[arg-type]
    assert (first["reverter"], first["state"]) == ("A | B & c=ü", "open")
    assert client.report_revert(WIKI, **report) == first  # type: ignore[arg-type]
    assert next(client.pages(WIKI, [1]))["links"][0]["flags"] == ["frozen"]


def test_without_a_token_it_says_which_variable_to_set(service: LittleService) -> None:
    with pytest.raises(ServiceRefused, match="WEBOID_TOKEN") as refused:
        client_of(service).report_revert(WIKI, page=1, revision=7, url="http://a.demo/", reverter="A", why="x")
    assert refused.value.status == 403


def test_it_waits_as_long_as_it_is_reported(service: LittleService) -> None:
    service.misdeeds = [busy(7), busy(2, 429), busy(99_999)]
    waits = Waits()
    assert list(client_of(service, waits=waits).normal(["http://a.demo/"]))
    assert waits == [7.0, 2.0, 300.0]


def test_it_does_not_wait_for_ever(service: LittleService) -> None:
    service.misdeeds = [busy(1)] * 50
    with pytest.raises(ServiceUnreachable, match="HTTP 503"):
        list(client_of(service).pages(WIKI, [1]))
    assert len(service.asked) == 5


def test_a_broken_connection_is_tried_again_once_it_has_worked(service: LittleService) -> None:
    client = client_of(service)
    list(client.normal(["http://a.demo/"]))
    service.misdeeds = [hang_up]
    assert list(client.normal(["http://a.demo/"]))


def test_nobody_there_is_reported_at_once() -> None:
    waits = Waits()
    client = WeboidClient("http://127.0.0.1:9", user_agent="test", wait=waits)
    with pytest.raises(ServiceUnreachable, match=r"127\.0\.0\.1:9 does not answer.*-service:"):
        list(client.normal(["http://a.demo/"]))
    assert waits == []


@pytest.mark.parametrize(
    ("misdeed", "says"),
    [
        (garbage(), "version 2"), (garbage(b"[" * 100_000), "version 2"), (garbage(b'{"version": 3}'), "version 2"),
        (endless(), "without an end"), (redirect("https://another.demo/api"), "another.demo"),
        (redirect("//user@[half"), "redirects"), (redirect("/api/normal", 302), "redirects"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_none(service: LittleService, misdeed: Misdeed, says: str) -> None:
    service.misdeeds = [misdeed]
    with pytest.raises(ServiceGarbled, match=says):
        list(client_of(service).normal(["http://a.demo/"]))


def test_the_token_stays_with_its_service(service: LittleService, tmp_path: object) -> None:
    client = client_of(service, TOKEN)
    with open_little_service() as other:
        service.misdeeds = [redirect(f"{other.base}/api/normal")]
        with pytest.raises(ServiceGarbled) as refused:
            list(client.normal(["http://a.demo/"]))
        assert other.asked == []
    assert TOKEN not in str(refused.value)
    assert TOKEN not in repr(client)
    assert service.asked[0].headers["Authorization"] == f"Bearer {TOKEN}"
    with pytest.raises(WeboidError, match="in the clear") as in_clear:
        WeboidClient("http://weboid.demo", user_agent="test", token=TOKEN)
    assert TOKEN not in str(in_clear.value)

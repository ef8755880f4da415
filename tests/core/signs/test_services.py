from support.pages import page, prose

from weboid.assets import toml_next_to
from weboid.core.document.document import document_of
from weboid.core.signs.services import service_suspicion, services

LIVING = toml_next_to(__file__)["living"]
WATCH = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
DATA = 'var ytInitialPlayerResponse = {"playabilityStatus":{"status":"%s"}};'


def judged(url: str, title: str, body: str = "") -> tuple[str, ...]:
    content = page(title, body=body)
    seen = service_suspicion(url, document_of(content, "text/html", url), content)
    return seen.signals if seen else ()


def test_a_video_that_is_gone_is_known_by_title_data_or_heading_and_a_living_one_lives() -> None:
    gone = DATA % 'ERROR","reason":"Video unavailable'
    private = DATA % 'LOGIN_REQUIRED","messages":["This is a private video. Please sign in'
    assert judged(WATCH, " - YouTube") == ("service:youtube", "title")
    assert judged(WATCH, "Video", f"<script>{gone}</script>") == ("service:youtube", "mark")
    assert judged(WATCH, "Video", f"<script>{private}</script>") == ("service:youtube", "mark")
    assert judged(WATCH, "YouTube", "<h1>This video is private.</h1>") == ("service:youtube", "heading")
    for status in ("OK", 'LOGIN_REQUIRED","reason":"Sign in to confirm your age', "UNPLAYABLE"):
        assert judged(WATCH, "How to sail - YouTube", f"<script>{DATA % status}</script>") == (), status


def test_the_same_words_on_other_hosts_and_paths_say_nothing() -> None:
    for url in ("https://site.test/watch?v=1", "https://www.youtube.com/about/"):
        assert judged(url, " - YouTube", f"<script>{DATA % 'ERROR'}</script>") == ()


def test_a_shell_is_a_wall_but_one_with_a_text_or_of_another_host_lives() -> None:
    shell = page("X", body="<script>render()</script>")
    for url, word in (("https://x.com/a/status/1", "bot-wall"), ("https://x.test/a/status/1", None)):
        seen = service_suspicion(url, document_of(shell, "text/html", url), shell)
        assert (seen and seen.reason.word) == word
    assert judged("https://x.com/a/status/1", "X", f"<script>render()</script><p>{prose(80)}</p>") == ()


def test_every_sign_of_every_service_is_known_on_its_pages_and_on_no_others() -> None:
    for service in services().service:
        url = f"https://www.{service.domains[0]}{service.paths[0]}"
        said = {
            *(("title", title, "") for title in service.titles),
            *(("mark", "Any", f"<!-- -->{mark.decode()}") for mark in service.marks),
            *(("heading", "Any", f"<h1>{saying}</h1>") for saying in service.sayings),
            *(("heading", "Any", f"<div>{saying}</div><p>Home</p>") for saying in service.sayings),
            *(("shell", title, "<script></script>") for title in service.shells),
        }
        for sign, title, body in said:
            assert judged(url, title, body) == (f"service:{service.name}", sign)
            assert judged(url.replace(service.domains[0], "site.test"), title, body) == ()
        for end in service.ends:
            assert judged(f"https://www.{service.domains[0]}{end}", "") == (f"service:{service.name}", "redirect")
        assert said or service.ends, service.name


def test_a_living_work_of_every_service_lives() -> None:
    assert {name for name, *_ in LIVING} == {service.name for service in services().service}
    for name, url, title, body in LIVING:
        assert judged(url, title, body) == (), name


def test_the_table_names_where_each_state_and_a_living_work_were_seen() -> None:
    for service in services().service:
        assert all((service.seen, service.living, service.paths, service.domains)), service.name
        assert all(mark == mark.lower() for mark in service.marks), service.name

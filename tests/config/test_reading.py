from ipaddress import ip_network
from pathlib import Path

import pytest

from weboid.assets import toml_next_to
from weboid.config import Config, load_config
from weboid.errors import ConfigError

_CASES = toml_next_to(__file__)


def load(tmp_path: Path, toml: str, **environ: str) -> Config:
    file = tmp_path / "weboid.toml"
    file.write_text(toml, encoding="utf-8")
    return load_config(file, {"HOME": "/nowhere", **environ})


def test_farms_and_wikis_are_configuration(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        [farm.OSM]
        code = 2
        api = "https://wiki.openstreetmap.org/w/api.php"
        domains = ["openstreetmap.org"]
        [wiki."dewiki"]
        [wiki."osmwiki@OSM"]
        namespaces = [0, 102]
        links = {permadead = ["gone.example"]}
        dead_after = {missing = 28}
        """,
    )
    assert [farm.name for farm in config.farms] == ["wmflabs", "WMF", "OSM"]
    assert [str(wiki.name) for wiki in config.wikis] == ["dewiki@WMF", "osmwiki@OSM"]
    assert config.wikis[1].matching == {"namespaces": [0, 102]}
    rules = {"links": {"permadead": ["gone.example"]}, "dead_after": {"missing": 28}}
    assert [wiki.rules for wiki in config.wikis] == [{}, rules]


@pytest.mark.parametrize(("toml", "environ", "output"), _CASES["faults"])
def test_what_cannot_be_used_is_named(tmp_path: Path, toml: str, environ: dict[str, str], output: str) -> None:
    with pytest.raises(ConfigError, match=output):
        load(tmp_path, toml, **environ)


def test_the_operator_is_named_with_a_page_that_explains_the_bot(tmp_path: Path) -> None:
    config = load(tmp_path, 'contact = "me@example.org"\n[web]\nurl = "https://links.example.org/"\n')
    assert config.net.user_agent.endswith(" (+https://links.example.org/bot; me@example.org)")


def test_lists_are_read_from_the_file_and_with_commas_from_variables(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        '[crawl]\nstop = ["a.example", "b.example"]\nstrict = true\n[net]\nweb_ports = [8080, 8443]\n',
        WEBOID_CRAWL_STOP_FILE="/tmp/stop.txt",
        WEBOID_NET_PERMIT="127.0.0.0/8, ::1",
        WEBOID_NET_DNS="127.0.0.1:5300",
    )
    assert config.crawl.stop == ("a.example", "b.example")
    assert config.crawl.strict
    assert config.crawl.stop_file == Path("/tmp/stop.txt")
    assert config.net.web_ports == (8080, 8443)
    assert config.net.permit == (ip_network("127.0.0.0/8"), ip_network("::1"))
    assert config.net.dns == ("127.0.0.1:5300",)


def test_archives_are_asked_as_usual_or_as_configured(tmp_path: Path) -> None:
    usual = load_config(None, {"HOME": "/nowhere"}).archive.services
    assert [service.name for service in usual][:2] == ["wayback", "arquivo"]
    config = load(
        tmp_path,
        '[archive]\nservices = ["archive-it", "wayback"]\n[archive.wayback]\nper_minute = 12\n',
        WEBOID_ARCHIVE_ARCHIVE_IT_BASE="http://127.0.0.1:8097/all/",
        WEBOID_ARCHIVE_WAYBACK_REPLAY_PER_MINUTE="0",
    )
    first, second = config.archive.services
    assert (first.name, first.base) == ("archive-it", "http://127.0.0.1:8097/all")
    assert first.public == "https://wayback.archive-it.org/all", "readers are sent to the archive, not to a stand-in"
    assert (second.per_minute, second.replay_per_minute, second.base) == (12, 0, "https://web.archive.org")


def test_an_archive_that_is_not_asked_by_default_is_asked_where_somebody_says(tmp_path: Path) -> None:
    config = load(tmp_path, '[archive.padicat]\nbase = "https://x.example/wayback"\ncountries = ["cat"]\n')
    last = config.archive.services[-1]
    assert (last.name, last.dialect, last.countries) == ("padicat", "pywb", ("cat",))
    assert len(config.archive.services) == len(Config(Path()).archive.services) + 1

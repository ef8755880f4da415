import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.config import BackupConfig, EmbeddedConfig, load_config, read_config
from weboid.config.names import TYPES, nested_variable, variable
from weboid.errors import ConfigError

_CASES = toml_next_to(__file__)

WIKIS = {"dewiki@WMF": {"namespaces": [0]}, "osmwiki@OSM": {"source": "api"}}
FARMS = {"OSM": {"code": 2, "api": "https://wiki.example.org/w/api.php", "domains": ["example.org"]}}
OF_TOOLFORGE = _CASES["toolforge"]
"""The variables of the platform in every container."""
OF_KUBERNETES = _CASES["kubernetes"]
"""Service links: a tool that is called weboid has a service of that name."""


@pytest.mark.parametrize(("environ", "port"), _CASES["sources"])
def test_each_source_beats_the_one_before(environ: dict[str, str], port: int) -> None:
    assert load_config(None, environ).web.port == port


@pytest.mark.parametrize(
    "text",
    [
        'wiki."dewiki@WMF".namespaces = [0]',
        '[wiki."dewiki@WMF"]',
        "\n[wiki.dewiki]",
        'contact = "me@example.org"\n[wiki.dewiki]\nnamespaces = [0]\n',
    ],
)
def test_a_text_of_one_line_is_no_name_of_a_file(text: str) -> None:
    assert [str(wiki.name) for wiki in load_config(None, {"WEBOID_CONFIG": text}).wikis] == ["dewiki@WMF"]


def test_a_named_file_is_read_and_the_option_beats_it(tmp_path: Path) -> None:
    named, given = tmp_path / "named.toml", tmp_path / "given.toml"
    named.write_text('contact = "named"\ncrawl.delay = 2.5\ncrawl.per_host = 7', encoding="utf-8")
    given.write_text('contact = "given"', encoding="utf-8")
    assert load_config(None, {"WEBOID_CONFIG": str(named)}).contact == "named"
    assert load_config(given, {"WEBOID_CONFIG": str(named)}).contact == "given"
    crawl = load_config(named, {"WEBOID_CRAWL_DELAY": "0"}).crawl
    assert (crawl.delay, crawl.per_host) == (0.0, 7), "a variable wins over the file"
    with pytest.raises(ConfigError, match=r"nowhere\.toml, which WEBOID_CONFIG names: No such file or directory$"):
        load_config(None, {"WEBOID_CONFIG": str(tmp_path / "nowhere.toml")}, search=True)
    with pytest.raises(ConfigError, match="nowhere"):
        load_config(tmp_path / "nowhere.toml", {})


@pytest.mark.parametrize("prefix", ["TOOL", "WEBOID"])
def test_wikis_and_farms_are_tables_in_json(prefix: str) -> None:
    environ = {f"{prefix}_WIKI": json.dumps(WIKIS), f"{prefix}_FARM": json.dumps(FARMS)}
    config = load_config(None, {**environ, "WEBOID_CONFIG": "[wiki.enwiki]"})
    assert [str(wiki.name) for wiki in config.wikis] == list(WIKIS), "the variable takes the place of the table"
    assert config.wikis[0].matching == {"namespaces": [0]}
    assert config.farms[-1].name == "OSM"


def test_nested_variables_are_read_as_peers_write_them() -> None:
    config = load_config(
        None,
        {
            "TOOL_NET__CONNECTIONS": "1000",
            "TOOL_NET__DNS": '["127.0.0.1:53", "[::1]:53"]',
            "TOOL_CRAWL__STRICT": "true",
            "TOOL_CRAWL__STOP": "a.example, b.example",
            "TOOL_PEOPLE__CLIENT": "12345",
            "TOOL_PEOPLE__CLIENT_SECRET": '["no list',
            "TOOL_CONTACT": '"me@example.org"',
            "TOOL_ARCHIVE__ARCHIVE_IT__PER_MINUTE": "3",
            "TOOL_ARCHIVE__SERVICES": '["archive-it"]',
            "TOOL_REPLICA__USER": "other",
            **OF_TOOLFORGE,
        },
    )
    assert (config.net.connections, config.net.dns) == (1000, ("127.0.0.1:53", "[::1]:53"))
    assert (config.crawl.strict, config.crawl.stop) == (True, ("a.example", "b.example"))
    assert (config.people.client, config.people.client_secret) == ("12345", '["no list')
    assert config.contact == "me@example.org"
    assert [(each.name, each.per_minute) for each in config.archive.services] == [("archive-it", 3)]
    assert (config.replica.user, config.replica.password) == ("other", '["secret')


def test_what_platforms_set_under_such_names_is_passed_over() -> None:
    config = load_config(None, {**OF_TOOLFORGE, **OF_KUBERNETES, "HOME": "/home/x", "WEBOID_DATABASE": "dbname=x\n"})
    assert (config.web.port, config.replica.user, config.database) == (8000, "u123", "dbname=x")


@pytest.mark.parametrize(("name", "near"), _CASES["typing-errors"])
def test_a_typing_error_is_shown_with_what_was_meant(name: str, near: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}: .*did you mean {near}\?"):
        load_config(None, {name: "1"})


@pytest.mark.parametrize(("environ", "output"), _CASES["faults"])
def test_what_cannot_be_used_is_shown_with_its_variable(environ: dict[str, str], output: str) -> None:
    with pytest.raises(ConfigError, match=output):
        load_config(None, environ)


def test_all_faults_are_shown() -> None:
    reading = read_config(None, {"PORT": "x", "WEBOID_CRAWL_DELY": "1", "WEBOID_CONFIG": "surprise = 1\n[wiki.X]"})
    printed = "\n".join(reading.faults)
    assert reading.config is None
    assert all(word in printed for word in ("PORT", "WEBOID_CRAWL_DELY", "surprise", "'X'"))
    with pytest.raises(ConfigError, match=r"and 3 more: weboid config --check"):
        load_config(None, {"PORT": "x", "WEBOID_CRAWL_DELY": "1", "WEBOID_CONFIG": "surprise = 1\n[wiki.X]"})


def test_no_secret_is_shown() -> None:
    environ = {"WEBOID_WEB_SECRET": "very\nsecret", "TOOL_PEOPLE": '{"client_secret": ["very secret"]}'}
    environ |= {"WEBOID_DATABASE": "password=very\nsecret", "WEBOID_ARCHIVE_SAVE_KEY": "very\nsecret"}
    printed = "\n".join(read_config(None, environ).faults)
    assert "WEBOID_WEB_SECRET" in printed
    assert all(word in printed for word in ("TOOL_PEOPLE", "database", "save_key"))
    assert "very" not in printed


def test_folders_are_none_where_they_are_empty() -> None:
    config = load_config(None, {"WEBOID_BACKUP_FOLDER": "", "WEBOID_EMBEDDED_WAL": "~/wal"})
    assert config.backup == BackupConfig(None, 14)
    assert config.embedded == EmbeddedConfig(Path("~/wal").expanduser())
    assert load_config(None, {"WEBOID_BACKUP_FOLDER": "/b", "TOOL_BACKUP__KEEP": "3"}).backup == BackupConfig(
        Path("/b"), 3
    )


def test_the_files_of_deployments_name_known_variables_only() -> None:
    root = Path(__file__).resolve().parents[2]
    files = [file for name in ("deploy", "toolforge") for file in (root / name).rglob("*") if file.is_file()]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    names = set(re.findall(r"\b(?:WEBOID_[A-Z][A-Z_]*[A-Z]|TOOL_[A-Z_]+__[A-Z_]+)\b", text))
    assert {"WEBOID_DATABASE", "WEBOID_WIKI", "WEBOID_IMAGE"} <= names
    faults = "\n".join(read_config(None, dict.fromkeys(names, "1")).faults)
    assert "there is no such variable" not in faults, faults


NAMES = st.sampled_from([name for path in TYPES for name in (variable(path), nested_variable(path))])
TEXTS = st.text() | st.sampled_from(["{}", "[]", '{"x": {}}', '"', "[" * 3000, "1e999", "inf", "~", "=", "[a]\nb = 1"])


@settings(max_examples=40)
@given(st.dictionaries(NAMES | st.sampled_from(["WEBOID_CONFIG", "TOOL_NET", "TOOL_ARCHIVE", "PORT"]), TEXTS))
def test_no_text_raises_anything_but_our_error(environ: dict[str, str]) -> None:
    reading = read_config(None, environ)
    assert bool(reading.faults) == (reading.config is None)

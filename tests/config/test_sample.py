import re
from dataclasses import fields
from hashlib import sha256
from pathlib import Path

import pytest
from support.commands import Place

from weboid.assets import toml_next_to
from weboid.config import SETTINGS_TITLE, Config, effective_lines, load_config, read_config, sample
from weboid.config.names import TYPES, variable
from weboid.config.sample import documentation
from weboid.config.sections import SECTIONS

_CASES = toml_next_to(__file__)

_SECRETS = {
    "WEBOID_WEB_SECRET": "hush-web" * 4,
    "WEBOID_WEB_TOKENS": f"bot:{'5ec2e7' * 10}5ec2",
    "TOOL_REPLICA_PASSWORD": "hush-replica",
    "WEBOID_PEOPLE_CLIENT_SECRET": "hush-client",
    "WEBOID_ARCHIVE_SAVE_KEY": "hush-key",
    "WEBOID_ARCHIVE_SAVE_SECRET": "hush-secret",
    "WEBOID_DATABASE": "host=x password=hush-database",
}


def defaults() -> Config:
    return load_config(None, {"HOME": "/home/x"})


def test_the_sample_gives_the_defaults_as_it_is_and_with_every_key_in_force(tmp_path: Path) -> None:
    in_force = re.sub(r"^#(?=\[|[a-z_]+ = )", "", sample(), flags=re.MULTILINE)
    assert in_force.count("\n") == sample().count("\n")
    for text in (sample(), in_force):
        file = tmp_path / "weboid.toml"
        file.write_text(text, encoding="utf-8")
        assert load_config(file, {"HOME": "/home/x"}) == defaults()
    printed = {variable(path) for path in TYPES if path[0] != "archive" or len(path) == 2}
    printed -= {"WEBOID_WIKI", "WEBOID_FARM"}
    assert printed <= set(re.findall(r"WEBOID_[A-Z_]+", sample()))
    keys = {line.partition(" = ")[0] for line in in_force.splitlines() if not line.startswith("#")}
    assert {field.name for kind in SECTIONS.values() for field in fields(kind)} <= keys
    assert f'settings = "{SETTINGS_TITLE}"' in sample()


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_says_what_it_is(section: str) -> None:
    about, texts = documentation(SECTIONS[section])
    assert about
    assert set(texts) == {field.name for field in fields(SECTIONS[section])}
    assert not re.search(r"``|\([A-Z]-\d", about + "".join(texts.values()))


def test_what_holds_is_shown_with_its_source_and_without_secrets(tmp_path: Path) -> None:
    file = tmp_path / "weboid.toml"
    file.write_text('contact = "me@example.org"\n[crawl]\ndelay = 2\n[wiki.dewiki]\nnamespaces = [0]\n', "utf-8")
    environ = {**_SECRETS, "PORT": "8123", "TOOL_NET__CONNECTIONS": "7", "WEBOID_ARCHIVE_WAYBACK_PER_MINUTE": "3"}
    lines = list(effective_lines(read_config(file, environ)))
    assert f'contact = "me@example.org"  # {file}' in lines
    assert f"delay = 2.0  # {file}" in lines
    assert "per_host = 60  # default" in lines
    assert "port = 8123  # PORT" in lines
    assert "connections = 7  # TOOL_NET__CONNECTIONS" in lines
    assert 'secret = "***"  # WEBOID_WEB_SECRET' in lines
    assert "per_minute = 3  # WEBOID_ARCHIVE_WAYBACK_PER_MINUTE" in lines
    assert f'[wiki."dewiki@WMF"]  # {file}' in lines
    assert not {word for word in ("hush", "5ec2e7") if word in "\n".join(lines)}
    again = tmp_path / "again.toml"
    again.write_text("\n".join(line for line in lines if "***" not in line and "save_" not in line), encoding="utf-8")
    # What is printed can be read, but for the two built-in farms, which cannot be configured.
    assert read_config(again, {}).faults == ("two farms have one code; 0 and 1 are taken by wmflabs and WMF",)


async def test_the_command_prints_checks_and_names_every_fault(tmp_path: Path) -> None:
    place = Place(tmp_path)
    written = await place.run("config")
    assert (written.status, written.out) == (0, sample())
    (tmp_path / "weboid.toml").write_text(written.out, encoding="utf-8")
    place.environ = {**_SECRETS, "WEBOID_WIKI": '{"dewiki@WMF": {"namespaces": [0]}}'}
    fine = await place.run("config", "--check")
    assert (fine.status, fine.out) == (0, "ok: weboid.toml, 9 keys by variables, wikis to watch: 1\n")
    effective = (await place.run("config", "--effective")).out
    assert not {word for word in ("hush", "5ec2e7") if word in effective}
    place.environ = {"WEBOID_CRAWL_DELY": "1", "PORT": "x", "WEBOID_WIKI": '{"nowhere@X": {}}'}
    wrong = await place.run("config", "--check")
    assert (wrong.status, wrong.out) == (2, "")
    assert [word in wrong.err for word in ("WEBOID_CRAWL_DELAY?", "PORT", "nowhere@X")] == [True] * 3
    place.environ = {"WEBOID_WIKI": '{"dewiki": {"namspaces": [0]}}'}
    criteria = await place.run("config", "--check")
    assert criteria.status == 2
    assert "namspaces" in criteria.err


async def test_the_check_warns_of_weak_tokens_and_repeats_nothing_of_them(tmp_path: Path) -> None:
    place = Place(tmp_path)
    guessed, good, other = (sha256(token.encode()).hexdigest() for token in ("secret", "a" * 64, "b" * 64))
    place.environ = {
        "WEBOID_WEB_TOKENS": f"bot:{good}",
        "WEBOID_WEB_CRAWLERS": f"far:{good},near:{guessed}",
        "WEBOID_WEB_FEEDERS": f"fed:{other},some:{other}:dewiki",
        "WEBOID_CRAWL_TOKEN": "short",
    }
    weak = await place.run("config", "--check")
    assert weak.status == 0
    for words in (
        "crawlers: the token of near can be guessed",
        "fed may feed all wikis",
        "that of bot in tokens and of far in crawlers",
        "WEBOID_CRAWL_TOKEN is shorter",
    ):
        assert words in " ".join(weak.err.split()), words
    assert "some may" not in weak.err
    assert not {each for each in (guessed, good, other) if each[:8] in weak.err}


async def test_what_a_part_would_refuse_at_its_start_is_a_fault(tmp_path: Path) -> None:
    # Checked, all was “ok”, and the part that was started then ended.
    for name, value, output in _CASES["refused"]:
        wrong = await Place(tmp_path, environ={name: value}).run("config", "--check")
        assert (wrong.status, wrong.out) == (2, ""), name
        assert output in wrong.err
        assert "hush" not in wrong.err

"""No address that must not be contacted can be reached (C-13): over a thousand attempts, end to end.

The attempts are in ``support/attempts``. One law: with an open guard the same attempts arrive.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from support.attempts import HONEST, Attempt, secret_servers, try_all
from support.misbehaving import Act, Asked, head_only, name_server, reply, serve

from weboid.config import NetConfig
from weboid.net import dns

NEAR = {"127.0.0.1": "127.0.0.0/8", "0.0.0.0": "0.0.0.0/32", "::1": "::1/128", "::": "::/128"}
"""What leads to the two plain loopback addresses on any machine, and how that is permitted."""
_TESTS = Path(__file__).parents[1]
_ALL_ADDRESSES = """
ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo && exec "$@"
"""


@pytest.fixture(autouse=True)
def names_change_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "SHORTEST_TTL_S", 0)


@pytest.fixture
def settings(settings: NetConfig) -> NetConfig:
    """Some attempts end only when time is up."""
    return replace(settings, connect_s=2.0, answer_s=2.0)


def loopback(port: int) -> Iterator[tuple[str, int]]:
    """The secret servers that every machine can have."""
    yield "127.0.0.1", port
    yield "::1", port


def is_near(attempt: Attempt) -> bool:
    """Whether an attempt leads to them from here: no IPv6 is dialled where it leads nowhere."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        ipv6 = not probe.connect_ex(("2000::1", 443))
    is_ipv6 = ":" in attempt.aim or "[" in attempt.url or any(b"[" in sent for sent in attempt.replies)
    return attempt.aim in NEAR and (ipv6 or not is_ipv6) and attempt.kind != "the scheme's own port"


async def test_no_attempt_reaches_a_secret_server_or_dials_anybody_but_the_honest_one(settings: NetConfig) -> None:
    outcome = await try_all(replace(settings, permit=(ip_network(HONEST),)), loopback)
    print(outcome.by_kind())
    assert len(outcome.attempts) >= 200
    assert min(outcome.by_kind().values()) > 1
    assert (outcome.connections, outcome.arrived) == (0, set())
    assert {address for address, _ in outcome.dialled} <= {HONEST, "::ffff:7f00:2"}


async def test_the_same_attempts_on_loopback_arrive_where_loopback_is_permitted(settings: NetConfig) -> None:
    near = tuple(map(ip_network, NEAR.values()))
    outcome = await try_all(replace(settings, permit=near), loopback, only=is_near)
    assert len(outcome.arrived) >= 200
    assert outcome.strange == []


def test_in_a_network_where_every_address_has_a_secret_server_no_attempt_arrives() -> None:
    guarded = tried_where_all_is_near()
    assert sum(guarded["by_kind"].values()) >= 200
    assert (guarded["connections"], guarded["arrived"]) == (0, 0)
    assert set(guarded["dialled"]) <= {HONEST, "::ffff:7f00:2"}


def test_in_a_network_where_every_address_has_a_secret_server_all_attempts_arrive_if_all_is_permitted() -> None:
    opened = tried_where_all_is_near("open")
    assert opened["arrived"] >= 800
    assert opened["strange"] == []
    assert len(opened["dialled"]) >= 60


def tried_where_all_is_near(*words: str) -> dict[str, Any]:
    """What came of all attempts in a network namespace whose every address is local."""
    unshare = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    inside = [*unshare, "sh", "-c", _ALL_ADDRESSES, "sh"]
    try:
        probe = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        pytest.skip(f"a network of its own needs util-linux and iproute2: {missing}")
    if probe.returncode:
        pytest.skip(f"a network of its own is not to be had here: {probe.stderr.strip()}")
    program = [sys.executable, "-m", "support.attempts", *words]
    ran = subprocess.run([*inside, *program], cwd=_TESTS, capture_output=True, text=True, check=False, timeout=100)
    assert ran.returncode == 0, ran.stderr
    result: dict[str, Any] = json.loads(ran.stdout)
    return result


SCHEMES = ("http", "https", "all", "ftp", "socks", "ws")


async def test_no_proxy_of_the_environment_is_used(tmp_path: Path) -> None:
    def honest(asked: Asked) -> Act:
        return head_only(asked, reply(200, body=b"honest"))

    async with (
        serve(honest, ip=HONEST) as site,
        secret_servers([("127.0.0.1", 0)]) as calls,
        name_server({"site.demo": [HONEST]}) as server,
    ):
        proxy = f"127.0.0.1:{calls.port}"
        (tmp_path / ".netrc").write_text(f"machine {HONEST} login a password b\n")
        environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | {
            "HOME": str(tmp_path),
            "WEBOID_NET_PERMIT": f"{HONEST}/32",
            "WEBOID_NET_DNS": server.address,
            "WEBOID_CRAWL_DELAY": "0",
        }
        way = {f"{scheme}_proxy": f"http://{proxy}" for scheme in SCHEMES}
        way |= {f"{scheme}_PROXY".upper(): f"socks5://user:word@{proxy}" for scheme in SCHEMES}
        urls = [site.url("/a"), site.url("/b", host="site.demo"), f"http://127.0.0.1:{calls.port}/"]
        printed = await output([sys.executable, "-m", "weboid", "check", "--json", *urls], environ | way, tmp_path)
        assert [json.loads(line)["reason"] for line in printed.splitlines()] == ["ok", "ok", "not-public"]
        assert calls == []
        # The environment is one that others do heed.
        program = f"import urllib.request; print(urllib.request.urlopen({urls[0]!r}).read())"
        assert "secret" in await output([sys.executable, "-c", program], environ | way, tmp_path)
        assert len(calls) == 1
    assert len([asked for asked in site.asked if asked.target in ("/a", "/b")]) == 2
    assert not any("Authorization" in asked.headers for asked in site.asked)


async def output(command: list[str], environ: dict[str, str], folder: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    return out.decode()

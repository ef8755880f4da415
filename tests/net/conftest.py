"""What works on sockets of the event loop itself is tested on both loops: asyncio's own and uvloop."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from ipaddress import ip_network

import pytest
import uvloop

from weboid.config import NetConfig

_OF_THE_LOOP = {"test_connection", "test_dial", "test_dns", "test_engine", "test_ftp", "test_sftp", "test_watch"}


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Both loops for such modules; for what stands on them the one that the program runs on."""
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop, **loops} if item.path.stem in _OF_THE_LOOP else loops


@pytest.fixture
def settings() -> NetConfig:
    """Loopback may be asked; no answer that comes at all is too late, however busy the machine."""
    return NetConfig(
        user_agent="Weboid/0 (+https://tools.example/weboid; weboid@tools.example)",
        permit=(ip_network("127.0.0.0/8"),),
        connect_s=30.0,
        answer_s=30.0,
    )


@pytest.fixture
def hasty(settings: NetConfig) -> NetConfig:
    """For tests in which what is waited for never comes."""
    return replace(settings, connect_s=0.3, answer_s=0.3)

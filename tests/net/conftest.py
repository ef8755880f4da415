"""Every test of net runs on both event loops: asyncio's own and uvloop."""

import asyncio
from collections.abc import Callable, Mapping
from ipaddress import ip_network

import pytest
import uvloop
from support.misbehaving import Certificates

from weboid.config import NetConfig

_PROGRAMS_ASK = "test_no_proxy_of_the_environment_is_used"


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Both loops; but one where it is programs that ask, which choose their loop themselves."""
    if item.name.startswith(_PROGRAMS_ASK):
        return {"uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
def settings() -> NetConfig:
    """Loopback may be asked; nothing takes long."""
    return NetConfig(
        user_agent="Weboid/0 (+https://tools.example/weboid; weboid@tools.example)",
        permit=(ip_network("127.0.0.0/8"),),
        connect_s=1.0,
        answer_s=0.5,
    )


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """One authority for all tests."""
    return Certificates(tmp_path_factory.mktemp("certificates"))

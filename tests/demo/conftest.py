"""The little web, which has sockets of its own, runs on both loops: uvloop where it installs, asyncio otherwise."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Both loops for it, and one for the others, which aiohttp serves."""
    both = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return both if item.path.name == "test_littleweb.py" else {"asyncio": asyncio.new_event_loop}

"""The little servers run on both event loops: uvloop where it installs, asyncio everywhere else."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Both loops."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}

"""For the tests of backup and restore."""

from pathlib import Path

import pytest

from weboid.store.backup.client_programs import Runner
from weboid.store.embedded.folder import Folder


@pytest.fixture(scope="session")
def runner(server_dsn: str, server_folder: Path) -> Runner:
    """Who runs PostgreSQL's programs beside the tests' server."""
    data = server_folder / "data"
    return Runner.of(Folder.of(data).account if (data / "postgres").exists() else None, data)

from pathlib import Path

import pytest

from weboid.store.backup.client_programs import Runner
from weboid.store.embedded import embedded_folder


@pytest.fixture(scope="session")
def runner(server_dsn: str, server_folder: Path) -> Runner:
    """The runner of PostgreSQL's programs for the tests' server."""
    data = server_folder / "data"
    return Runner.of(embedded_folder(data).account if (data / "postgres").exists() else None, data)

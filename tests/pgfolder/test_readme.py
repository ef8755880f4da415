import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
from support.clusters import kill_server

from weboid import pgfolder
from weboid.pgfolder.application import Application
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.server import open_server

_PACKAGE = Path(pgfolder.__file__).parent


def test_the_example_of_the_readme_runs_and_its_files_have_the_name_of_the_application(server_folder: Path) -> None:
    example = re.search(r"```python\n(.*?)```", (_PACKAGE / "README.md").read_text(encoding="utf-8"), re.S)
    assert example
    place = server_folder / "example"
    place.mkdir(mode=0o711)
    program, env = [sys.executable, "-c", example[1]], os.environ | {"PYTHONPATH": str(_PACKAGE.parents[1])}
    run = subprocess.run(program, cwd=place, env=env, capture_output=True, text=True, check=True)
    assert run.stdout == "('notes', 'notes')\n"
    folder = Folder.of(place / "data", app=Application("notes"))
    assert "# Notes's map" in (folder.cluster / "pg_ident.conf").read_text()
    with open_server(folder) as server, psycopg.connect(server.dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    kill_server(place / "data")


def test_its_tests_and_modules_import_nothing_else_of_weboid() -> None:
    modules = [*_PACKAGE.glob("*.py"), *Path(__file__).parent.glob("*.py"), Path(kill_server.__code__.co_filename)]
    for module in modules:
        imported = re.findall(r"^(?:from|import) (weboid[\w.]*)(?: import (\w+))?", module.read_text(), re.M)
        assert {
            name for name, what in imported if not name.startswith("weboid.pgfolder") and what != "pgfolder"
        } == set(), module

"""How tests run: beside each other, but those marked ``alone``; and the line with which a run ends.

Workers of pytest-xdist take tests from one list. What measures time closely, or needs all cores, is marked ``alone``:
no worker runs anything else meanwhile. Marked ``long`` is what ``make test-long`` runs.
"""

import fcntl
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

import pytest

_T = TypeVar("_T")
_FOLDER: Final = "weboid_turns"


class _Turns:
    """Turns of one worker at the machine: two locks that the workers share, held by files."""

    def __init__(self, folder: Path) -> None:
        self._door = (folder / "door").open("wb")
        self._room = (folder / "room").open("wb")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, _T, _T]:
        """Waits for its turn before any time of the test is counted."""
        # Who waits for the room stands in the door, so that nobody else goes in meanwhile.
        fcntl.flock(self._door, fcntl.LOCK_EX)
        fcntl.flock(self._room, fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH)
        fcntl.flock(self._door, fcntl.LOCK_UN)
        try:
            return (yield)
        finally:
            fcntl.flock(self._room, fcntl.LOCK_UN)

    def pytest_unconfigure(self) -> None:
        self._door.close()
        self._room.close()


class _Run:
    """The whole run, as whoever started it sees it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stack = ExitStack()
        self._folder = ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tells a worker where the locks are."""
        self._folder = self._folder or self._stack.enter_context(TemporaryDirectory(prefix="weboid-turns-"))
        node.workerinput[_FOLDER] = self._folder

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, _T, _T]:
        """After all that pytest says: one line that programs can read."""
        result = yield
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter and not self._config.option.collectonly:
            passed, failed, errors, skipped = (
                len(reporter.stats.get(name, ())) for name in ("passed", "failed", "error", "skipped")
            )
            reporter.write_line(f"{passed} passed, {failed + errors} failed, {skipped} skipped")
        return result

    def pytest_unconfigure(self) -> None:
        self._stack.close()


def pytest_configure(config: pytest.Config) -> None:
    """A worker waits for its turns; who started the workers closes the run."""
    workerinput: dict[str, Any] | None = getattr(config, "workerinput", None)
    if workerinput is None:
        config.pluginmanager.register(_Run(config))
    else:
        config.pluginmanager.register(_Turns(Path(workerinput[_FOLDER])))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs alone comes last: until then both cores have something to do."""
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)

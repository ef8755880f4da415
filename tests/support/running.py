"""Which tests run in parallel with which, and the line with which a run ends.

Workers of pytest-xdist take tests from one list, first those that measure no time. Tests of the folders `_TIMED` or
marked ``timed`` run in parallel with such tests only, each on its own core; tests marked ``alone`` run with no others.
Tests marked ``long`` are left to ``make test-long``.
"""

import fcntl
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

_T = TypeVar("_T")
_TESTS: Final = Path(__file__).resolve().parents[1]
_TIMED: Final = {"archive", "checking", "crawl", "net"}
"""Folders whose tests set limits of fractions of a second."""

_KINDS: Final = ("any", "timed", "alone")
"""In this order they run."""

_FOLDER: Final = "weboid_turns"
_AHEAD: Final = 4
"""Tests that a worker is given at a time; of two it has, it runs the first."""


def _kind(item: pytest.Item) -> str:
    if item.get_closest_marker("alone"):
        return "alone"
    is_timed = item.get_closest_marker("timed") or item.path.relative_to(_TESTS).parts[0] in _TIMED
    return "timed" if is_timed else "any"


class _Turns:
    """Turns of one worker at the machine. The workers share a lock for each kind of tests, and one for the door."""

    def __init__(self, folder: Path) -> None:
        self._door = (folder / "door").open("wb")
        self._rooms = {kind: (folder / kind).open("wb") for kind in _KINDS}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, _T, _T]:
        """Waits for its turn before any time of the test is counted."""
        kind = _kind(item)
        # Who waits stands in the door: nobody else comes in until all tests of other kinds have ended.
        fcntl.flock(self._door, fcntl.LOCK_EX)
        for other in self._rooms.keys() - {kind}:
            fcntl.flock(self._rooms[other], fcntl.LOCK_EX)
            fcntl.flock(self._rooms[other], fcntl.LOCK_UN)
        fcntl.flock(self._rooms[kind], fcntl.LOCK_EX if kind == "alone" else fcntl.LOCK_SH)
        fcntl.flock(self._door, fcntl.LOCK_UN)
        try:
            return (yield)
        finally:
            fcntl.flock(self._rooms[kind], fcntl.LOCK_UN)

    def pytest_unconfigure(self) -> None:
        for file in (self._door, *self._rooms.values()):
            file.close()


class _InOrder(LoadScheduling):  # type: ignore[misc]
    """Hands tests out in their order, few at a time, so that all workers come to the next kind together."""

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Called when a worker has ended a test."""
        if self.pending and not node.shutting_down:
            self._send_tests(node, max(0, _AHEAD - len(self.node2pending[node])))
        else:
            super().check_schedule(node, duration)


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

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> LoadScheduling | None:
        """Instead of --dist load, which is what -n means."""
        return _InOrder(config, log) if config.getvalue("dist") == "load" else None

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
    """Those that measure no time first, those that run alone last."""
    items.sort(key=lambda item: _KINDS.index(_kind(item)))

"""Which tests run in parallel with which, and the line with which a run ends.

Workers of pytest-xdist take tests from one list, first those that measure no time. Tests marked ``timed`` run in
parallel with such tests only, each on its own core; tests marked ``alone`` run with no others.
Tests marked ``long`` are left to ``make test-long``. What the modules of a group of `_TOGETHER` share takes seconds to
make: one worker runs all their tests.
"""

import fcntl
import gc
import itertools
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
_KINDS: Final = ("any", "timed", "alone")
"""In this order they run."""

_TOGETHER: Final = (
    ("tests/wiki/test_criteria.py", "tests/wiki/test_replica.py", "tests/wiki/test_source_contract.py"),
    ("tests/demo/test_story.py",),
    ("tests/whole/test_repair.py",),
    (
        "tests/archive/lookups/test_look_up.py",
        "tests/archive/visits/test_suggested_copies.py",
        "tests/archive/visits/test_visits_real_archive.py",
    ),
)
"""Beginnings of the names of tests that share something dear: a MariaDB, a story that is told, a web archive."""

_FOLDER: Final = "weboid_turns"
_AHEAD: Final = 4
"""Tests that a worker is given at a time; of two it has, it runs the first."""


def _kind(item: pytest.Item) -> str:
    return next((kind for kind in ("alone", "timed") if item.get_closest_marker(kind)), "any")


def _group(name: str) -> int | None:
    """The number of the group to which the test of this name belongs."""
    return next((number for number, group in enumerate(_TOGETHER) if name.startswith(group)), None)


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

    def pytest_collection_finish(self) -> None:
        """What has been loaded stays to the end: the garbage collector need not look through it again and again."""
        gc.collect()
        gc.freeze()

    def pytest_unconfigure(self) -> None:
        for file in (self._door, *self._rooms.values()):
            file.close()


class _InOrder(LoadScheduling):  # type: ignore[misc]
    """Hands tests out in their order, few at a time, so that all workers come to the next kind together.

    Of tests that belong together whoever gets the first gets all.
    """

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Called when a worker has ended a test."""
        if self.pending and not node.shutting_down:
            self._send_tests(node, max(0, _AHEAD - len(self.node2pending[node])))
        else:
            super().check_schedule(node, duration)

    def _send_tests(self, node: WorkerController, num: int) -> None:
        super()._send_tests(node, self._with_their_group(num) if num > 0 else num)

    def _with_their_group(self, count: int) -> int:
        """So many tests of those that wait, and the rest of the group in whose middle that would end."""
        names = [self.collection[number] for number in self.pending[:count]]
        group = _group(names[-1]) if names else None
        if group is None:
            return count
        rest = itertools.takewhile(lambda number: _group(self.collection[number]) == group, self.pending[count:])
        return count + sum(1 for _ in rest)


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
    """Those that measure no time first, those that run alone last; of each kind first those that belong together."""

    def place(item: pytest.Item) -> tuple[int, int]:
        group = _group(item.nodeid)
        return _KINDS.index(_kind(item)), len(_TOGETHER) if group is None else group

    items.sort(key=place)

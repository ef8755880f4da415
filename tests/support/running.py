"""Which tests run in parallel with which, and the line with which a run ends.

Workers of pytest-xdist take tests from one list, file by file: what the tests of a file share is made once. Some files
share what takes seconds to make: one worker runs all of them (`_TOGETHER`). Tests marked ``long`` are left to
``make test-long``.
"""

import fcntl
import gc
import itertools
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final, TypeVar

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

_T = TypeVar("_T")
_TOGETHER: Final = (
    (
        "tests/wiki/test_criteria.py",
        "tests/wiki/test_replica.py",
        "tests/wiki/test_source_contract.py",
        "tests/cli/test_feeding.py::test_a_wiki_is_fed_from_its_replica",
    ),
    ("tests/whole/test_repair.py",),
    ("tests/archive/lookups/test_look_up.py", "tests/archive/visits/test_suggested_copies.py"),
)
"""Beginnings of the names of tests that share something dear: a MariaDB, a repaired wiki, a web archive."""

LONGEST: Final = (
    "tests/whole/test_story.py",
    "tests/whole/test_gadget.py",
    "tests/whole/test_database_away.py",
    "tests/web/test_browser.py",
    "tests/whole/test_matching.py",
    "tests/whole/test_writers.py",
    "tests/worlds/test_simulated.py",
    "tests/gadget/test_deploy.py",
    "tests/whole/test_gadget_looks.py",
    "tests/web/test_openapi.py",
    "tests/whole/test_benchmarks.py",
)
"""The files that take longest, which begin first: at the end all workers have some of the others left."""

_COMPILED_LAST: Final = Path(__file__).parents[1] / "worlds" / "__pycache__"
_AHEAD: Final = 4
"""Tests that a worker is given at a time, with the rest of their file; of two it has, it runs the first."""


def _group(name: str) -> int | None:
    """The number of the group to which the test of this name belongs."""
    return next((number for number, group in enumerate(_TOGETHER) if name.startswith(group)), None)


def _shares(name: str) -> int | str:
    """What the test of this name shares with others: its group, or its file."""
    return name.partition("::")[0] if (group := _group(name)) is None else group


class _Worker:
    """One of several workers."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, _T, _T]:
        """Where nothing is compiled yet, one worker compiles it, and the others wait for that."""
        with Path(__file__).open("rb") as lock:
            if not sys.dont_write_bytecode and not _COMPILED_LAST.exists():
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    fcntl.flock(lock, fcntl.LOCK_SH)
            return (yield)

    def pytest_collection_finish(self) -> None:
        """What has been loaded stays to the end: the garbage collector need not look through it again and again."""
        gc.collect()
        gc.freeze()


class _InOrder(LoadScheduling):  # type: ignore[misc]
    """Hands tests out in their order, few at a time; of tests that share something, one worker gets all."""

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        if self.pending and not node.shutting_down:
            self._send_tests(node, max(0, _AHEAD - len(self.node2pending[node])))
        else:
            super().check_schedule(node, duration)

    def _send_tests(self, node: WorkerController, num: int) -> None:
        super()._send_tests(node, self._with_their_group(num) if num > 0 else num)

    def _with_their_group(self, count: int) -> int:
        """So many tests of those that wait, and the rest of those that share something with the last of them."""
        if not self.pending:
            return count
        last = _shares(self.collection[self.pending[:count][-1]])
        rest = itertools.takewhile(lambda number: _shares(self.collection[number]) == last, self.pending[count:])
        return count + sum(1 for _ in rest)


class _Run:
    """The whole run, as anyone who started it sees it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

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


def pytest_configure(config: pytest.Config) -> None:
    """Who started the workers closes the run."""
    config.pluginmanager.register(_Worker() if hasattr(config, "workerinput") else _Run(config))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First those that belong together, then those that take longest."""
    first = (*range(len(_TOGETHER)), *LONGEST)

    def place(item: pytest.Item) -> int:
        group = _shares(item.nodeid)
        return first.index(group) if group in first else len(first)

    items.sort(key=place)

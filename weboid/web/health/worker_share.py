"""The folder that the workers of one service share for ``/metrics``: each keeps its own figures there.

``cli/processes/workers`` starts and ends workers. A worker that is started again goes on counting where its predecessor
was killed, so no counter ever falls and the folder does not grow.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, values
from prometheus_client.core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The folder must be in the environment of a worker when it starts: prometheus_client takes it from there."""

_TRIES: Final = 5
_KINDS: Final = ("counter", "histogram", "gauge_livesum", "gauge_livemax")
"""Of figures, as prometheus_client names their files."""
_FILE_BYTES: Final = 256 << 10
"""More than the figures of all routes take. Where the disk has no room for a file, counting in it ends the process."""


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """One worker's place in the folder. `number` counts from 1 and is that of its successor, too."""

    folder: Path
    number: int

    def take(self, pid: int) -> None:
        """Makes this process count there; to be called once, before anything is counted. Raises OSError."""
        values.ValueClass = values.MultiProcessValue(lambda: self.number)
        self._pid_file.write_text(str(pid))
        for kind in _KINDS:
            with (self.folder / f"{kind}_{self.number}.db").open("ab") as file:
                file.write(bytes(max(0, _FILE_BYTES - file.tell())))

    def give_up(self) -> None:
        """To be called by the parent of the worker when that has ended, before another one takes its place."""
        self._pid_file.unlink(missing_ok=True)
        mark_process_dead(self.number, str(self.folder))

    @property
    def _pid_file(self) -> Path:
        return self.folder / f"{self.number}.pid"


class WorkersCollector(Collector):
    """The figures of all workers: their counts are added up, figures of processes are shown of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counted = MultiProcessCollector(CollectorRegistry(), str(folder))

    def collect(self) -> Iterator[Metric]:
        """The metric families of all workers, each with its samples."""
        yield from self._read()
        families: dict[str, Metric] = {}
        for number, pid in sorted(_pids(self._folder).items()):
            for found in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                family = families.setdefault(found.name, Metric(found.name, found.documentation, found.type))
                for sample in found.samples:
                    family.add_sample(sample.name, {**sample.labels, "worker": str(number)}, sample.value)
        yield from families.values()

    def _read(self) -> list[Metric]:
        """Reads the files; one that a worker is just making is read again."""
        for _ in range(_TRIES - 1):
            try:
                return list(self._counted.collect())
            except (OSError, RuntimeError, struct.error):
                continue
        return list(self._counted.collect())


def _pids(folder: Path) -> dict[int, int]:
    """The process of each worker that runs, by the worker's number."""
    found = {}
    for file in folder.glob("*.pid"):
        try:
            found[int(file.stem)] = int(file.read_text())
        except (FileNotFoundError, ValueError):
            continue  # It has just ended, or just begun.
    return found

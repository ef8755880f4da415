"""The image is built and run as operators do: read-only, without rights, with its own database; stopped, run again.

It needs Podman (Debian: podman, buildah, runc) and the image of the Containerfile's BASE, or the one that
WEBOID_TEST_BASE names, which no test fetches. Where no registry of images can be reached, Debian makes one:

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie base
    tar -C base -c . | podman import - localhost/base:trixie

CONTAINERS_CONF and CONTAINERS_STORAGE_CONF say how Podman works; BUILDAH_ISOLATION=chroot helps inside a container.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from weboid import __version__
from weboid.web.http.source_archive import source_files

REPOSITORY = Path(__file__).resolve().parents[2]
CONTAINERFILE = REPOSITORY / "Containerfile"
COMMIT = "c0ffee" + 34 * "0"
HARDENED = ("--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=none", "--memory=2g")
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
SOURCE = """
import json
from pathlib import Path
from weboid.web.http.source_archive import NAME, source_files
print(json.dumps([NAME, [*source_files(Path("/opt/weboid/source/weboid"))]]))
"""
LEFTOVERS = (
    ".git/config", ".venv/a.py", "a.key", "deploy/.env", "deploy/weboid.toml", "gadget/node_modules/a.js",
    "toolforge/envvars", "weboid.toml", "weboid/.a.py.swp", "weboid/__pycache__/leftover.pyc",
)  # fmt: skip
"""What lies about in checkouts, and must not get into an image that is handed on."""
ANSWER = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8000/healthz', timeout=5).read())"

pytestmark = pytest.mark.long


def podman(*words: str, check: bool = True, timeout_s: float = 60) -> str:
    run = subprocess.run(["podman", *words], capture_output=True, text=True, check=False, timeout=timeout_s)
    assert not check or run.returncode == 0, (words, run.stdout[-2000:], run.stderr[-2000:])
    return run.stdout


def until(condition: Callable[[], object], within_s: float = 60) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image, built from this checkout as it is after some time of use."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    found = re.search(r"^ARG BASE=(\S+)", CONTAINERFILE.read_text(encoding="utf-8"), re.M)
    assert found
    base = os.environ.get("WEBOID_TEST_BASE") or found[1]
    if subprocess.run(["podman", "image", "exists", base], capture_output=True, check=False, timeout=60).returncode:
        pytest.skip(f"there is no image {base} here: podman pull it, or name one in WEBOID_TEST_BASE")
    checkout = tmp_path_factory.mktemp("checkout")
    for file, path in source_files(REPOSITORY / "weboid").items():
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, checkout / file)
    for file in LEFTOVERS:
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        (checkout / file).write_text("a secret")
    name = f"localhost/weboid-test:{uuid4().hex[:12]}"
    arguments = [f"--build-arg={key}={value}" for key, value in {"BASE": base, "REVISION": COMMIT}.items()]
    # Behind a proxy that looks into TLS its authority is this machine's, not the base's.
    mounts = [f"--volume={AUTHORITIES}:{AUTHORITIES}:ro"] if AUTHORITIES.exists() else []
    options = ["--format=docker", "--layers=false", "--pull=never", "--network=host", *arguments, *mounts]
    podman("build", *options, f"--tag={name}", str(checkout), timeout_s=300)
    yield name
    podman("image", "rm", "--force", name)


@pytest.fixture
def volume() -> Iterator[str]:
    name = f"weboid-test-{uuid4().hex[:12]}"
    podman("volume", "create", name)
    yield name
    podman("volume", "rm", "--force", name)


class _Container:
    """A container of the image that runs until it is stopped; what is not stopped is removed at the end."""

    def __init__(self, image: str, volume: str) -> None:
        self.name = f"weboid-test-{uuid4().hex[:12]}"
        options = (f"--volume={volume}:/var/lib/weboid", "--no-healthcheck", *HARDENED)
        podman("run", "--detach", "--pull=never", f"--name={self.name}", *options, image)

    def run(self, *words: str, check: bool = True) -> str:
        return podman("exec", self.name, *words, check=check)

    def log(self) -> str:
        """What the container has printed, which Podman prints on the same two streams."""
        command = ["podman", "logs", self.name]
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=True
        )
        return run.stdout

    def answers(self) -> bool:
        return "b'ok\\n'" in self.run("python", "-c", ANSWER, check=False)

    def stop(self) -> tuple[int, float]:
        """Stops it as an operator does; its status, and the seconds that it took."""
        begun = time.monotonic()
        podman("stop", "--time=60", self.name, timeout_s=90)
        taken_s = time.monotonic() - begun
        return int(podman("inspect", "--format={{.State.ExitCode}}", self.name).split()[-1]), taken_s

    def remove(self) -> None:
        podman("rm", "--force", "--time=5", self.name)


@pytest.fixture
def start(image: str, volume: str) -> Iterator[Callable[[], _Container]]:
    running: list[_Container] = []

    def started() -> _Container:
        running.append(_Container(image, volume))
        return running[-1]

    yield started
    for container in running:
        container.remove()


def once(image: str, *words: str, entry: str = "weboid") -> str:
    """What a command prints in a container of its own that may write nothing."""
    return podman("run", "--rm", "--pull=never", "--no-healthcheck", f"--entrypoint={entry}", *HARDENED, image, *words)


def test_the_image_has_what_is_published_under_its_commit_and_nothing_that_it_could_write(image: str) -> None:
    assert __version__ in once(image, "--version")
    name, files = json.loads(once(image, "-c", SOURCE, entry="python"))
    assert name == f"weboid-{__version__}-{COMMIT[:12]}.zip"
    published = {file for file in source_files(REPOSITORY / "weboid") if not file.startswith(("tests/", "benchmarks/"))}
    assert {*files} == published
    found = once(image, "/opt/weboid/source", "-type", "f", "-printf", "%P\\n", entry="find").splitlines()
    assert {file for file in found if "__pycache__" not in file} == published | {"COMMIT"}
    assert not [file for file in found if "leftover" in file]
    assert once(image, "/opt", "/etc/weboid", "-writable", "-not", "-type", "l", entry="find").split() == []
    assert once(image, "-u", entry="id").split() == ["10001"]
    assert COMMIT in podman("inspect", "--format={{json .Labels}}", image)


def test_it_runs_with_its_own_database_goes_on_without_it_stops_in_order_and_keeps_its_data(
    start: Callable[[], _Container],
) -> None:
    first = start()
    until(first.answers)
    until(lambda: "was seen" in first.run("weboid", "health", "up", check=False))
    # Process 1 of the container inherits the server, and must not take its corpse for a server that runs.
    first.run("sh", "-c", "kill -KILL $(head -1 /var/lib/weboid/postgres/postmaster.pid)")
    until(lambda: "again" in first.log())
    until(first.answers)
    status, taken_s = first.stop()
    assert (status, taken_s < 30) == (0, True), first.log()[-2000:]
    assert "applied migration" in first.log()
    first.remove()

    second = start()
    until(second.answers)
    answer = second.log()
    assert "applied migration" not in answer
    log = second.run("cat", "/var/lib/weboid/postgres/server.log")
    assert "database system was shut down at" in log.rpartition("starting PostgreSQL")[2]
    assert second.stop()[0] == 0

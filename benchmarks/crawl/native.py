"""The C programs of this folder, compiled where there is a compiler and kept in the user's cache.

One law: what cannot be compiled is a reason in words, never an error: the benchmark runs without it.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER: Final = Path(__file__).resolve().parent


class Native(NamedTuple):
    """A compiled program, or why there is none."""

    program: Path | None
    reason: str = ""


def cache_folder() -> Path:
    """Where compiled programs and peers are kept between runs."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weboid-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compiled(name: str, *, tls: bool) -> Native:
    """The program of `name`.c, with OpenSSL or without."""
    source = _FOLDER / f"{name}.c"
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return Native(None, "no C compiler")
    options = ["-O2", *(["-DWITH_TLS"] if tls else []), str(source), *(["-lssl", "-lcrypto"] if tls else []), "-lm"]
    mark = hashlib.sha256(source.read_bytes() + " ".join(options).encode()).hexdigest()[:16]
    program = cache_folder() / f"{name}-{mark}"
    if not program.exists():
        unfinished = program.with_suffix(f".{os.getpid()}")
        run = subprocess.run([compiler, *options, "-o", str(unfinished)], capture_output=True, text=True, check=False)
        if run.returncode:
            why = next((line for line in run.stderr.splitlines() if "error" in line), "it does not compile")
            return Native(None, "no OpenSSL headers" if "openssl/" in why else why.strip())
        unfinished.rename(program)
    return Native(program)

"""A process of its own for one computation after the other."""

import asyncio
import sys
from pathlib import Path

import pytest
from support.processes import is_running
from support.waiting import until

from weboid.mechanism.helper_process import HelperEnded, HelperFault, HelperProcess

_PROGRAM = """
import os, time
from weboid.mechanism.helper_process import serve

def answer(job):
    match job:
        case b"spin":
            while True: pass
        case b"eat":
            return b"x" * (1 << 30)
        case b"sleep":
            time.sleep(60)
        case b"fail":
            raise ValueError("too bad")
        case b"pid":
            return str(os.getpid()).encode()
    return job[::-1]

serve(answer, cpu_s=0.3, memory_bytes=256 << 20)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "helper_of_test.py").write_text(_PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "helper_of_test"


async def test_jobs_are_answered_one_after_the_other_by_one_process(module: str) -> None:
    helper = HelperProcess(module)
    jobs = [str(number).encode() * 100_000 for number in range(20)]
    assert await asyncio.gather(*map(helper.answer, jobs)) == [job[::-1] for job in jobs]
    assert await helper.answer(b"pid") == await helper.answer(b"pid")
    await helper.close()


@pytest.mark.parametrize("job", [b"spin", b"eat", b"sleep"])
async def test_a_job_that_takes_too_much_ends_its_process_and_the_next_one_is_answered(module: str, job: bytes) -> None:
    helper = HelperProcess(module, wall_s=5)
    before = await helper.answer(b"pid")
    with pytest.raises(HelperEnded):
        await helper.answer(job)
    assert await helper.answer(b"pid") != before
    await helper.close()


async def test_an_error_of_our_own_comes_back_with_its_traceback_and_ends_nothing(module: str) -> None:
    helper = HelperProcess(module)
    before = await helper.answer(b"pid")
    with pytest.raises(HelperFault, match="too bad"):
        await helper.answer(b"fail")
    assert await helper.answer(b"pid") == before
    await helper.close()


async def test_a_caller_who_goes_away_leaves_no_answer_to_the_next(module: str) -> None:
    helper = HelperProcess(module)
    task = asyncio.create_task(helper.answer(b"sleep"))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await helper.answer(b"abc") == b"cba"
    await helper.close()


async def test_the_process_ends_when_it_was_idle_and_with_its_parent(module: str) -> None:
    helper = HelperProcess(module, idle_s=0.05)
    pid = int(await helper.answer(b"pid"))
    await until(lambda: not Path(f"/proc/{pid}").exists())
    assert int(await helper.answer(b"pid")) != pid
    parent = f"""
import asyncio
from weboid.mechanism.helper_process import HelperProcess
print(asyncio.run(HelperProcess({module!r}).answer(b"pid")).decode())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", parent, stdout=asyncio.subprocess.PIPE)
    orphan = int((await process.communicate())[0])
    await until(lambda: not is_running(orphan))
    await helper.close()

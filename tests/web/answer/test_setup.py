"""All web processes give one tag to one answer, or a 304 of one would be a whole answer of the next."""

import subprocess
import sys

_SAID = (
    "from weboid.config import Config; from weboid.core.verdict.kept_copies import DEFAULT_SERVICES\n"
    "from weboid.web.answer.answers import setup_of\n"
    "print(setup_of(Config('.').policy, DEFAULT_SERVICES, Config('.').farms))"
)


def test_the_tag_of_the_settings_is_the_same_in_every_process() -> None:
    command = [sys.executable, "-c", _SAID]
    said = {subprocess.check_output(command, env={"PYTHONHASHSEED": seed}, text=True) for seed in "123"}
    assert [len(tag.strip()) for tag in said] == [64]

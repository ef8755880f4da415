"""The options of weboid_weblinks are those of weblinkchecker, and more; wrong ones are reported."""

from pathlib import Path

import pytest

from weboid_scripts.common.options import OptionRefused
from weboid_scripts.weblinks.dead_links import Rule
from weboid_scripts.weblinks.weblinks_options import WeblinksOptions, read_options


def read(*arguments: str, talk: bool = False) -> WeblinksOptions:
    return read_options(arguments, journal="/somewhere/journal", days=7, talk=talk)


def test_without_options_it_is_as_pywikibot_is_configured() -> None:
    options = read("-start:!", "-ns:0")
    assert options.others == ["-start:!", "-ns:0"]
    assert (options.rule, options.scan, options.talk, options.repeat) == (Rule(days=7), False, False, False)
    assert options.journal == Path("/somewhere/journal")
    assert read(talk=True).talk
    assert not read("-notalk", talk=True).talk
    assert read("-talk").talk


@pytest.mark.parametrize(
    "arguments",
    [
        ["-day:"], ["-day"], ["-day:-1"], ["-day:1.5"], ["-day:99999"], ["-day:٣"], ["-ignore:99"], ["-ignore:1000"],
        ["-day:1", "-day:2"], ["-talk", "-notalk"], ["-scan:now"], ["-xml:/nowhere/at/all"], ["-xmlstart:A"],
        ["-journal:a", "-journal:b"], ["-rate:0"], ["-rate:fast"], ["-runpage:{{A}}"],
    ],
)  # fmt: skip
def test_wrong_options_are_refused(arguments: list[str]) -> None:
    with pytest.raises(OptionRefused, match=arguments[0].partition(":")[0]):
        read(*arguments)

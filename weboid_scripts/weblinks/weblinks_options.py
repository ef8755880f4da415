"""The options of ``weboid_weblinks``, explained by the script's own help."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from weboid_scripts.common.options import CommonOptions, OptionRefused, rate_of, read_common, title_of
from weboid_scripts.weblinks.dead_links import Rule

_FLAGS = ("-repeat", "-scan", "-three-in-nine-days", "-talk", "-notalk")
_VALUES = ("-ignore", "-day", "-xml", "-xmlstart", "-journal", "-runpage", "-rate")
_MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class WeblinksOptions:
    """`others` are for pywikibot's generators. `rate` in edits a minute, 0 for no limit but the throttle's."""

    common: CommonOptions
    rule: Rule
    journal: Path
    others: list[str] = field(default_factory=list)
    scan: bool = False
    talk: bool = False
    repeat: bool = False
    xml: Path | None = None
    xml_start: str | None = None
    run_page: str | None = None
    rate: float = 0.0


def read_options(arguments: Iterable[str], *, journal: str, days: int, talk: bool) -> WeblinksOptions:
    """The options; `journal`, `days` and `talk` are those of pywikibot's configuration. Raises OptionRefused."""
    common, local = read_common(arguments)
    flags: set[str] = set()
    values: dict[str, list[str]] = {}
    others = []
    for argument in local:
        name, colon, value = argument.partition(":")
        if name in _FLAGS and not colon:
            flags.add(name)
        elif name in _FLAGS:
            raise OptionRefused(f"{name} takes no value: write {name}")
        elif name in _VALUES:
            if not value:
                raise OptionRefused(f"{name} needs a value: write {name}:VALUE.")
            values.setdefault(name, []).append(value)
        else:
            others.append(argument)
    if twice := [name for name, given in values.items() if len(given) > 1 and name != "-ignore"]:
        raise OptionRefused(f"{twice[0]} is given twice. Give it once.")
    if {"-talk", "-notalk"} <= flags:
        raise OptionRefused("-talk and -notalk contradict each other. Give one of them.")
    one = {name: given[0] for name, given in values.items()}
    if "-xmlstart" in one and "-xml" not in one:
        raise OptionRefused("-xmlstart is for dumps: name one by -xml:FILE.")
    xml = Path(one["-xml"]) if "-xml" in one else None
    if xml is not None and not xml.is_file():
        raise OptionRefused(f"-xml: there is no file {xml}.")
    if xml is not None and "-repeat" in flags:
        raise OptionRefused("-xml and -repeat are two choices of pages. Give one of them.")
    by_scans = "-three-in-nine-days" in flags
    ignored = frozenset(_number("-ignore", code, 100, 999) for code in values.get("-ignore", ()))
    failing_days = _number("-day", one["-day"], 0, _MOST_DAYS) if "-day" in one else days
    return WeblinksOptions(
        common,
        Rule(by_scans=by_scans, days=failing_days, ignored=ignored),
        Path(one.get("-journal", journal)),
        others,
        scan=by_scans or "-scan" in flags,
        talk="-talk" in flags or (talk and "-notalk" not in flags),
        repeat="-repeat" in flags,
        xml=xml,
        xml_start=one.get("-xmlstart"),
        run_page=title_of("-runpage", one.get("-runpage")),
        rate=rate_of(one.get("-rate")),
    )


def _number(name: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise OptionRefused(f"{name}: {text!r} is no number from {least} to {most:,}.")
    return int(text)

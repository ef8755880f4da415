"""The options of ``weboid_repair``: pywikibot's generators and filters, the common ones, and its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pywikibot.pagegenerators import GeneratorFactory

from weboid_scripts.common.options import CommonOptions, OptionRefused, is_generator, rate_of, read_common, title_of

_VALUED: Final = ("-rate", "-runpage", "-errors", "-weboid")


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """`is_dead` = pages with newly dead links; `rate` in edits a minute, 0 for no limit besides the throttle's."""

    common: CommonOptions
    factory: Any
    is_always: bool = False
    is_dead: bool = False
    rate: float = 0.0
    run_page: str | None = None
    help_page: str | None = None

    @property
    def has_pages(self) -> bool:
        """True if pages to repair were named."""
        return self.is_dead or bool(self.factory.gens)


def read_options(site: Any, arguments: Iterable[str]) -> RepairOptions:
    """The options in the arguments that pywikibot has left. Raises OptionRefused."""
    common, others = read_common(arguments)
    factory = GeneratorFactory(site=site)
    given: dict[str, str] = {}
    unknown = []
    for argument in others:
        name, _, value = argument.partition(":")
        if name in (*_VALUED, "-always"):
            if name in given:
                raise OptionRefused(f"{name} is given twice. Give it once.")
            if (name == "-always") == bool(value):
                raise OptionRefused(f"Write {name} alone." if value else f"{name} needs a value: write {name}:VALUE.")
            given[name] = value
        elif not is_generator(factory, argument):
            unknown.append(argument)
    if unknown:
        raise OptionRefused(f"Unknown: {' '.join(unknown)}. See which options there are: pwb weboid_repair -help")
    is_dead = _is_dead(given.get("-weboid"), factory)
    return RepairOptions(
        common,
        factory,
        is_always="-always" in given,
        is_dead=is_dead,
        rate=rate_of(given.get("-rate")),
        run_page=title_of("-runpage", given.get("-runpage")),
        help_page=title_of("-errors", given.get("-errors")),
    )


def _is_dead(word: str | None, factory: Any) -> bool:
    if word not in (None, "dead"):
        raise OptionRefused(f"-weboid:{word} is unknown. Write -weboid:dead for pages with newly dead links.")
    if word is not None and factory.gens:
        raise OptionRefused("-weboid:dead names pages by itself. Leave out the other generators; filters may stay.")
    return word is not None

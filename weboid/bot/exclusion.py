"""Templates that keep bots off a page or a link (B-2): ``{{bots}}``, ``{{nobots}}``, ``{{cbignore}}`` and such."""

from typing import Final

from weboid.core.wikitext.citations import name_key, name_keys
from weboid.core.wikitext.nodes import TemplateNode, Wikitext
from weboid.core.wikitext.settings import WikiSettings

_NAMING: Final = frozenset({"bots", "nobots"})
"""Templates that may name bots. Others of the settings, such as ``{{in use}}``, keep off all, whatever they say."""
_ALL: Final = "all"


def excludes(wikitext: Wikitext, settings: WikiSettings, *, bot: str, script: str, by_hand: bool = False) -> str | None:
    """The template that keeps this bot, or this script, off the page, as written; None if none does. Who works on it
    `by_hand` may be the one who has put ``{{in use}}`` there."""
    names = name_keys(settings.exclusion) & _NAMING if by_hand else name_keys(settings.exclusion)
    for template in wikitext.templates:
        if name_key(template.name) in names and not _admits(wikitext, template, bot, script):
            return wikitext.text[template.start : template.end]
    return None


def is_ignored(wikitext: Wikitext, template: TemplateNode, bot: str) -> bool:
    """True if a template such as ``{{cbignore}}`` means this bot: it may name others by ``bot=``."""
    named = [each for each in template.parameters if each.name.casefold() == "bot"]
    names = _names(wikitext.value_of(named[-1])) if named else set()
    return not names or bool(names & {_ALL, _bot_key(bot)})


def _admits(wikitext: Wikitext, template: TemplateNode, bot: str, script: str) -> bool:
    if (key := name_key(template.name)) not in _NAMING:
        return False
    given = {each.name.casefold(): _names(wikitext.value_of(each)) for each in template.parameters}
    us, scripts = {_ALL, _bot_key(bot)}, {_ALL, _bot_key(script)}
    unnamed: set[str] = set()
    for parameter in template.parameters:
        if parameter.equals is None:
            unnamed |= given.pop(parameter.name, set())
    denied = given.get("deny", set()) | given.get("optout", set())
    # A bot that is admitted by its own name counts more than what is said of all.
    is_named = _bot_key(bot) in given.get("allow", set()) - denied
    if key != "bots":
        # {{nobots}} keeps off all, or those that it names; all else that is written there cannot admit others.
        return is_named if given else bool(unnamed) and not unnamed & us
    is_denied = bool(denied & us or given.get("denyscript", set()) & scripts)
    is_allowed = bool(given.get("allow", us) & us and given.get("allowscript", scripts) & scripts)
    return not unnamed and (is_named or (is_allowed and not is_denied))


def _names(value: str) -> set[str]:
    return {key for name in value.split(",") if (key := _bot_key(name))}


def _bot_key(name: str) -> str:
    """The same for all spellings of a bot's name, also that of its page (``User:…``)."""
    return " ".join(name.rpartition(":")[2].replace("_", " ").split()).casefold()

"""Builds the gadget: its pages on a wiki, the line that defines it, and the same as one user script (G-1).

``gadget/definition.txt`` names the pages in order, the script to begin with first; the page ``weboid-core.js`` is the
file ``core.js``. A name that nothing stands for ends the build, with the file that has it. There is no bundler: the
wiki minifies, and an interface administrator reads on the wiki what was reviewed here. The user script is ECMAScript
2016, as MediaWiki demands of scripts, like the files it is made of.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weboid.errors import ConfigError

NAME: Final = "weboid"
"""The gadget's identifier on the wiki, and the word before the dash in the names of its pages."""
PREFIX: Final = "MediaWiki:Gadget-"
CONFIG: Final = f"{NAME}-config.json"
MESSAGES: Final = f"{NAME}-messages.json"
DESCRIPTION_KEY: Final = "weboid-gadget-description"
SECTION_KEY: Final = "weboid-gadget-section"
"""Messages for the wiki's preferences, saved as pages of their own; all others with the key prefix are the gadget's."""
_KEY_PREFIX: Final = "weboid-gadget-"
_LINE: Final = re.compile(rf"\* {NAME}\[(?P<options>[^\]]*)\](?P<pages>(?:\|[^|\n]+)+)")
_REQUIRE: Final = re.compile(r"""\brequire\(\s*(?:(['"])(?P<name>[^'"\n]*)\1\s*\))?""")
_SERVICE: Final = re.compile(r"https?://[^\s?#<>\[\]{|}\"'/]+(/[^\s?#<>\[\]{|}\"']*)?")
_FARM: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_SCRIPT: Final = """\
// SPDX-License-Identifier: MIT
// Weboid's gadget as one script, made by `weboid gadget` of the files in gadget/: change those, not this.
mw.loader.using( %(modules)s ).then( ( requireModule ) => {
	const files = {
%(files)s
	};
	const loaded = {};
	const requireFile = ( name ) => {
		if ( !Object.prototype.hasOwnProperty.call( files, name ) ) {
			return requireModule( name );
		}
		if ( !loaded[ name ] ) {
			const module = loaded[ name ] = { exports: {} };
			files[ name ]( module, requireFile );
		}
		return loaded[ name ].exports;
	};
	mw.util.addCSS( %(styles)s );
	requireFile( %(first)s );
} );
"""


@dataclass(frozen=True, slots=True)
class BuiltGadget:
    """The gadget for one service and wiki: text by full title, `pages` in the order in which they need each other.

    `descriptions` are what the wiki's preferences say of the gadget and its section. `definition` is the gadget's line
    in MediaWiki:Gadgets-definition.
    """

    pages: Mapping[str, str]
    descriptions: Mapping[str, str]
    definition: str
    user_script: str


def built_gadget(
    folder: Path,
    messages: Path,
    *,
    service: str = "",
    farm: str = "",
    language: str = "en",
    languages: Collection[str] = (),
) -> BuiltGadget:
    """The gadget of a folder of files, with the messages of another; empty `service` and `farm` are as in the folder.

    `language` is the wiki's own, `languages` those of its readers, none = all that have messages; English, to which all
    fall back, is always there. Raises ConfigError for an unusable service or farm, and ValueError for files that do not
    fit together.
    """
    definition = _text(folder / "definition.txt").strip()
    if not (line := _LINE.fullmatch(definition)):
        raise ValueError(f"definition.txt is no line that defines the gadget {NAME}: {definition[:80]!r}")
    names = [name.strip() for name in line["pages"].split("|")[1:]]
    modules = _dependencies(line["options"])
    present = {file.name for file in folder.iterdir() if file.suffix in {".js", ".css"}}
    if forgotten := present - {file_of(name) for name in names}:
        raise ValueError(f"definition.txt does not name the page of {min(forgotten)}")
    translations = _translations(messages)
    if languages:
        translations = {code: words for code, words in translations.items() if code in {"en", language, *languages}}
    config = _config(folder, service, farm)
    texts = {
        CONFIG: _json(config),
        MESSAGES: _json({code: _of_the_gadget(words) for code, words in translations.items()}),
    }
    texts |= {
        name: _with_page_names(_text(folder / file_of(name)), name, names, modules)
        for name in names
        if name not in texts
    }
    return BuiltGadget(
        {f"{PREFIX}{name}": texts[name] for name in reversed(names)},
        _descriptions(translations, language, config["service"]),
        definition,
        _user_script({name: texts[name] for name in names}, modules),
    )


def file_of(page: str) -> str:
    """The file for a page by its name in the definition, e.g. ``core.js`` for ``weboid-core.js``."""
    return page.removeprefix(f"{NAME}-")


def _dependencies(options: str) -> tuple[str, ...]:
    for option in options.split("|"):
        key, _, value = option.partition("=")
        if key.strip() == "dependencies":
            return tuple(name.strip() for name in value.split(","))
    return ()


def _config(folder: Path, service: str, farm: str) -> dict[str, str]:
    config: dict[str, str] = json.loads(_text(folder / file_of(CONFIG)))
    if service:
        config["service"] = service.rstrip("/")
    if farm:
        config["farm"] = farm
    if not _SERVICE.fullmatch(config["service"]):
        raise ConfigError(f"the service {config['service']!r} is no address such as https://weboid.toolforge.org")
    if not _FARM.fullmatch(config["farm"]):
        raise ConfigError(f"the farm {config['farm']!r} is no name such as WMF")
    return config


def _translations(folder: Path) -> dict[str, dict[str, str]]:
    """The messages for the wiki by language, English first: it is what the others fall back to."""
    found = {}
    for file in sorted(folder.glob("*.json"), key=lambda file: (file.stem != "en", file.stem)):
        words = json.loads(_text(file))
        if file.stem != "qqq" and (ours := {key: words[key] for key in words if key.startswith(_KEY_PREFIX)}):
            found[file.stem] = ours
    return found


def _descriptions(translations: Mapping[str, Mapping[str, str]], language: str, service: str) -> dict[str, str]:
    """The pages of the descriptions. The one without a code is in the wiki's own language, or in English."""
    own = language if language in translations else "en"
    return {
        page if code == own else f"{page}/{code}": words[key].replace("$1", service)
        for key, page in ((DESCRIPTION_KEY, f"{PREFIX}{NAME}"), (SECTION_KEY, f"{PREFIX}section-{NAME}"))
        for code, words in translations.items()
        if key in words
    }


def _of_the_gadget(words: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in words.items() if key not in {DESCRIPTION_KEY, SECTION_KEY}}


def _with_page_names(text: str, page: str, pages: list[str], modules: tuple[str, ...]) -> str:
    """A script that requires others by the names of their pages; raises ValueError for what is not there."""

    def renamed(call: re.Match[str]) -> str:
        name = call["name"]
        if name in modules:
            return call[0]
        known = {f"./{file_of(other)}": f"./{other}" for other in pages}
        if name not in known:
            raise ValueError(f"{file_of(page)}: nothing stands for {call[0]!r}: no page, and no dependency")
        return call[0].replace(name, known[name])

    return _REQUIRE.sub(renamed, text) if page.endswith(".js") else text


def _user_script(texts: Mapping[str, str], modules: Sequence[str]) -> str:
    """One script of the gadget's pages by name, the script to begin with first, that loads MediaWiki's `modules`."""
    scripts = [name for name in texts if name.endswith(".js")]
    files = []
    for name, text in texts.items():
        if name in scripts:
            files.append(f"\t\t{_literal(f'./{name}')}: ( module, require ) => {{\n{text}\n\t\t}}")
        elif not name.endswith(".css"):
            data = f"module.exports = {_literal(json.loads(text))};"
            files.append(f"\t\t{_literal(f'./{name}')}: ( module ) => {{\n\t\t\t{data}\n\t\t}}")
    return _SCRIPT % {
        "modules": _literal(list(dict.fromkeys(("mediawiki.util", *modules)))),
        "files": ",\n".join(files),
        "styles": _literal("\n".join(text for name, text in texts.items() if name.endswith(".css"))),
        "first": _literal(f"./{scripts[0]}"),
    }


def _literal(value: Any) -> str:
    """A value as an expression: in ECMAScript 2016 two characters may stand in JSON's strings but not in a script's."""
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent="\t")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ValueError(f"the gadget has no file {file.name}") from error

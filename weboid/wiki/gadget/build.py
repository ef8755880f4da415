"""Builds the gadget: its pages on a wiki, the lines that define it, and the same as one user script (G-1).

``gadget/definition.txt`` has a line for each part, which the wiki takes for a gadget: the one that readers switch on,
and hidden ones that it loads when they are needed. A line names its pages, the script to begin with first; the page
``weboid-core.js`` is the file ``core.js``. A name that nothing stands for ends the build, with the file that has it.
Messages are pages of their own, one for each language and set: a page of a gadget would bring all languages to every
reader. There is no bundler: the wiki minifies, and an interface administrator reads on the wiki what was reviewed here.
The user script is ECMAScript 2016, as MediaWiki demands of scripts, like the files it is made of.
"""

import hashlib
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
_PARTS_SCRIPT: Final = f"{NAME}-parts.js"
"""Loads a part of the gadget from the wiki; the user script has its own in this place."""
DESCRIPTION_KEY: Final = "weboid-gadget-description"
SECTION_KEY: Final = "weboid-gadget-section"
"""Messages for the wiki's preferences, saved as pages of their own; all others with the key prefix are the gadget's."""
_KEY_PREFIX: Final = "weboid-gadget-"
_KEY: Final = re.compile(rf"{_KEY_PREFIX}[a-z0-9-]+")
_FIRST_PARTS: Final = (NAME, f"{NAME}-page", f"{NAME}-marks")
"""The parts whose messages are the first set: what stands on a page whose cards are shut."""
_MODULE: Final = "ext.gadget."
"""What the wiki puts before the name of a gadget to name its module."""
_LINE: Final = re.compile(rf"\* (?P<name>{NAME}(?:-[a-z]+)?)\[(?P<options>[^\]]*)\](?P<pages>(?:\|[^|\n]+)+)")
_REQUIRE: Final = re.compile(r"""\brequire\(\s*(?:(['"])(?P<name>[^'"\n]*)\1\s*\))?""")
_SERVICE: Final = re.compile(r"https?://[^\s?#<>\[\]{|}\"'/]+(/[^\s?#<>\[\]{|}\"']*)?")
_FARM: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_SCRIPT: Final = """\
// SPDX-License-Identifier: MIT
// Weboid's gadget as one script, made by `weboid gadget` of the files in gadget/: change those, not this.
( () => {
	const parts = %(parts)s;
	const files = {
%(files)s
	};
	const loaded = {};
	const has = ( object, name ) => Object.prototype.hasOwnProperty.call( object, name );
	const requireFile = ( name ) => {
		if ( has( parts, name ) ) {
			return requireFile( parts[ name ].first );
		}
		if ( !has( files, name ) ) {
			return mw.loader.require( name );
		}
		if ( !loaded[ name ] ) {
			const module = loaded[ name ] = { exports: {} };
			files[ name ]( module, requireFile );
		}
		return loaded[ name ].exports;
	};
	const usePart = ( name ) => {
		const part = parts[ name ];
		return Promise.all( [ mw.loader.using( part.modules ), ...part.parts.map( usePart ) ] ).then( () => {
			if ( part.styles ) {
				mw.util.addCSS( part.styles );
				part.styles = '';
			}
			return requireFile( name );
		} );
	};
	files[ %(loader)s ] = ( module ) => {
		module.exports = ( name ) => usePart( `%(prefix)s-${ name }` );
	};
	usePart( %(first)s );
} )();
"""


@dataclass(frozen=True, slots=True)
class BuiltGadget:
    """The gadget for one service and wiki: text by full title, `pages` in the order in which they need each other.

    `descriptions` are what the wiki's preferences say of the gadget and its section. `definitions` are the lines of its
    parts in MediaWiki:Gadgets-definition, the one that readers switch on first.
    """

    pages: Mapping[str, str]
    descriptions: Mapping[str, str]
    definitions: Sequence[str]
    user_script: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A line of the definition: its gadget's name, the modules that it depends on, its pages."""

    name: str
    dependencies: tuple[str, ...]
    pages: tuple[str, ...]


def built_gadget(
    folder: Path,
    messages: Path,
    *,
    service: str = "",
    farm: str = "",
    language: str = "en",
    languages: Collection[str] = (),
    consent: bool = False,
) -> BuiltGadget:
    """The gadget of a folder of files, with the messages of another; empty `service` and `farm` are as in the folder.

    `language` is the wiki's own, `languages` those of its readers, none = all that have messages; English, to which all
    fall back, is always there. With `consent` readers are to say so before anything is sent. Raises ConfigError for an
    unusable service or farm, and ValueError for files that do not fit together.
    """
    definitions = _text(folder / "definition.txt").strip().splitlines()
    parts = [_part(line) for line in definitions]
    names = [name for part in parts for name in part.pages]
    if parts[0].name != NAME or len(set(names)) < len(names):
        raise ValueError(f"definition.txt begins with another gadget than {NAME}, or names a page twice")
    present = {file.name for file in folder.iterdir() if file.suffix in {".js", ".css"}}
    if forgotten := present - {file_of(name) for name in names}:
        raise ValueError(f"definition.txt does not name the page of {min(forgotten)}")
    translations = _translations(messages)
    if languages:
        translations = {code: words for code, words in translations.items() if code in {"en", language, *languages}}
    merged = _merged(translations, messages)
    texts = {
        name: _with_page_names(_text(folder / file_of(name)), name, part)
        for part in parts
        for name in part.pages
        if name != CONFIG
    }
    config = {**_config(folder, service, farm), "consent": consent}
    message_pages = _message_pages(merged, {key for part in parts for key in _keys_of(part, texts)})
    edition = hashlib.sha256(json.dumps(message_pages).encode()).hexdigest()[:8]
    texts[CONFIG] = _json({**config, "languages": [*merged], "edition": edition})
    with_texts = {**texts, CONFIG: _json({**config, "languages": [*merged], "texts": merged})}
    return BuiltGadget(
        {f"{PREFIX}{name}": text for name, text in message_pages.items()}
        | {f"{PREFIX}{name}": texts[name] for name in reversed(names)},
        _descriptions(translations, language, config["service"]),
        definitions,
        _user_script(parts, with_texts),
    )


def file_of(page: str) -> str:
    """The file for a page by its name in the definition, e.g. ``core.js`` for ``weboid-core.js``."""
    return page.removeprefix(f"{NAME}-")


def _part(line: str) -> _Part:
    """Raises ValueError for what is no line of the gadget's."""
    if not (found := _LINE.fullmatch(line)):
        raise ValueError(f"definition.txt: this defines no part of the gadget {NAME}: {line[:80]!r}")
    options = dict(option.strip().partition("=")[::2] for option in found["options"].split("|"))
    return _Part(
        found["name"],
        tuple(name.strip() for name in options.get("dependencies", "").split(",") if name.strip()),
        tuple(name.strip() for name in found["pages"].split("|")[1:]),
    )


def _keys_of(part: _Part, texts: Mapping[str, str]) -> set[str]:
    """The keys of messages that stand on a page whose cards are shut, as the scripts of a part name them."""
    if part.name not in _FIRST_PARTS:
        return set()
    return {key for name in part.pages if name.endswith(".js") for key in _KEY.findall(texts[name])}


def _merged(translations: Mapping[str, Mapping[str, str]], folder: Path) -> dict[str, dict[str, str]]:
    """The messages of the gadget by language, each complete: what it lacks is said as MediaWiki's fallbacks say it."""
    file = folder / "languages" / "languages.json"
    fallbacks = json.loads(_text(file)) if file.exists() else {}
    merged = {}
    for code in translations:
        chain = [code, *fallbacks.get(code, {}).get("fallbacks", ()), "en"]
        words = {key: text for each in reversed(chain) for key, text in translations.get(each, {}).items()}
        merged[code] = {key: text for key, text in words.items() if key not in {DESCRIPTION_KEY, SECTION_KEY}}
    return merged


def _message_pages(merged: Mapping[str, Mapping[str, str]], first: Collection[str]) -> dict[str, str]:
    return {
        f"{NAME}-messages-{kind}-{code}.json": _json(
            {key: text for key, text in words.items() if (key in first) == (kind == "first")}
        )
        for code, words in merged.items()
        for kind in ("more", "first")
    }


def _config(folder: Path, service: str, farm: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(_text(folder / file_of(CONFIG)))
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


def _with_page_names(text: str, page: str, part: _Part) -> str:
    """A script that requires others by the names of their pages; raises ValueError for what is not there."""

    def renamed(call: re.Match[str]) -> str:
        name = call["name"]
        if name in part.dependencies:
            return call[0]
        known = {f"./{file_of(other)}": f"./{other}" for other in part.pages}
        if name not in known:
            raise ValueError(f"{file_of(page)}: nothing stands for {call[0]!r}: no page, and no dependency")
        return call[0].replace(name, known[name])

    return _REQUIRE.sub(renamed, text) if page.endswith(".js") else text


def _user_script(parts: Sequence[_Part], texts: Mapping[str, str]) -> str:
    """One script of all parts of the gadget, which loads MediaWiki's modules with the part that needs them."""
    files = []
    for name, text in texts.items():
        if name.endswith(".js") and name != _PARTS_SCRIPT:
            files.append(f"\t\t{_literal(f'./{name}')}: ( module, require ) => {{\n{text}\n\t\t}}")
        elif name.endswith(".json"):
            data = f"module.exports = {_literal(json.loads(text))};"
            files.append(f"\t\t{_literal(f'./{name}')}: ( module ) => {{\n\t\t\t{data}\n\t\t}}")
    described = {
        f"{_MODULE}{part.name}": {
            "first": f"./{part.pages[0]}",
            "parts": [name for name in part.dependencies if name.startswith(_MODULE)],
            "modules": [name for name in part.dependencies if not name.startswith(_MODULE)],
            "styles": "\n".join(texts[name] for name in part.pages if name.endswith(".css")),
        }
        for part in parts
    }
    return _SCRIPT % {
        "parts": _literal(described),
        "files": ",\n".join(files),
        "loader": _literal(f"./{_PARTS_SCRIPT}"),
        "prefix": f"{_MODULE}{NAME}",
        "first": _literal(f"{_MODULE}{NAME}"),
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

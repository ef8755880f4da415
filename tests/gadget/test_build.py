"""G-1: the gadget is complete on a wiki, with pages, names, messages and licences; its scripts are ECMAScript 2016."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weboid.assets import asset
from weboid.errors import ConfigError
from weboid.wiki.gadget.build import BuiltGadget, built_gadget, file_of

REPOSITORY = Path(__file__).resolve().parents[2]
GADGET, MESSAGES = asset("gadget"), asset("i18n")
PREFIX = "MediaWiki:Gadget-"
ENTRY = (
    "'use strict';\nconst a = require( './core.js' ), m = 'weboid-gadget-a';\n"
    'module.exports = { a, b: require( "./config.json" ) };\n'
)
DEFINITION = (
    "* weboid[ResourceLoader|package|dependencies=mediawiki.util, mediawiki.api|actions=view]"
    "|weboid.js|weboid-core.js|weboid-config.json|weboid-parts.js\n"
    "* weboid-card[package|hidden|dependencies=ext.gadget.weboid,mediawiki.x]|weboid-card.js|weboid.css\n"
)
_KEY_OR_BEGINNING = re.compile(r"""['"`](weboid-gadget-[a-z0-9-]*)""")
_MODULE_OF = {
    r"\bmw\.util\.": "mediawiki.util",
    r"\bnew mw\.Api\b": "mediawiki.api",
    r"\bmw\.storage\b": "mediawiki.storage",
    r"\bmw\.user\.(?!options|tokens)": "mediawiki.user",
    r"\bmw\.language\b": "mediawiki.language",
    r"\bmw\.cookie\b": "mediawiki.cookie",
    r"\bmw\.Title\b": "mediawiki.Title",
}
"""What of `mw` is not there on every page but comes with a module; `mw.language` itself comes with jqueryMsg too."""
_WITH = {"mediawiki.jqueryMsg": {"mediawiki.language", "mediawiki.util", "mediawiki.user", "mediawiki.Title"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small gadget and its messages."""
    for name, text in {
        "definition.txt": DEFINITION,
        "weboid.js": ENTRY,
        "core.js": "module.exports = require( 'mediawiki.util' );\n",
        "parts.js": "module.exports = ( name ) => mw.loader.using( name );\n",
        "card.js": "module.exports = [ 'weboid-gadget-c', require( 'ext.gadget.weboid' ) ];\n",
        "weboid.css": ".weboid-a { color: red; }\n",
        "config.json": '{"service": "https://service.example", "farm": "WMF"}',
        "i18n/en.json": '{"@metadata": {}, "weboid-gadget-a": "A", "weboid-gadget-c": "C", "weboid-b": "",'
        ' "weboid-gadget-description": "$1!"}',
        "i18n/de.json": '{"@metadata": {}, "weboid-gadget-a": "Ä\u2028", "weboid-gadget-description": "$1?"}',
        "i18n/fr.json": '{"@metadata": {}, "weboid-b": "B"}',
        "i18n/qqq.json": '{"@metadata": {}, "weboid-gadget-a": "what it is"}',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def gadget() -> BuiltGadget:
    return built_gadget(GADGET, MESSAGES)


def build(folder: Path, **more: Any) -> BuiltGadget:
    return built_gadget(folder, folder / "i18n", **more)


def is_es2016(folder: Path, *scripts: str) -> bool:
    """Whether a parser that knows nothing later than ECMAScript 2016 can read them; skips where there is none."""
    acorn = REPOSITORY / "node_modules" / ".bin" / "acorn"
    if not acorn.exists() or not shutil.which("node"):
        pytest.skip("acorn is not installed: make .venv/gadget.stamp")
    files = [folder / f"{number}.js" for number in range(len(scripts))]
    for file, script in zip(files, scripts, strict=True):
        file.write_text(script, encoding="utf-8")
    return subprocess.run([acorn, "--ecma2016", "--silent", *files], capture_output=True, check=False).returncode == 0


def test_scripts_require_each_other_by_the_names_of_their_pages(folder: Path) -> None:
    pages = build(folder).pages
    assert pages[f"{PREFIX}weboid.js"] == (
        "'use strict';\nconst a = require( './weboid-core.js' ), m = 'weboid-gadget-a';\n"
        'module.exports = { a, b: require( "./weboid-config.json" ) };\n'
    )
    assert pages[f"{PREFIX}weboid-core.js"] == "module.exports = require( 'mediawiki.util' );\n"


def test_what_is_needed_comes_before_what_needs_it(folder: Path) -> None:
    assert [title.removeprefix(PREFIX) for title in build(folder).pages] == [
        *(f"weboid-messages-{kind}-{code}.json" for code in ("en", "de") for kind in ("more", "first")),
        *("weboid.css", "weboid-card.js", "weboid-parts.js", "weboid-config.json", "weboid-core.js", "weboid.js"),
    ]


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("weboid.js", "require( './cores.js' );", "'./cores.js'"),
        ("weboid.js", "require( 'mediawiki.storage' );", "mediawiki.storage"),
        ("weboid.js", "require( name );", "require("),
        ("weboid.js", "require( `./core.js` );", "require("),
        ("more.js", "", "more.js"),
        ("extra.css", "", "extra.css"),
        ("definition.txt", DEFINITION.replace("|weboid-core.js", ""), "core.js"),
        ("definition.txt", DEFINITION.replace("|weboid.css", "|weboid-heart.js|weboid.css"), "heart.js"),
        ("definition.txt", DEFINITION.replace("weboid[", "other["), "definition.txt"),
        ("definition.txt", DEFINITION * 2, "definition.txt"),
        ("definition.txt", DEFINITION + "* x", "'* x'"),
        ("card.js", "require( './core.js' );", "'./core.js'"),
    ],
)
def test_files_that_do_not_fit_together_end_the_build(folder: Path, file: str, text: str, named: str) -> None:
    build(folder)
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(named)):
        build(folder)


def messages(gadget: BuiltGadget, kind: str) -> dict[str, dict[str, str]]:
    """The messages of a set by language."""
    beginning = f"{PREFIX}weboid-messages-{kind}-"
    return {
        title.removeprefix(beginning).removesuffix(".json"): json.loads(text)
        for title, text in gadget.pages.items()
        if title.startswith(beginning)
    }


def test_messages_are_a_page_for_each_language_with_what_its_fallbacks_say(folder: Path) -> None:
    (folder / "i18n/de-at.json").write_text('{"weboid-gadget-c": "Z"}', encoding="utf-8")
    (folder / "i18n/languages").mkdir()
    (folder / "i18n/languages/languages.json").write_text('{"de-at": {"fallbacks": ["de"]}}', encoding="utf-8")
    gadget = build(folder)
    german = {"weboid-gadget-a": "Ä\u2028"}
    assert messages(gadget, "first") == {"en": {"weboid-gadget-a": "A"}, "de": german, "de-at": german}
    more = {"en": "C", "de": "C", "de-at": "Z"}
    assert messages(gadget, "more") == {code: {"weboid-gadget-c": text} for code, text in more.items()}
    assert json.loads(gadget.pages[f"{PREFIX}weboid-config.json"])["languages"] == ["en", "de", "de-at"]


def test_other_messages_have_another_address(folder: Path) -> None:
    def edition() -> str:
        found: str = json.loads(build(folder).pages[f"{PREFIX}weboid-config.json"])["edition"]
        return found

    before = edition()
    assert edition() == before
    (folder / "i18n/de.json").write_text('{"weboid-gadget-a": "B"}', encoding="utf-8")
    assert edition() != before


def test_the_description_without_a_code_is_in_the_language_of_the_wiki(folder: Path) -> None:
    for language, own, other in [("en", "!", "/de"), ("de", "?", "/en"), ("ast", "!", "/de")]:
        descriptions = build(folder, language=language).descriptions
        assert descriptions.keys() == {f"{PREFIX}weboid", f"{PREFIX}weboid{other}"}, language
        assert descriptions[f"{PREFIX}weboid"] == f"https://service.example{own}", language


def test_service_and_farm_can_be_others(folder: Path) -> None:
    pages = build(folder, service="http://127.0.0.1:8000/", farm="OSM").pages
    config = json.loads(pages[f"{PREFIX}weboid-config.json"])
    assert (config["service"], config["farm"]) == ("http://127.0.0.1:8000", "OSM")
    assert json.loads(build(folder).pages[f"{PREFIX}weboid-config.json"])["farm"] == "WMF"


def test_an_unusable_service_or_farm_is_refused(folder: Path) -> None:
    for given in [
        {"service": "weboid.example"},
        {"service": "javascript:alert(1)"},
        {"service": "https://[x"},
        {"service": "https://a.example/?b"},
        {"service": "https://a.example/ ] b"},
        {"farm": "W&M"},
    ]:
        with pytest.raises(ConfigError):
            build(folder, **given)


def test_the_user_script_has_all_parts_each_with_what_it_needs(folder: Path) -> None:
    (folder / "core.js").write_text(
        "mw.order.push( 'core' );\nmodule.exports = require( 'mediawiki.util' ).there;\n", encoding="utf-8"
    )
    (folder / "weboid.js").write_text(
        "const a = require( './core.js' );\nconst again = require( './core.js' );\n"
        "mw.order.push( a, again, require( './config.json' ).farm, require( './config.json' ).texts.de );\n"
        "require( './parts.js' )( 'card' ).then( ( card ) => require( './parts.js' )( 'card' ) )\n"
        "    .then( ( card ) => console.log( JSON.stringify( mw.order ), card.length ) );\n",
        encoding="utf-8",
    )
    (folder / "card.js").write_text("mw.order.push( 'card' );\nmodule.exports = 'four';\n", encoding="utf-8")
    script = build(folder).user_script
    assert script.isprintable() or "\u2028" not in script
    around = """
        const order = [];
        const using = ( names ) => Promise.resolve( order.push( names ) );
        const mw = { order, util: { addCSS: ( text ) => order.push( text ) }, loader: {
            using, require: ( name ) => ( { there: name } )
        } };
        %s
    """
    ran = subprocess.run(["node", "-e", around % script], check=True, capture_output=True, text=True)
    order, _, length = ran.stdout.strip().rpartition(" ")
    first, card = ["mediawiki.util", "mediawiki.api"], ["mediawiki.x"]
    assert (json.loads(order), length) == (
        [
            *(first, "core", "mediawiki.util", "mediawiki.util", "WMF"),
            {"weboid-gadget-a": "Ä\u2028", "weboid-gadget-c": "C"},
            *(card, first, ".weboid-a { color: red; }\n", "card", card, first),
        ],
        "4",
    )


def test_the_gadget_has_a_page_for_each_of_its_files(gadget: BuiltGadget) -> None:
    files = {file_of(title.removeprefix(PREFIX)) for title in gadget.pages}
    here = {file.name for file in GADGET.iterdir() if file.suffix in {".js", ".css"}}
    assert {file for file in files if not file.startswith("messages-")} == here | {"config.json"}
    assert len(here) > 9


def weboid_gadget(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weboid", "gadget", *options]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_the_command_writes_each_page_into_a_file_of_its_name(gadget: BuiltGadget, tmp_path: Path) -> None:
    answer = weboid_gadget("--to", str(tmp_path), "--language", "de").stdout
    files = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert files.keys() == {title.removeprefix("MediaWiki:") for title in gadget.pages} | {
        "Gadget-weboid", "Gadget-weboid_ar", "Gadget-weboid_en",
        "Gadget-section-weboid", "Gadget-section-weboid_ar", "Gadget-section-weboid_en",
        "Gadgets-definition.txt", "weboid.user.js",
    }  # fmt: skip
    assert files["Gadget-weboid.js"] == gadget.pages[f"{PREFIX}weboid.js"]
    assert f"{len(files) - 2} pages" in answer
    wrong = weboid_gadget("--to", "/proc/none")
    assert (wrong.returncode, wrong.stderr.startswith("weboid: cannot write /proc/none: ")) == (2, True), wrong.stderr


def test_the_gadget_and_its_user_script_are_ecmascript_2016(gadget: BuiltGadget, tmp_path: Path) -> None:
    scripts = [text for title, text in gadget.pages.items() if title.endswith(".js")]
    assert not is_es2016(tmp_path, *scripts, "a?.b")
    assert is_es2016(tmp_path, *scripts, gadget.user_script)


def test_no_key_is_without_a_message_and_no_message_unused() -> None:
    english = json.loads((MESSAGES / "en.json").read_text(encoding="utf-8"))
    there = {key for key in english if key.startswith("weboid-gadget-")}
    code = "\n".join(file.read_text(encoding="utf-8") for file in GADGET.glob("*.js"))
    named = set(_KEY_OR_BEGINNING.findall(code)) | {"weboid-gadget-description", "weboid-gadget-section"}
    beginnings = tuple(name for name in named if name.endswith("-"))
    assert {name for name in named if not name.endswith("-")} - there == set()
    assert {key for key in there if key not in named and not key.startswith(beginnings)} == set()
    assert [name for name in beginnings if not any(key.startswith(name) for key in there)] == []


def test_every_message_is_documented_and_every_language_is_one_of_mediawikis(gadget: BuiltGadget) -> None:
    first, more = messages(gadget, "first"), messages(gadget, "more")
    words = {code: first[code] | more[code] for code in first}
    documented = json.loads((MESSAGES / "qqq.json").read_text(encoding="utf-8"))
    known = json.loads((MESSAGES / "languages" / "languages.json").read_text(encoding="utf-8"))
    assert words["en"].keys() <= documented.keys()
    assert words.keys() <= known.keys()
    assert words.keys() >= {"en", "de", "ar"}
    assert {code for code in words if words[code].keys() != words["en"].keys()} == set()
    assert "weboid-gadget-toolbox" in first["en"]
    assert "weboid-gadget-settings" in more["en"]


def test_the_definition_names_the_modules_of_mediawiki_that_are_used() -> None:
    code = "\n".join(file.read_text(encoding="utf-8") for file in GADGET.glob("*.js"))
    given = set(re.findall(r"mediawiki\.\w+", (GADGET / "definition.txt").read_text(encoding="utf-8")))
    given |= set(re.findall(r"loader\.using\( '(mediawiki\.\w+)'", code))
    brought = {module for one in given for module in _WITH.get(one, set())}
    used = {module for used_as, module in _MODULE_OF.items() if re.search(used_as, code)}
    assert used <= given | brought
    assert given - used <= _WITH.keys()


def test_every_file_says_its_licence() -> None:
    files = [file for file in GADGET.iterdir() if file.suffix in {".js", ".css", ".ts"}]
    assert {
        file.name for file in files if "SPDX-License-Identifier: MIT" not in file.read_text(encoding="utf-8")[:200]
    } == set()
    assert (GADGET / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")


def test_no_registry_is_named_where_packages_are_pinned() -> None:
    pinned = (GADGET / "package-lock.json").read_text(encoding="utf-8")
    assert '"integrity"' in pinned
    assert not re.search(r"registry|\"resolved\"", pinned + (GADGET / "package.json").read_text(encoding="utf-8"))

"""The gadget as one script, for people who cannot install gadgets, and for trying it (G-1).

One law: the script is ECMAScript 2016, as MediaWiki wants scripts of wikis to be, like the files that it is made of.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

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
_ADDING_STYLES: Final = "mediawiki.util"
"""The module of MediaWiki that has `addCSS`."""


def user_script(texts: Mapping[str, str], modules: Sequence[str]) -> str:
    """One script of the gadget's pages by name, the script to begin with first, that loads MediaWiki's `modules`."""
    scripts = [name for name in texts if name.endswith(".js")]
    files = [
        f"\t\t{_literal(f'./{name}')}: ( module, require ) => {{\n{texts[name]}\n\t\t}}"
        if name in scripts
        else f"\t\t{_literal(f'./{name}')}: ( module ) => {{\n\t\t\tmodule.exports = {_data(texts[name])};\n\t\t}}"
        for name in texts
        if not name.endswith(".css")
    ]
    return _SCRIPT % {
        "modules": _literal(list(dict.fromkeys((_ADDING_STYLES, *modules)))),
        "files": ",\n".join(files),
        "styles": _literal("\n".join(text for name, text in texts.items() if name.endswith(".css"))),
        "first": _literal(f"./{scripts[0]}"),
    }


def _data(text: str) -> str:
    return _literal(json.loads(text))


def _literal(value: Any) -> str:
    """A value as an expression: in ECMAScript 2016 two characters may stand in JSON's strings but not in a script's."""
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")

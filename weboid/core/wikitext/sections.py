"""The sections of a wikitext, as MediaWiki numbers them for its editor: 0 is the text before the first heading."""

import re
from typing import Final

_TOKEN: Final = re.compile(r"<!--|<(nowiki|pre|syntaxhighlight|source|math)\b|^=[^\n]*=[ \t]*$", re.M | re.I)
_COMMENT: Final = "<!--"


def section_at(text: str, place: int) -> int:
    """The number of the section in which a place of a text is. Headings that a template brings do not count.

    It takes time in proportion to the text, whatever is in it: what ends nowhere is searched for once.
    """
    section, position, endless = 0, 0, set[str]()
    while (token := _TOKEN.search(text, position)) and token.start() < place:
        position = token.end()
        if token[0] != _COMMENT and not token[1]:
            section += 1
            continue
        end = "-->" if token[0] == _COMMENT else f"</{token[1].lower()}"
        if end in endless:
            continue
        if closed := re.compile(re.escape(end), re.I).search(text, position):
            position = closed.start()
        elif token[0] == _COMMENT:
            break
        else:
            endless.add(end)
    return section

"""What the comment of a revert says of a link: that it works, that its copy is wrong, that others were meant (B-6).

Comments are free text in the language of the wiki, or in English; what is not understood says nothing.
"""

import re
from enum import Enum
from typing import Final

_LONGEST: Final = 1_000
_SECTION: Final = re.compile(r"/\*.*?\*/")
_VANDALISM: Final = re.compile(r"\brvv\b|vandal")
_COPY: Final = re.compile(r"\b(?:archiv\w*|arquiv\w*|snapshots?|wayback|mementos?)\b")
_NOT: Final = re.compile(r"n['’]t\b|\b(?:no|not|nicht|kein\w*|ne|pas|não|nao)\b")
_WORKS: Final = re.compile(
    r"\b(?:works?|working|alive|(?:is|still|url|links?|site|page) (?:live|up|ok|okay|fine|good|active|online)|"
    r"reachable|funktionier\w*|geht|erreichbar|aufrufbar|abrufbar|fonctionne\w*|marche|accessible|en ligne|"
    r"funcionam?|funcionando|ativ[oa]|acess[ií]vel|no ar)\b"
)
_BROKEN: Final = re.compile(
    r"\b(?:dead|broken|down|tot|toter?|defekt\w*|kaputt\w*|mort|bris[ée]|cass[ée]|mort[oa]|quebrad[oa]|inativ[oa])\b"
)
_BAD: Final = re.compile(
    r"\b(?:wrong|bad|blank|empty|useless|incorrect|fails?|failed|falsch\w*|leer\w*|unbrauchbar\w*|mauvais\w*|vide|inutile|"
    r"errad[oa]|vazi[oa]|in[uú]til|ruim)\b"
)


class Remark(Enum):
    """What a comment says."""

    NOTHING = 0
    VANDALISM = 1
    LINK_WORKS = 2
    WRONG_COPY = 3


def remark_in(comment: str) -> Remark:
    """What a comment says; of several things the first of this order: vandalism, a wrong copy, a link that works."""
    text = _SECTION.sub(" ", comment[:_LONGEST]).casefold()
    if _VANDALISM.search(text):
        return Remark.VANDALISM
    is_denied = _NOT.search(text) is not None
    works, broken = _WORKS.search(text) is not None, _BROKEN.search(text) is not None
    if _COPY.search(text) and (broken or _BAD.search(text) or (works and is_denied)):
        return Remark.WRONG_COPY
    return Remark.LINK_WORKS if works != broken and works != is_denied else Remark.NOTHING

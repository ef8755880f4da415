"""The language of a text by its own words, not by what its document declares: templates declare what they like (C-11).

Close relatives count as one language: the question is only whether a text is in a quite different one than before.
The numbers are stored and never change their meaning.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

from weboid.core.document.folding import words_of

UNKNOWN: Final = 0

_SCRIPTS: Final = (
    ("ru", "uk be bg sr mk kk ky mn tg", "\u0400-\u052f"),
    ("el", "", "\u0370-\u03ff\u1f00-\u1fff"),
    ("he", "yi iw", "\u0590-\u05ff"),
    ("ar", "fa ur ps ckb", "\u0600-\u06ff\u0750-\u077f"),
    ("hi", "mr ne bn pa gu or ta te kn ml si", "\u0900-\u0dff"),
    ("th", "lo km my", "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"),
    ("ka", "", "\u10a0-\u10ff"),
    ("hy", "", "\u0530-\u058f"),
    ("am", "ti", "\u1200-\u139f"),
    ("ko", "", "\uac00-\ud7af\u1100-\u11ff"),
    ("ja", "", "\u3040-\u30ff"),
    ("zh", "yue", "\u3400-\u4dbf\u4e00-\u9fff"),
)
"""Languages recognised by their script, with those that count as the same."""
_WORDS: Final = (
    ("en", "", "the of and to in is for that with on as are this by from be it was or at you we not have"),
    ("de", "lb", "der die und das von mit den ist für auf im eine des sich auch dem nicht wir werden sie zu ein oder"),
    ("fr", "", "les des et la du pour dans une est vous sur par au avec plus que qui nous ce sont pas votre ou"),
    ("es", "gl", "el los las del una por para con su es que se más como al lo este sus y nuestra puede o"),
    ("pt", "", "os as dos das um uma não com para por mais do da em como ao que na no são seu você ou"),
    ("it", "", "il di che della per un una con sono del le nel anche più gli alla dei come si questo da non"),
    ("nl", "af", "het een van en voor met zijn op te aan bij ook niet wij dat uw om naar of als deze worden"),
    ("sv", "", "och att det som för på är av med till den ett inte om har kan vi från eller du"),
    ("da", "no nb nn", "og at det som for på er av af med til den et en ikke har kan vi fra eller du"),
    ("fi", "et", "ja on ei että se ovat oli myös sekä tai kun hän mutta joka voi kuin sen ole ole"),
    ("pl", "", "w na się że do jest z nie to oraz po dla od jak lub przez są o ze które może a i"),
    ("cs", "sk", "se na je v že do pro jsou s nebo jako po k od za ale jsme z si ve sú sa pre ako a i"),
    ("hu", "", "a az és hogy nem egy is ez meg vagy de van csak már mint ki kell el volt még"),
    ("ro", "", "și în de la cu pe care nu este din pentru mai un o sau sunt că se ce prin al"),
    ("tr", "az", "ve bir bu için ile da de en olarak daha olan çok gibi her sonra kadar ya veya ne"),
    ("id", "ms", "dan yang di untuk dengan ini dari adalah pada bisa dapat anda tidak akan atau ke dalam juga itu"),
    ("vi", "", "và của là có cho không được các trong với người một những để tại này khi đã từ cũng nhiều"),
    ("hr", "bs sl", "i je u na se za su od da s ne to kao ili koji te što iz po bi in ki so"),
    ("lt", "lv", "ir yra su kad iš į tai ar kaip bei apie jūs mūsų gali un ar no par kas tas ir uz"),
    ("ca", "", "els les amb per que una del dels és un en al més com aquest seva i o hem"),
    ("eu", "", "eta da ez du bat dira izan baina ere dute hau zuen egin dago hori"),
    ("cy", "ga gd", "yn y yr a o ar i mae ei am gan wedi oedd bod hefyd neu sydd"),
    ("tl", "", "ang ng sa mga na ay at ito para kung mo ka hindi may ni kay"),
    ("sw", "", "ya na wa kwa ni katika za la kuwa hii cha au pia yake"),
)
"""Languages recognised by their commonest words."""
_BY_TAG: Final = {
    tag: number for number, (code, same, _) in enumerate((*_SCRIPTS, *_WORDS), start=1) for tag in (code, *same.split())
}
_READ_WORDS: Final = 1_000
_SCRIPT_SHARE: Final = 0.3
"""The share of letters in a script from which on it is the text's: names and menus are in Latin letters everywhere."""
_FEWEST: Final = 8
_WORD_SHARE: Final = 0.05
_AHEAD: Final = 1.5


@cache
def _scripts() -> tuple[tuple[int, re.Pattern[str]], ...]:
    """The numbers of languages recognised by their script, each with its letters."""
    return tuple((_BY_TAG[code], re.compile(f"[{letters}]")) for code, _, letters in _SCRIPTS)


@cache
def _numbers_of_words() -> dict[str, tuple[int, ...]]:
    """The numbers of the languages that have a word."""
    numbers: dict[str, tuple[int, ...]] = {}
    for code, _, common in _WORDS:
        for word in words_of(common):
            numbers[word] = (*numbers.get(word, ()), _BY_TAG[code])
    return numbers


def language_of(words: Sequence[str]) -> int:
    """The number of the language of a text given as its words, in lower case; UNKNOWN if it is in doubt."""
    words = words[:_READ_WORDS]
    letters = "".join(words)
    shares = {number: len(script.findall(letters)) / max(1, len(letters)) for number, script in _scripts()}
    japanese, chinese = _BY_TAG["ja"], _BY_TAG["zh"]
    if shares[japanese] > _SCRIPT_SHARE / 6:
        shares[japanese] += shares.pop(chinese)
    number = max(shares, key=shares.__getitem__)
    if shares[number] >= _SCRIPT_SHARE:
        return number
    known = _numbers_of_words()
    counts = Counter(number for word in words for number in known.get(word, ()))
    (best, most), (_, next_most) = (*counts.most_common(2), (0, 0), (0, 0))[:2]
    is_clear = most >= max(_FEWEST, _WORD_SHARE * len(words)) and most >= _AHEAD * next_most
    return best if is_clear else UNKNOWN


def number_of(tag: str) -> int:
    """The number of a language by a tag such as ``de-AT``; UNKNOWN if it is not one of ours."""
    return _BY_TAG.get(tag.lower().replace("_", "-").partition("-")[0], UNKNOWN)

"""How fast URLs are held against spam lists, beside judging their form alone: ``python -m benchmarks.spam [FILE]``.

FILE is a list in MediaWiki's format (default: a real one beside the checkout, if it is there). Lists of other lengths
are made up. The URLs are those of `benchmarks.urls`, each on a host of its own name besides.
One law: all run in one process on the same links, and the ratio is what counts.
"""

import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.urls import recorded_links
from weboid.core.url.classify import classify
from weboid.core.url.farms import WMF
from weboid.core.url.spam_lines import SpamFilter, parse_lines

_ROOT = Path(__file__).resolve().parents[1]
_REAL = _ROOT.parent / "shared" / "data" / "blacklists" / "videolan_SpamBlacklist.mediawiki"
_LONGEST_S = 3.0
_TLDS = ("com", "net", "ru", "info", r"co\.uk", "(?:biz|org)")


def _rate(work: Callable[[str], object], links: Sequence[str]) -> float:
    """URLs/s of one round over links that were never seen before, broken off after some seconds."""
    begun, done = perf_counter(), 0
    for done, link in enumerate(links, 1):
        work(link)
        if not done % 100 and perf_counter() - begun > _LONGEST_S:
            break
    return done / (perf_counter() - begun)


def made_list(lines: int, words: Sequence[str], chance: random.Random) -> str:
    """Lines as spam lists have them, of words that the URLs hold too."""
    made = (rf"\b{chance.choice(words)}-?{chance.choice(words)}\.{chance.choice(_TLDS)}\b" for _ in range(lines))
    return "\n".join(made)


def _spread(links: Sequence[str], words: Sequence[str], chance: random.Random) -> list[str]:
    """The links, each with a word more in front of its host: a list meets hosts that it has not met."""
    return [re.sub("//", f"//{chance.choice(words)}{chance.choice(words)}.", link, count=1) for link in links]


def main(arguments: list[str]) -> None:
    """Prints URLs/s on one core, and what filtering adds to the time that judging the form takes."""
    chance = random.Random(1)
    links = [link for link in recorded_links([]) if classify(link, None).url]
    words = sorted({word for link in links for word in re.findall("[a-z]{4,12}", link.lower())})
    words += ["".join(chance.choices("aeioubdgklmnprst", k=7)) for _ in range(5_000)]
    links = (_spread(links, words, chance) * (20_000 // len(links) + 1))[:20_000]
    real = Path(arguments[0]) if arguments else _REAL
    texts = {f"made up, {lines:,} lines": made_list(lines, words, chance) for lines in (1_000, 10_000, 60_000)}
    if real.exists():
        texts = {f"{real.name[:30]}": real.read_text(encoding="utf-8"), **texts}
    judging = _rate(lambda link: classify(link, WMF), links)
    print(f"{len(links)} links, {len(words)} words; one core")
    print(f"{'classify alone':34}{judging:>10,.0f} URLs/s")
    for name, text in texts.items():
        begun = perf_counter()
        lines = parse_lines(text)
        parsed = perf_counter()
        spam = SpamFilter(lines.usable)
        built = perf_counter()
        filtering = _rate(lambda link, spam=spam: spam.is_spam(link), links)  # type: ignore[misc]
        print(
            f"{name:34}{filtering:>10,.0f} URLs/s   filtering takes {judging / filtering:.2f} of classify's time;"
            f" {len(lines.usable)} lines run, {len(lines.unusable)} not; read in {1e3 * (parsed - begun):,.0f} ms,"
            f" built in {1e3 * (built - parsed):,.0f} ms"
        )


if __name__ == "__main__":
    main(sys.argv[1:])

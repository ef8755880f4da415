"""Scenario life: rounds a week apart on one store, as a running service has them; processor time a check by round.

Only the first round asks by HEAD. The second reads robots.txt and the documents that have no portrait yet; later each
URL is looked at once in a fortnight. Two working trees are measured in turn, round by round.
"""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import Final

from benchmarks.crawl.bench import Bench, Settings, open_bench
from benchmarks.crawl.links import single
from benchmarks.crawl.measure import Client, Figures, tell_figures
from benchmarks.crawl.peers import peer
from benchmarks.harness import ROOT, Target, say, tell

_DAYS: Final = 7
_ROUNDS: Final = 6
_SIZES_KB: Final = (1, 10, 100)
_URLS_A_S: Final = 60
_LIMIT_S: Final = 600.0
_PEERS: Final = ("C", "lychee")
_LARGEST: Final = 0.3
"""The share of the other tree's processor time that is allowed."""
_SYLLABLES: Final = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "zu")


def life(settings: Settings, folder: Path | None, tree: Path | None) -> list[Target]:
    """Pages of 1, 10 and 100 KB, then the real ones of a folder; this tree, next to another one if that is given."""
    urls = settings.share(_URLS_A_S)
    tell(f"life: {urls:,} URLs, {_ROUNDS} rounds {_DAYS} days apart, CPU ms a check by round; {settings.cores}")
    kinds = {f"pages of {size} KB": [written(1_000 * size)] for size in _SIZES_KB}
    if folder:
        kinds["real pages"] = [file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix != ".jsonl"]
    targets = []
    for kind, pages in kinds.items():
        means = _lived(settings, kind, pages, urls, [tree, ROOT] if tree else [ROOT])
        if tree:
            ratio = means[ROOT] / max(means[tree], 1e-9)
            targets.append(Target(f"{kind}: at most {_LARGEST} × of {tree}", ratio, _LARGEST, at_most=True))
    return targets


def _lived(
    settings: Settings, kind: str, pages: Sequence[bytes], urls: int, trees: Sequence[Path]
) -> dict[Path, float]:
    """The mean of each tree in milliseconds of processor time a check."""
    rounds: dict[Path, list[Figures]] = {tree: [] for tree in trees}
    with ExitStack() as stack:
        benches = [stack.enter_context(open_bench(settings, pages=pages, tree=tree)) for tree in trees]
        for bench in benches:
            bench.empty()
            bench.take_in(single, urls)
        for number in range(_ROUNDS):
            for bench in benches:
                say(f"{kind}, round {number + 1} of {_ROUNDS}, {bench.tree.name}")
                figures = bench.measure(bench.crawler(days=_DAYS), _LIMIT_S, lambda figures: False)
                rounds[bench.tree].append(figures)
                if wrong := bench.wrong():
                    tell(f"  {bench.tree.name}, round {number + 1}: found other than fine: {wrong}")
        means = {tree: _printed(f"{kind}, {tree.name}", some) for tree, some in rounds.items()}
        _tell_peers(benches[-1], rounds[trees[-1]][-1], urls)
    return means


def _printed(name: str, rounds: Sequence[Figures]) -> float:
    each_ms = [_cpu_ms(figures) for figures in rounds]
    cells = " ".join(f"{cpu_ms:6.2f}" for cpu_ms in each_ms)
    tell(f"  {name:34}{cells}  mean {mean(each_ms):6.2f}, {max(each.peak_mib for each in rounds):,.0f} MiB")
    return mean(each_ms)


def _cpu_ms(figures: Figures) -> float:
    """CPU milliseconds a check from just before the first answer to the end of a round."""
    first = max((each for each in figures.samples if not each.counts.requests), key=lambda each: each.at_s)
    return 1e3 * (figures.samples[-1].client.cpu_s - first.client.cpu_s) / max(figures.counts.urls, 1)


def _tell_peers(bench: Bench, ours: Figures, urls: int) -> None:
    """The last round next to what peers do with the same URLs: one HEAD each."""
    rows = [peer(bench, name, urls) for name in _PEERS]
    tell_figures(
        ours, [bench.measure(row, _LIMIT_S, lambda figures: False) if isinstance(row, Client) else row for row in rows]
    )


def written(size: int) -> bytes:
    """A page of about so many bytes with as much markup as pages have: some seven elements for every fifty words."""
    chance = random.Random(size)
    parts = ["<!doctype html><html lang=en><head><title>A page about something</title></head><body><h1>A page</h1>"]
    while sum(map(len, parts)) < size:
        words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(50)]
        link = f'<a class="more" href="/{words[0]}/{words[1]}.html" title="{words[2]}">{words[3]}</a>'
        parts.append(
            f'<div class="item"><h3 id="{words[4]}">{words[5]} {words[6]}</h3>'
            f"<p>{' '.join(words[7:30])} <b>{words[30]}</b> {link} {' '.join(words[31:])}.</p>"
            f"<ul><li>{words[8]}</li></ul></div>"
        )
    return "".join(parts).encode()

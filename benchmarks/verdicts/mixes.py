"""Which hosts a world at random has, for how long it is lived through, and what befalls ourselves meanwhile.

One law: shares are written down here and nowhere else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from benchmarks.verdicts import hardlives as hard
from benchmarks.verdicts import lives
from benchmarks.verdicts.lives import DAYS, Json, Kind

_THIRDS: Final = 3


@dataclass(frozen=True, slots=True)
class Mix:
    """The weights of kinds of hosts, the days, and the file's keys on our own troubles.

    `finish` is given every host in the order of their numbers, and may add to it.
    """

    kinds: Mapping[Kind, int]
    days: int = DAYS
    own: Json = field(default_factory=dict)
    finish: Callable[[Random, int, Json], None] = lambda chance, number, host: None
    note: str = ""


def _networked(chance: Random, number: int, host: Json) -> None:
    """Every host lies in one of three networks, and some have no neighbours."""
    if chance.random() < 0.9:
        host["network"] = number % _THIRDS + 1


_USUAL: Final[Mapping[Kind, int]] = {
    lives.sound: 42,
    lives.flapping: 5,
    lives.maintained: 6,
    lives.walled: 8,
    lives.lapsed: 5,
    lives.left: 5,
    lives.sold: 4,
    lives.redesigned: 5,
    lives.closed: 2,
    lives.certified: 5,
    lives.slow: 3,
    lives.tarpit: 1,
    lives.head_hater: 3,
    lives.liar: 2,
    lives.one_schemed: 2,
    lives.broken_down: 5,
}
_ROUGH: Final[Mapping[Kind, int]] = {
    lives.sound: 12,
    lives.flapping: 15,
    lives.maintained: 10,
    lives.walled: 14,
    lives.rudely_walled: 2,
    lives.lapsed: 7,
    lives.left: 5,
    lives.sold: 5,
    lives.redesigned: 6,
    lives.closed: 3,
    lives.certified: 5,
    lives.slow: 3,
    lives.tarpit: 2,
    lives.head_hater: 3,
    lives.liar: 3,
    lives.hopeless_liar: 1,
    lives.one_schemed: 3,
    lives.broken_down: 9,
}
"""Far more of all trouble, and some that no check from one place can see through."""
_ORDINARY: Final[Mapping[Kind, int]] = {
    lives.sound: 52,
    hard.large: 8,
    lives.flapping: 3,
    lives.maintained: 5,
    lives.walled: 8,
    lives.rudely_walled: 1,
    hard.shaky_wall: 6,
    hard.lying_wall: 4,
    hard.backed_up: 6,
    hard.bare_503: 2,
    lives.lapsed: 4,
    lives.left: 6,
    lives.sold: 4,
    lives.redesigned: 5,
    lives.closed: 2,
    lives.certified: 4,
    lives.slow: 3,
    lives.tarpit: 1,
    lives.head_hater: 3,
    lives.liar: 2,
    lives.hopeless_liar: 1,
    lives.one_schemed: 2,
    lives.broken_down: 4,
}
_CRUEL: Final[Mapping[Kind, int]] = {
    lives.sound: 8,
    hard.large: 2,
    hard.outage: 22,
    hard.holidays: 8,
    hard.lost_pages: 8,
    hard.flickering: 14,
    hard.on_weekdays: 7,
    hard.at_hours: 6,
    hard.backed_up: 7,
    hard.lying_wall: 3,
    hard.shaky_wall: 6,
    hard.entangled: 8,
    hard.dead_early: 12,
    hard.bare_503: 3,
    hard.new_owner: 4,
}
_OWN_TROUBLES: Final[Mapping[Kind, int]] = {
    lives.sound: 50,
    hard.large: 6,
    hard.dead_early: 12,
    hard.outage: 6,
    hard.flickering: 3,
    hard.backed_up: 4,
    lives.walled: 6,
    hard.shaky_wall: 3,
    lives.certified: 4,
    lives.head_hater: 3,
    hard.new_owner: 2,
}
_PROXIES: Final[Mapping[Kind, int]] = {
    lives.sound: 20,
    hard.dying_behind_proxy: 35,
    hard.flaky_behind_proxy: 35,
    lives.walled: 10,
}
MIXES: Final[Mapping[str, Mix]] = {
    "usual": Mix(
        _USUAL,
        own={"own-outages": [{"from": 133, "to": 135}, {"from": 250, "to": 250, "lost": "names-fail"}]},
    ),
    "rough": Mix(
        _ROUGH,
        own={
            "own-outages": [
                {"from": 60, "to": 61, "lost": "servers"},
                {"from": 133, "to": 136},
                {"from": 222, "to": 222, "lost": "names"},
                {"from": 300, "to": 301, "lost": "names-fail"},
            ]
        },
    ),
    "ordinary": Mix(_ORDINARY, 240, {"own-outages": [{"from": 133, "to": 134}]}, note="a store as it would be"),
    "cruel": Mix(_CRUEL, hard.HARD_DAYS, {"own-outages": []}, note="nearly every host is in some trouble"),
    "own-troubles": Mix(
        _OWN_TROUBLES,
        hard.HARD_DAYS,
        {
            "own-outages": [
                {"from": 20, "to": 36, "lost": "servers", "networks": [1]},
                {"from": 50, "to": 53},
                {"from": 60, "to": 60, "lost": "names-fail"},
                {"from": 75, "to": 86, "lost": "names", "networks": [2]},
                {"from": 130, "to": 149, "networks": [3]},
            ],
            "pauses": [{"from": 40, "to": 44}, {"from": 95, "to": 109}],
            "kills": [10, 11, 30, 66, 90, 120],
            "clock": [{"day": 47, "by": 20}, {"day": 70, "by": -3}, {"day": 115, "days": 2, "by": 4}],
        },
        _networked,
        "it is our side that fails",
    ),
    "proxies": Mix(
        _PROXIES, hard.HARD_DAYS, {"own-outages": [{"from": 50, "to": 51}]}, note="proxies whose hosts fail"
    ),
    "store": Mix(
        {
            lives.sound: 4,
            hard.large: 2,
            hard.outage: 3,
            hard.flickering: 2,
            hard.dead_early: 3,
            hard.backed_up: 2,
            hard.shaky_wall: 2,
            hard.lost_pages: 2,
        },
        hard.HARD_DAYS,
        {"own-outages": [{"from": 100, "to": 118}], "pauses": [{"from": 140, "to": 142}]},
        note="a small store: nobody else shows whether it is our side that fails",
    ),
}

"""How hosts live at random that are hard to judge: outages of all lengths, hours, weekdays, several troubles at once.

One law: a seed gives the same world for ever.
"""

from random import Random
from typing import Any, Final

from benchmarks.verdicts.lives import Json, Life, paths_of, sound

HARD_DAYS: Final = 170
_NETWORK: Final = ("silence", "refused", "reset", "hang-up")
_NAMES: Final = ("dns-gone", "dns-servfail", "dns-silent", "dns-empty")
_SERVER: Final[tuple[Any, ...]] = (
    {"status": 500},
    {"status": 502},
    {"status": 503},
    {"status": 504},
    {"status": {"code": 503, "retry_after_s": 3600}},
)
_LYING_WALLS: Final[tuple[Any, ...]] = (
    {"wall": 404},
    {"wall": 410},
    {"wall": 500},
    {"wall": 503},
    {"wall": {"how": "reset"}},
    {"wall": {"how": "silence"}},
)
_OF_PROXIES: Final = (520, 521, 522, 523, 524, 525, 526, 527, 530)
"""What a proxy in front of a host answers where that fails: no connection, no answer, a bad certificate, no name."""


def fault_of(chance: Random) -> Any:
    """A fault of a whole host: its names, its network or its servers."""
    return chance.choice(chance.choice((_NETWORK, _NAMES, _SERVER)))


def _steady(chance: Random, most: int = 6) -> Json:
    return {"paths": paths_of(chance, lambda: "page", most)}


def large(chance: Random) -> Json:
    host = sound(chance)
    host["paths"] |= {f"/item/{number}": "page" for number in range(chance.randint(6, 24))}
    return host


def outage(chance: Random) -> Json:
    """Names, network or servers are away for one to sixty days."""
    day, length = chance.randint(5, 100), chance.randint(1, 60)
    return {"life": [[0, "up"], [day, fault_of(chance)], [day + length, "up"]], **_steady(chance)}


def holidays(chance: Random) -> Json:
    """Servers that are shut down over the holidays: two to four weeks."""
    day, length = chance.randint(20, 90), chance.randint(13, 27)
    state = chance.choice(("refused", "silence", "dns-servfail", {"status": 503}))
    return {"life": [[0, "up"], [day, state], [day + length, "up"]], **_steady(chance)}


def lost_pages(chance: Random) -> Json:
    """Pages that are missing for some days or weeks, and come back."""

    def life() -> Life:
        day, length = chance.randint(5, 100), chance.randint(1, 60)
        return [[0, "page"], [day, {"status": chance.choice((404, 404, 410))}], [day + length, "page"]]

    host = _steady(chance, 3)
    host["paths"] |= {f"/lost/{number}": life() for number in range(chance.randint(1, 3))}
    return host


def flickering(chance: Random) -> Json:
    """Up and down at random, down on up to six days of ten."""
    down, fault = chance.uniform(0.1, 0.6), fault_of(chance)
    if chance.random() < 0.4:
        up_days = chance.randint(2, 9)
        down_days = max(1, min(8, round(up_days * down / (1 - down))))
        cycle = [[up_days, "up"], [down_days, fault]]
        return {"life": [[0, "up"], {"from": chance.randint(1, 30), "repeat": cycle}], **_steady(chance)}
    life: Life = [[0, "up"]]
    is_up = True
    for day in range(chance.randint(2, 30), HARD_DAYS):
        if (chance.random() >= down) is not is_up:
            is_up = not is_up
            life.append([day, "up" if is_up else fault])
    return {"life": life, **_steady(chance, 4)}


def on_weekdays(chance: Random) -> Json:
    open_days = chance.randint(3, 6)
    state = chance.choice((fault_of(chance), {"status": 404}))
    cycle = [[open_days, "up"], [7 - open_days, state]]
    return {"life": [[0, "up"], {"from": chance.randint(1, 7), "repeat": cycle}], **_steady(chance)}


def at_hours(chance: Random) -> Json:
    first, length = chance.randint(0, 23), chance.randint(6, 16)
    hours = [[first, (first + length) % 24, "up"]]
    return {"life": {"hours": hours, "else": fault_of(chance)}, **_steady(chance)}


def backed_up(chance: Random) -> Json:
    first, length = chance.choice((22, 23, 0, 0, 0, 1, 2)), chance.randint(1, 4)
    state = chance.choice(("refused", "silence", {"status": 503}, {"status": 502}, {"status": 500}))
    hours = {"hours": [[first, (first + length) % 24, state]], "else": "up"}
    if chance.random() < 0.5:
        return {"life": hours, **_steady(chance)}
    return {"life": [[0, "up"], [chance.randint(5, 60), hours]], **_steady(chance)}


def lying_wall(chance: Random) -> Json:
    """A wall that says to machines that the page is missing or the server broken, for weeks or for ever."""
    day, wall = chance.randint(0, 80), chance.choice(_LYING_WALLS)
    life: Life = [[0, "up"], [day, wall]] if day else [[0, wall]]
    return {"life": life if chance.random() < 0.6 else [*life, [day + chance.randint(5, 60), "up"]], **_steady(chance)}


def shaky_wall(chance: Random) -> Json:
    """A wall that turns machines away, and on some days does something else."""
    cycle: list[list[Any]] = []
    for _ in range(6):
        cycle.append([chance.randint(5, 30), {"wall": chance.choice((403, 403, 429, 406))}])
        odd = chance.choice(({"wall": 404}, {"wall": 500}, {"wall": {"how": "silence"}}, "silence", "dns-servfail"))
        cycle.append([chance.randint(1, 3), odd])
    return {"life": [[0, "up"], {"from": chance.randint(1, 20), "repeat": cycle}], **_steady(chance)}


def entangled(chance: Random) -> Json:
    """Several troubles at once: an expired certificate, one scheme only, flapping, a wall of its own."""
    fault = fault_of(chance)
    day = chance.randint(5, 60)
    wall = {"wall": chance.choice((403, 429, {"code": 403, "referrer": True}))}
    turns = [[chance.randint(2, 6), chance.choice(("no-http", wall))], [chance.randint(1, 3), fault]]
    host: Json = {"life": [[0, "up"], {"from": day, "repeat": turns}], **_steady(chance)}
    if chance.random() < 0.7:
        fault_of_certificate = chance.choice(("expired", "expired", "wrong-host", "self-signed"))
        host["certificate"] = [[0, "fine"], [chance.randint(3, 80), fault_of_certificate]]
        host["scheme"] = chance.choice(("https", "https", "both"))
    if chance.random() < 0.5:
        host["paths"]["/walled"] = [[0, "page"], [chance.randint(3, 80), {"wall": 403}]]
    if chance.random() < 0.5:
        away = [[chance.randint(0, 23), chance.randint(0, 23), {"status": 503}]]
        if away[0][0] != away[0][1]:
            host["paths"]["/hours"] = {"hours": away, "else": "page"}
    return host


def dead_early(chance: Random) -> Json:
    """A host or its pages die early enough to be reported."""
    day = chance.randint(5, 100)
    if chance.random() < 0.5:
        end = chance.choice(("dns-gone", "dns-gone", "dns-servfail", "refused", "silence", {"status": 502}))
        return {"life": [[0, "up"], [day, end]], **_steady(chance)}
    host = _steady(chance, 3)
    host["paths"]["/dead"] = [[0, "page"], [day, {"status": chance.choice((404, 404, 410))}]]
    return host


def bare_503(chance: Random) -> Json:
    """A server that says for months, or for ever, that it is unavailable."""
    day = chance.randint(5, 60)
    life: Life = [[0, "up"], [day, {"status": 503}]]
    return {
        "life": life if chance.random() < 0.5 else [*life, [day + chance.randint(30, 100), "up"]],
        **_steady(chance),
    }


def new_owner(chance: Random) -> Json:
    """The domain goes, and comes back as something else."""
    day, pause = chance.randint(5, 60), chance.choice((3, 8, 20, 35, 60))
    new: Any = chance.choice(({"sold": "en"}, {"sold": "pl"}, {"for-sale": "de"}, {"parked": "en"}))
    return {"life": [[0, "up"], [day, "dns-gone"], [day + pause, new]], **_steady(chance)}


def _of_proxy(chance: Random) -> Any:
    return {"status": chance.choice(_OF_PROXIES)}


def dying_behind_proxy(chance: Random) -> Json:
    """A host whose proxy stays: its codes change, or the name goes at last."""
    day = chance.randint(5, 100)
    life: Life = [[0, "up"], [day, _of_proxy(chance)]]
    if chance.random() < 0.5:
        life.append([day + chance.randint(1, 20), _of_proxy(chance)])
    if chance.random() < 0.3:
        life.append([life[-1][0] + chance.randint(10, 40), "dns-gone"])
    return {"life": life, **_steady(chance)}


def flaky_behind_proxy(chance: Random) -> Json:
    """A living host that its proxy does not reach for hours, days or weeks."""
    day, fault = chance.randint(5, 60), _of_proxy(chance)
    match chance.choice(("once", "often", "hours", "wall")):
        case "once":
            life: Any = [[0, "up"], [day, fault], [day + chance.randint(1, 27), "up"]]
        case "often":
            turns = [[chance.randint(2, 9), "up"], [chance.randint(1, 3), fault]]
            life = [[0, "up"], {"from": day, "repeat": turns}]
        case "hours":
            first = chance.randint(0, 23)
            life = {"hours": [[first, (first + chance.randint(1, 6)) % 24, fault]], "else": "up"}
        case _:
            wall = {"wall": {"code": 403, "challenge": True}}
            life = [[0, "up"], {"from": day, "repeat": [[chance.randint(5, 20), wall], [chance.randint(1, 3), fault]]}]
    return {"life": life, **_steady(chance)}

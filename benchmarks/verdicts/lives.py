"""How hosts live, at random: one function a kind of host, each giving a host of a world's file (``docs/worlds.md``).

The shares of kinds are from general knowledge of the web, not measured; `generate` puts worlds together from them.
One law: a seed gives the same world for ever.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

Json = dict[str, Any]
Life = list[list[Any]]

DAYS: Final = 365
_LANGUAGES: Final = ("en", "en", "en", "de", "de", "fr", "es", "ru")
_WORDS: Final = (
    "about archive boats catalogue chronicle data digest events fauna flora gallery gazette herring index isles "
    "journal letters library map minutes museum news notes object paper people photo press records report review "
    "storm study survey tide tower travel weather wreck"
)
_DOWN: Final = ("silence", "refused", "dns-servfail", "dns-silent", "reset", {"status": 500}, {"status": 502})
_NOT_THERE: Final = ({"status": 404}, {"status": 404}, {"status": 404}, {"status": 410}, {"status": 500})


def _word(chance: Random) -> str:
    return chance.choice(_WORDS.split())


def paths_of(chance: Random, life: Callable[[], Any], most: int = 7) -> Json:
    """Some paths, each with a life."""
    paths: Json = {}
    for _ in range(min(chance.randint(1, most), chance.randint(1, most)) + 1):
        name = "/".join(_word(chance) for _ in range(chance.randint(1, 2)))
        ending = chance.choice(("", "", f"/{chance.randint(1, 999)}", ".html", f"?id={chance.randint(1, 99)}"))
        paths[f"/{name}{ending}"] = life()
    return paths


def usual_path(chance: Random) -> Any:
    """A path of a sound site: most stay, some die, a few come back or move."""
    match chance.choices(range(6), (80, 9, 3, 4, 3, 1))[0]:
        case 0:
            return "page"
        case 1:
            return [[0, "page"], [_day(chance), chance.choice(_NOT_THERE)]]
        case 2:
            gone = chance.randint(5, 250)
            return [[0, "page"], [gone, chance.choice(_NOT_THERE)], [gone + chance.randint(3, 110), "page"]]
        case 3:
            return [[0, "page"], [_day(chance), {"redirect": f"/new/{_word(chance)}"}]]
        case 4:
            return {"page": {"kind": "application/pdf", "size_kib": chance.randint(10, 400)}}
    return {"chain": chance.randint(1, 8)}


def sound(chance: Random) -> Json:
    host: Json = {"paths": paths_of(chance, lambda: usual_path(chance))}
    host["paths"] |= {f"/new/{word}": "page" for word in sorted(_moved_to(host["paths"]))}
    host["unlinked"] = [path for path in host["paths"] if path.startswith("/new/")]
    if not host["unlinked"]:
        del host["unlinked"]
    return host


def _moved_to(paths: Json) -> set[str]:
    targets = [
        spell[1]["redirect"]
        for life in paths.values()
        if isinstance(life, list)
        for spell in life
        if isinstance(spell[1], dict) and "redirect" in spell[1]
    ]
    return {target.removeprefix("/new/") for target in targets}


def _with_life(chance: Random, life: Any) -> Json:
    return {"life": life, **sound(chance)}


def _day(chance: Random) -> int:
    return chance.randint(1, DAYS - 5)


def _spells(chance: Random, up: tuple[int, int], down: tuple[int, int], state: Callable[[], Any]) -> Life:
    """Up and down in turns of so many days."""
    life: Life = [[0, "up"]]
    day = chance.randint(1, up[1])
    while day < DAYS:
        back = day + chance.randint(*down)
        life += [[day, state()], [back, "up"]]
        day = back + chance.randint(*up)
    return life


def flapping(chance: Random) -> Json:
    """Up for some days, down for some, for months; whole hosts and single pages."""
    up, down = chance.randint(1, 9), chance.randint(1, 4)
    first, until = chance.randint(1, 60), chance.randint(200, DAYS)
    fault = chance.choice(_DOWN)
    if chance.random() < 0.5:
        cycle = [[up, "up"], [down, fault]]
        return _with_life(chance, [[0, "up"], {"from": first, "until": until, "repeat": cycle}])
    fault = chance.choice(({"status": 500}, {"status": 404}, "reset", "silence"))
    life = [[0, "page"], {"from": first, "until": until, "repeat": [[up, "page"], [down, fault]]}]
    host = sound(chance)
    host["paths"][f"/live/{_word(chance)}"] = life
    return host


def maintained(chance: Random) -> Json:
    """Maintenance windows: a day a week, some days a month, or two weeks once; announced or not."""
    state: Any = chance.choice(
        ({"status": {"code": 503, "retry_after_s": 86_400}}, {"status": 503}, "refused", {"status": 502})
    )
    match chance.randint(0, 2):
        case 0:
            first = chance.randint(1, 7)
            return _with_life(chance, [[0, "up"], {"from": first, "repeat": [[6, "up"], [1, state]]}])
        case 1:
            length = chance.randint(1, 4)
            first = chance.randint(1, 28)
            return _with_life(chance, [[0, "up"], {"from": first, "repeat": [[30 - length, "up"], [length, state]]}])
    day = chance.randint(5, 330)
    return _with_life(chance, [[0, "up"], [day, state], [day + chance.randint(6, 20), "up"]])


def walled(chance: Random) -> Json:
    """Bot walls that come and go: codes, challenges, challenges that look like pages."""
    lang = chance.choice(("en", "de", "fr", "ru"))
    walls: tuple[Any, ...] = (
        {"wall": 403},
        {"wall": 403},
        {"wall": 429},
        {"wall": {"code": 403, "challenge": True}},
        {"wall": {"code": 503, "page": {"challenge": lang}}},
        {"wall": {"code": 200, "page": {"challenge": lang}}},
        {"wall": 999},
        {"wall": 406},
        {"wall": {"code": 403, "referrer": True}},
    )
    if chance.random() < 0.3:
        return _with_life(chance, chance.choice(walls))
    return _with_life(chance, _spells(chance, (5, 60), (3, 120), lambda: chance.choice(walls)))


def rudely_walled(chance: Random) -> Json:
    """Walls that lie to machines, or do not answer them: what a person sees there no check from here can know."""
    wall = chance.choice(({"wall": 404}, {"wall": {"how": "reset"}}, {"wall": {"how": "silence"}}, {"wall": 500}))
    day = chance.randint(5, 300)
    return _with_life(chance, [[0, "up"], [day, wall], [day + chance.randint(3, 60), "up"]])


def lapsed(chance: Random) -> Json:
    """The domain was not renewed in time, or its name server fails for some days."""
    day = chance.randint(5, 300)
    state = chance.choice(("dns-gone", "dns-gone", "dns-servfail", "dns-empty"))
    if chance.random() < 0.7:
        return _with_life(chance, [[0, "up"], [day, state], [day + chance.randint(1, 13), "up"]])
    return _with_life(chance, [[0, "up"], [day, state], [day + chance.randint(20, 60), "up"]])


def left(chance: Random) -> Json:
    """The domain ends for ever, or its server does."""
    end = chance.choice(("dns-gone", "dns-gone", "dns-gone", "dns-servfail", "refused", "silence", {"status": 404}))
    return _with_life(chance, [[0, "up"], [_day(chance), end]])


def sold(chance: Random) -> Json:
    """The domain goes, and somebody else comes: to sell it, to park it, or with a site of his own."""
    day = chance.randint(3, 260)
    lang = chance.choice(("en", "en", "de", "fr", "es", "ru"))
    new: Any = chance.choice(({"for-sale": lang}, {"for-sale": lang}, {"parked": lang}, {"sold": "en"}, {"sold": "pl"}))
    pause = chance.choice((0, 5, 32, 75))
    life: Life = [[0, "up"], [day, "dns-gone"], [day + pause, new]] if pause else [[0, "up"], [day, new]]
    return _with_life(chance, life)


def redesigned(chance: Random) -> Json:
    """A new site on the old domain: old addresses are soft 404s, lead home, are missing, or have really moved."""
    day, lang = _day(chance), chance.choice(_LANGUAGES)
    new: Any = chance.choice(
        (
            {"soft-404": lang},
            {"soft-404": lang},
            {"redirect": "/"},
            {"status": 404},
            {"redirect": "/new/all"},
            {"redesign": "de" if lang == "de" else "en"},
        )
    )
    host: Json = {"paths": paths_of(chance, lambda: [[0, "page"], [day, new]])}
    if "redirect" not in new:
        host["others"] = [[0, {"status": 404}], [day, new]]
    host["paths"] |= {"/new/all": "page", "/": "page"}
    host["unlinked"] = ["/new/all"]
    return host


def closed(chance: Random) -> Json:
    """Pages that go behind a login or a payment."""
    day, lang = _day(chance), chance.choice(("en", "de", "fr", "ru"))
    new: Any = chance.choice(
        ({"redirect": "/login"}, {"login": lang}, {"status": 401}, {"status": 402}, {"status": 403})
    )
    host: Json = {"paths": paths_of(chance, lambda: [[0, "page"], [day, new]])}
    host["paths"]["/login"] = {"login": lang}
    host["unlinked"] = ["/login"]
    return host


def certified(chance: Random) -> Json:
    """Certificates that expire and are renewed after days or never, or were never right."""
    fault = chance.choice(("expired", "expired", "expired", "wrong-host", "self-signed", "unknown-issuer"))
    if chance.random() < 0.2:
        life: Any = fault
    elif chance.random() < 0.2:
        life = [[0, "fine"], [_day(chance), fault]]
    else:
        day = chance.randint(3, 300)
        life = [[0, "fine"], [day, fault], [day + chance.choice((1, 2, 4, 9, 20, 50)), "fine"]]
    return {"certificate": life, **sound(chance), "scheme": "https"}


def slow(chance: Random) -> Json:
    """Answers after many seconds, always or for weeks."""
    lag = {"slow": chance.randint(4, 40)}
    if chance.random() < 0.4:
        return _with_life(chance, lag)
    return _with_life(chance, _spells(chance, (20, 90), (3, 30), lambda: lag))


def tarpit(chance: Random) -> Json:
    """Byte by byte, for a while or for ever; or a page that drips."""
    if chance.random() < 0.4:
        return _with_life(chance, {"drip": {"pause_s": 1}})
    day = _day(chance)
    host = sound(chance)
    life: Life = [[0, "page"], [day, "tarpit"]]
    host["paths"][f"/pit/{_word(chance)}"] = (
        life if chance.random() < 0.5 else [*life, [day + chance.randint(3, 60), "page"]]
    )
    return host


def head_hater(chance: Random) -> Json:
    """Servers that refuse HEAD, and some whose pages die all the same."""
    code = chance.choice((405, 501, 404, 403, 500, 0))
    hater = {"no-head": code}
    return _with_life(chance, hater)


def liar(chance: Random) -> Json:
    """Wrong codes over the content, or HEAD that knows nothing of what GET says."""
    gone = {"by-method": {"head": "page", "get": {"status": 404}}}
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: {"status": {"code": 404, "kind": "application/pdf", "size_kib": chance.randint(40, 300)}},
        lambda: {"status": {"code": 500, "kind": "application/pdf", "size_kib": chance.randint(40, 300)}},
        lambda: {"status": {"code": 403, "kind": "image/jpeg", "size_kib": chance.randint(40, 300)}},
        lambda: [[0, "page"], [_day(chance), gone]],
    )
    kind = chance.choice(kinds)
    return {"paths": paths_of(chance, kind, most=3)}


def hopeless_liar(chance: Random) -> Json:
    """Pages that are there under a code that says they are not: nothing but their text could tell."""
    title = f"The {_word(chance)} of {_word(chance)}"
    content = {"title": title, "text": "A page that people read.\n" * 3}
    return {"paths": paths_of(chance, lambda: {"status": {"code": 404, "page": content}}, most=2)}


def one_schemed(chance: Random) -> Json:
    """One scheme stops working, or sends everybody to the other one."""
    day = _day(chance)
    if chance.random() < 0.5:
        return {**_with_life(chance, [[0, "up"], [day, "no-http"]]), "scheme": "http"}
    return {**_with_life(chance, [[0, "up"], [day, "tls-broken"]]), "scheme": "https"}


def broken_down(chance: Random) -> Json:
    """A server that is down for days or weeks, and comes back."""
    day = chance.randint(3, 290)
    length = chance.choice((1, 2, 3, 5, 8, 12, 13, 25, 45, 70))
    return _with_life(chance, [[0, "up"], [day, chance.choice(_DOWN)], [day + length, "up"]])


Kind = Callable[[Random], Json]

"""Makes a world at random: ``python -m benchmarks.verdicts.generate --hosts N --seed S [--mix NAME] > FILE``."""

import argparse
import json
import sys
from random import Random
from typing import Final

from benchmarks.verdicts.lives import Json
from benchmarks.verdicts.mixes import MIXES

_FIRST: Final = (
    "amber birch cedar coral delta ember fjord granite harbour iris juniper kelp larch marble north ochre pebble "
    "quartz reed saffron tarn umber violet willow yarrow zephyr"
)
_SECOND: Final = "archive club council courier forum guild house institute library museum press school society union"


def world(hosts: int, seed: int, mix: str) -> Json:
    """A world of so many hosts, as a file has it."""
    chance = Random(f"{mix} {seed}")
    whole = MIXES[mix]
    kinds = whole.kinds
    made: Json = {}
    for number in range(hosts):
        kind = chance.choices(list(kinds), list(kinds.values()))[0]
        name = f"{chance.choice(_FIRST.split())}-{chance.choice(_SECOND.split())}-{number}.demo"
        host = kind(chance)
        if "scheme" not in host and chance.random() < 0.35:
            host["scheme"] = "https"
        whole.finish(chance, number, host)
        made[name] = {"note": kind.__name__.replace("_", " "), **host}
    return {
        "weboid-world": 1,
        "name": f"{mix}, {hosts} hosts, seed {seed}",
        **({"note": whole.note} if whole.note else {}),
        "days": whole.days,
        **whole.own,
        "hosts": made,
    }


def written(world: Json) -> str:
    """A world as text, one host a line."""
    rest = {key: value for key, value in world.items() if key != "hosts"}
    head = ",\n".join(f"{json.dumps(key)}: {_dense(value)}" for key, value in rest.items())
    hosts = ",\n".join(f"{json.dumps(name)}: {_dense(host)}" for name, host in world["hosts"].items())
    return f'{{\n{head},\n"hosts": {{\n{hosts}\n}}\n}}\n'


def _dense(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mix", choices=sorted(MIXES), default="usual")
    given = parser.parse_args()
    if given.hosts < 1:
        parser.error("--hosts must be at least 1")
    sys.stdout.write(written(world(given.hosts, given.seed, given.mix)))

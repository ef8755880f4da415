"""The table of what tellings were worth, Weboid's next to those of its peers; for people and for programs.

One law: nothing is computed here that `tellings` does not know.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from rich.console import Console

from benchmarks.verdicts.looks import Looks
from benchmarks.verdicts.peers import PEERS, Peer
from benchmarks.verdicts.tellings import BARS, DEATH_DAYS, Cause, Tellings, Worth, own_tellings, worth_of
from benchmarks.verdicts.year import Year

Row = tuple[str, Callable[[Worth], str]]

MONTH_DAYS = 30
_NEVER = 10_000
_BOUNDS = tuple(pairwise((0, *BARS, _NEVER)))


def worths_of(year: Year, *, peers: bool = True) -> dict[str, Worth]:
    """What Weboid reported, and what its peers would have, by name."""
    looks = Looks(year.file)
    rules: dict[str, Tellings] = {"Weboid": own_tellings(year)}
    rules |= {peer.name: _replayed(peer, looks, year) for peer in PEERS if peers}
    return {name: worth_of(year, looks, tellings) for name, tellings in rules.items()}


def _replayed(peer: Peer, looks: Looks, year: Year) -> Tellings:
    return lambda url: peer.tellings(looks, url.url, url.since, year.file.days)


def tell_worth(console: Console, year: Year, worths: Mapping[str, Worth]) -> None:
    rows: list[Row] = [
        ('"dead" reported', lambda worth: f"{len(worth.reported):,}"),
        ("live that day", lambda worth: f"{worth.live():,}"),
        *_causes(Worth.live),
        ("seen on a day of its row", lambda worth: f"{worth.live_in_row():,}"),
        *_causes(Worth.live_in_row),
        *_outage_rows(),
        (f"deaths of {DEATH_DAYS} days and more", lambda worth: f"{len(worth.deaths):,}"),
        ("  missed", lambda worth: f"{len(worth.missed()):,}"),
        ("  days to tell, median / p90", lambda worth: _days(worth.took())),
        ("    404 and 410", lambda worth: _days(worth.took(missing=True))),
        ("    names, network, 5xx", lambda worth: _days(worth.took(missing=False))),
    ]
    lines = [("", *worths), *((title, *map(reported, worths.values())) for title, reported in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *rest in lines:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        console.print(f"  {first.ljust(widths[0])}   {'   '.join(cells)}")
    checks, requests = spent(year)
    console.print(f"A URL and month cost {checks:.2f} checks and {requests:.2f} requests over HTTP.")
    if year.refused:
        console.print(f"Rounds refused for their day: days {' '.join(map(str, year.refused))}")
    if year.file.troubles.delay_s and year.gap_s is not None:
        met = "met" if year.gap_s >= year.file.troubles.delay_s else "MISSED"
        console.print(
            f"{met}: the shortest gap between two requests to one host was {year.gap_s:.3f} s, asked for were "
            f"{year.file.troubles.delay_s:g} s"
        )


def _causes(count: Callable[[Worth, Cause], int]) -> list[Row]:
    def reported(worth: Worth, cause: Cause) -> str:
        return f"{count(worth, cause):,}"

    return [(f"  {cause.value}", partial(reported, cause=cause)) for cause in Cause]


def _outage_rows() -> list[Row]:
    rows: list[Row] = [
        ("in an outage that ended: 404s / others", partial(_outages, over=0, until=_NEVER)),
    ]
    for over, until in _BOUNDS:
        title = f"  {over + 1}–{until} days" if until != _NEVER else f"  over {over} days"
        rows.append((title, partial(_outages, over=over, until=until)))
    rows.append(("  flapping, of any length", partial(_outages, over=0, until=_NEVER, flapping=True)))
    return rows


def _outages(worth: Worth, over: int, until: int, *, flapping: bool = False) -> str:
    missing, others = (worth.in_outage(over, until, missing=kind, flapping=flapping) for kind in (True, False))
    return f"{missing} / {others}"


def spent(year: Year) -> tuple[float, float]:
    """Checks and requests a URL and month."""
    months = sum(year.file.days - url.since for url in year.urls) / MONTH_DAYS
    return sum(len(url.checks) for url in year.urls) / months, year.requests / months


def _days(took: tuple[float, int] | None) -> str:
    return "none" if took is None else f"{took[0]:g} / {took[1]}"


def worth_as_json(year: Year, worths: Mapping[str, Worth]) -> dict[str, object]:
    """The same for programs."""
    checks, requests = spent(year)
    return {
        "checks_a_url_and_month": round(checks, 3),
        "requests_a_url_and_month": round(requests, 3),
        "refused_days": year.refused,
        "shortest_gap_s": year.gap_s,
        "told": {name: _as_json(worth) for name, worth in worths.items()},
    }


def _as_json(worth: Worth) -> dict[str, object]:
    return {
        "dead_told": len(worth.reported),
        "live_that_day": {"all": worth.live(), **{why.name.lower(): worth.live(why) for why in Cause}},
        "seen_on_a_day_of_its_row": {
            "all": worth.live_in_row(),
            **{why.name.lower(): worth.live_in_row(why) for why in Cause},
        },
        "in_outages_that_ended": {
            f"{over + 1}-{until}" if until != _NEVER else f"over {over}": {
                "missing": worth.in_outage(over, until, missing=True),
                "host": worth.in_outage(over, until, missing=False),
            }
            for over, until in _BOUNDS
        },
        "in_outages_flapping": sum(worth.in_outage(0, _NEVER, missing=kind, flapping=True) for kind in (True, False)),
        "deaths": len(worth.deaths),
        "deaths_missed": len(worth.missed()),
        "days_to_tell": {"all": worth.took(), "missing": worth.took(missing=True), "host": worth.took(missing=False)},
    }

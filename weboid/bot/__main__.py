"""``python -m weboid.bot CASES.json``: repairs the wikitext of cases, writes ``{id: wikitext}`` to standard output."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from weboid.bot.cases import repaired_cases


def _moment(_: click.Context, __: click.Parameter, given: str | None) -> datetime:
    """An ISO moment; one without a zone is in UTC."""
    try:
        moment = datetime.now(UTC) if given is None else datetime.fromisoformat(given)
    except ValueError:
        raise click.BadParameter(f"{given!r} is no moment such as 2026-11-22T12:00:00Z") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


@click.command()
@click.argument("cases", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The wikis' settings, as one JSON table by wiki. Default: those that are shipped.",
)
@click.option("--now", metavar="MOMENT", callback=_moment, help="The moment of writing. Default: the current one.")
def run(cases: Path, settings: Path | None, now: datetime) -> None:
    """Repair dead links in the wikitext of CASES, a list of {id, wiki, wikitext_in, verdicts, archives, options?}."""
    table = None if settings is None else _json(settings, dict)
    given = _json(cases, list)
    for number, case in enumerate(given, 1):
        if not (isinstance(case, dict) and case.keys() >= {"id", "wiki", "wikitext_in"}):
            raise click.ClickException(f"{cases}: case {number}: it needs id, wiki and wikitext_in")
    texts = repaired_cases(given, table, now, lambda reason: click.echo(reason, err=True))
    json.dump(texts, sys.stdout, ensure_ascii=True, indent=1)
    sys.stdout.write("\n")


def _json(path: Path, kind: type) -> Any:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.ClickException(f"{path}: no JSON: {error}") from None
    if not isinstance(value, kind):
        raise click.ClickException(f"{path}: not a JSON {'list' if kind is list else 'object'}")
    return value


if __name__ == "__main__":
    run()

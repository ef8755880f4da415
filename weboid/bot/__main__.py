"""``python -m weboid.bot CASES.json``: repairs the wikitext of cases, writes ``{id: wikitext}`` to standard output."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from weboid.bot.cases import SettingsTable, repaired_cases


class IsoMoment(click.ParamType[datetime]):
    """An ISO moment; one without a zone is in UTC."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no moment such as 2026-11-22T12:00:00Z", param, ctx)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


@click.command()
@click.argument("cases", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The wikis' settings, as one JSON table by wiki. Default: those that are shipped.",
)
@click.option("--now", type=IsoMoment(), help="The moment of writing. Default: the current one.")
def run(cases: Path, settings: Path | None, now: datetime | None) -> None:
    """Repair dead links in the wikitext of CASES, a list of {id, wiki, wikitext_in, verdicts, archives, options?}."""
    table = SettingsTable(None if settings is None else _json(settings, dict))
    texts = repaired_cases(
        _json(cases, list), table, now or datetime.now(UTC), lambda reason: click.echo(reason, err=True)
    )
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

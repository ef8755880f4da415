"""What ``weboid --help`` and the help of each command say."""

import re
from collections.abc import Iterator

import click

from weboid.cli import main


def helps(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """The help of a command and of all below it, each with its words."""
    context = click.Context(command, parent=parent, info_name=name, max_content_width=100)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from helps(found, below, context)


def test_help_is_in_whole_sentences_and_cites_nothing_that_an_operator_does_not_have() -> None:
    shown = dict(helps(main, "weboid"))
    assert {"weboid up", "weboid feed events"} <= set(shown)
    cut = {path for path, text in shown.items() if re.search(r"\w\.\.\.\s", text.partition("Options:")[2])}
    citing = {path for path, text in shown.items() if re.search(r"\([A-Z]-\d", text)}
    assert (cut, citing) == (set(), set())

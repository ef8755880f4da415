"""``weboid gadget``: the gadget's pages for a wiki, written into a folder to be pasted, or saved on the wiki (G-1)."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Final

import click

from weboid import __version__
from weboid.assets import asset
from weboid.cli.processes.process import from_environment, run_async
from weboid.cli.processes.sources import NamedWiki, named_wiki
from weboid.cli.terminal.escape import many, plain
from weboid.config import Config
from weboid.core.url.farms import WMF
from weboid.errors import ConfigError
from weboid.net.outbound import open_client
from weboid.wiki.action import ActionApi, ApiPatience
from weboid.wiki.gadget import deployment
from weboid.wiki.gadget.build import NAME, BuiltGadget, built_gadget

_USER: Final = "WEBOID_WIKI_USER"
_PASSWORD: Final = "WEBOID_WIKI_PASSWORD"
_PATIENCE: Final = ApiPatience(tries=3, timeout_s=60)
_DEFINITION_FILE: Final = "Gadgets-definition.txt"
_USER_SCRIPT_FILE: Final = f"{NAME}.user.js"


@click.command("gadget")
@click.option("--service", default="", help="Address of the webservice that is asked (default: gadget/config.json).")
@click.option("--farm", default="", help="The farm of the wikis, as the webservice names it (default: likewise).")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("build/gadget"),
    show_default=True,
    help="The folder into which the pages are written.",
)
@click.option(
    "--languages", default="", help="The languages of the wiki's readers, with commas between (default: all there are)."
)
@click.option("--language", default="", help="The wiki's language, for the descriptions of the gadget (default: en).")
@click.option(
    "--deploy", "wiki", metavar="WIKI", help="Save the pages on this wiki: dewiki@WMF, or the URL of its api.php."
)
@click.option("--user", "for_user", is_flag=True, help="With --deploy: as a script of your own account alone.")
@click.option(
    "--default", "is_default", is_flag=True, help="With --deploy: on for everybody who does not switch it off."
)
@click.option(
    "--consent", is_flag=True, help="Nothing is sent before a reader says so; a wiki that has this once keeps it."
)
@click.option(
    "--dry-run", "is_dry", is_flag=True, help="With --deploy: save nothing, say what would be saved, or cannot be."
)
@click.pass_obj
def command(
    config: Config,
    service: str,
    farm: str,
    folder: Path,
    languages: str,
    language: str,
    wiki: str | None,
    for_user: bool,
    is_default: bool,
    consent: bool,
    is_dry: bool,
) -> None:
    """Writes the gadget's pages into a folder, or saves them on a wiki.

    For --deploy the environment has WEBOID_WIKI_USER and WEBOID_WIKI_PASSWORD, made by the wiki's Special:BotPasswords.
    """
    readers = [code.strip() for code in languages.split(",") if code.strip()]
    build = partial(
        built_gadget, asset("gadget"), asset("i18n"), service=service, farm=farm, languages=readers, consent=consent
    )
    if wiki is not None:
        if for_user and is_default:
            raise click.UsageError("--default is for a gadget, not for a script of one account")
        if language:
            raise click.UsageError("--language is not for --deploy: the wiki says its language")
        named = named_wiki(wiki, config)
        if named.name and not (service or named.name.farm == WMF.name):
            raise ConfigError(f"--service https://… is missing: the webservice that watches {named.name}")
        build = partial(build, farm=farm or (named.farm.name if named.name else ""))
        run_async(_deploy(config, named, build, for_user, is_default, is_dry))
    elif for_user or is_default or is_dry:
        raise click.UsageError("--user, --default and --dry-run go with --deploy")
    else:
        _write(build(language=language or "en"), folder)


def _write(gadget: BuiltGadget, folder: Path) -> None:
    pages = {**gadget.pages, **gadget.descriptions}
    files = {title.partition(":")[2].replace("/", "_"): text for title, text in pages.items()}
    files |= {_DEFINITION_FILE: "\n".join(gadget.definitions), _USER_SCRIPT_FILE: gadget.user_script}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text.rstrip() + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror}; choose another folder (--to)") from None
    click.echo(f"""\
{folder} has {len(pages)} pages. As an interface administrator of the wiki:
1. Save each file Gadget-… as the page MediaWiki:Gadget-… (`_` before a language code is `/` in the title).
2. Add the lines of {_DEFINITION_FILE} to {deployment.DEFINITIONS}.
3. Switch the gadget on in your preferences, or open a page with ?withgadget={NAME}.
Without that right: save {_USER_SCRIPT_FILE} as User:YOUR NAME/{NAME}.js, and load it in your common.js:
   importScript( 'User:YOUR NAME/{NAME}.js' );
`weboid gadget --deploy WIKI` (or --deploy WIKI --user) does the saving; gadget/README.md says more.""")


async def _deploy(
    config: Config, named: NamedWiki, build: Callable[..., BuiltGadget], for_user: bool, is_default: bool, is_dry: bool
) -> None:
    password = deployment.BotPassword(from_environment(_USER), from_environment(_PASSWORD))
    if not password.name or not password.password:
        raise ConfigError(f"set {_USER} and {_PASSWORD} to a bot password of the wiki (Special:BotPasswords)")
    summary = f"Weboid's gadget, version {__version__}"
    async with open_client(config.net, has_cookies=True) as client:
        account = await deployment.sign_in(ActionApi(named.api, client, config.net.user_agent, _PATIENCE), password)
        gadget = build(language=account.language)
        if for_user:
            edits = deployment.deploy_user_script(account, gadget, summary, is_dry=is_dry)
        else:
            edits = deployment.deploy_gadget(account, gadget, summary, is_default=is_default, is_dry=is_dry)
        count = await _show(edits, is_dry)
    if named.name and account.wikiid.lower() != named.name.dbname:
        own = plain(f"{account.wikiid}@{named.farm.name}")
        click.echo(f"this gadget asks for {own}, as the wiki calls itself: the service must watch it as that", err=True)
    if account.has_old_scripts and not for_user:
        click.echo(
            "this MediaWiki, before 1.42, runs the gadget with $wgResourceLoaderValidateJS = false only", err=True
        )
    _say_next(account, count, for_user, is_dry)


async def _show(edits: AsyncIterator[deployment.PageEdit], is_dry: bool) -> int:
    """Prints each edit as it is made, or why it cannot be; returns how many there were."""
    count = 0
    async for edit in edits:
        count += 1
        if edit.refusals:
            action = "create" if edit.is_new else "change"
            click.echo(f"cannot {action} {plain(edit.title)}: {plain('; '.join(edit.refusals))}")
            continue
        done = ("would create" if is_dry else "created") if edit.is_new else ("would change" if is_dry else "changed")
        click.echo(f"{done} {plain(edit.title)}")
    return count


def _say_next(account: deployment.WikiAccount, count: int, for_user: bool, is_dry: bool) -> None:
    if not count:
        click.echo("everything is saved there already")
    elif is_dry:
        click.echo(f"nothing was saved; {many(count, 'page')} would be")
    elif for_user:
        name = plain(account.name)
        click.echo(f"load it in User:{name}/common.js:  importScript( 'User:{name}/{NAME}.js' );")
    else:
        click.echo(f"open a page with ?withgadget={NAME}, or switch the gadget on in your preferences")

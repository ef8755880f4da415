"""The beginning and end of every script: pywikibot's global options, the wiki, messages, and the exit status."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import pywikibot
from pywikibot import config, i18n
from pywikibot.bot import handle_args
from pywikibot.comms import http
from pywikibot.exceptions import Error, NoUsernameError
from pywikibot.family import Family
from requests.exceptions import RequestException

from weboid.errors import WeboidError
from weboid_scripts.common.run_page import RunStopped
from weboid_scripts.common.wiki_query import WikiSilent, brief

DONE: Final = 0
TO_CORRECT: Final = 2
STOPPED: Final = 3


def run_script(script: Callable[[Any, list[str]], None], arguments: Sequence[str]) -> int:
    """Runs a script with pywikibot's site and the arguments that are its own; the exit status.

    An error is one line that says what to do next; only our own faults have a stack trace.
    """
    words = list(arguments) or pywikibot.argvu[1:]
    try:
        if not any(word.partition(":")[0] == "-help" for word in words):
            _require_wiki(words)
        own = handle_args(words)
        i18n.set_messages_package("weboid_scripts.i18n")
        script(pywikibot.Site(), own)
    except RunStopped as stopped:
        pywikibot.error(str(stopped))
        return STOPPED
    except WeboidError as error:
        pywikibot.error(str(error))
    except NoUsernameError as error:
        pywikibot.error(
            f"Nobody is logged in: {brief(error)}. Check the account in user-config.py and its password in "
            "user-password.cfg, then try: pwb login"
        )
    except BrokenPipeError:
        # The reader of the output has seen enough, as in ``| head``; the last lines of pywikibot go nowhere, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except EOFError:
        pywikibot.error("There is nobody to ask. Run it in a terminal, or with -always, or with -simulate.")
    except (Error, RequestException, ConnectionError) as error:
        pywikibot.error(f"The wiki does not do what was requested: {brief(error)}. Start again later.")
    else:
        return DONE
    return TO_CORRECT


def _require_wiki(words: Sequence[str]) -> None:
    """Raises WikiSilent if there is no way to the wiki: pywikibot would try for half an hour, with stack traces."""
    name, code = config.family, config.mylang
    for word in words:
        option, _, value = word.partition(":")
        if option == "-site":
            name, _, code = value.partition(":") if ":" in value else (value, "", value)
        elif option == "-family":
            name = value
        elif option in ("-code", "-lang"):
            code = value
    try:
        family = Family.load(name)
        address = family.base_url(code, family.apipath(code))
    except (Error, KeyError):
        return  # Pywikibot says itself which families there are.
    try:
        answer = http.fetch(f"{address}?action=query&meta=siteinfo&format=json").json()
    except ValueError:
        answer = None
    except (Error, RequestException, OSError) as error:
        raise WikiSilent(
            f"{name}:{code} cannot be reached: {brief(error)}. Check the network, and the address in pywikibot's "
            "family file."
        ) from None
    if not isinstance(answer, dict):
        raise WikiSilent(
            f"{name}:{code} does not answer as MediaWiki's API does. Check the address in pywikibot's family file: "
            f"{brief(address)}"
        )

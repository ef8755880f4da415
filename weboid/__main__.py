"""The program. Ctrl-C while it loads ends it without a word: a terminal sends it to all parts of a group."""

import signal


def main() -> None:
    """Loads the command line and runs it."""
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from weboid.cli import run

    if is_heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()

"""``python -m weboid``. Ctrl-C while it loads ends it without a word: a terminal sends it to all parts of a group."""

import signal

if __name__ == "__main__":
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from weboid.cli import run

    if is_heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()

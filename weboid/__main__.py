"""``python -m weboid`` and the command ``weboid``."""

from weboid.cli import run

if __name__ == "__main__":
    run()

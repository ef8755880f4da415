"""The folder with real data for tests: ``shared/data`` next to the checkout, which need not exist.

One law: a test that needs such data skips with a reason where it is absent.
"""

import bz2
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared(relative: str) -> Path:
    """The path of a file of the shared data, e.g. ``shared("wiki/page.sql.gz")``; skips the test where it is absent."""
    path = _DATA / relative
    if not path.exists():
        pytest.skip(f"../shared/data/{relative} is not next to this checkout")
    return path


def articles(export: str) -> Iterator[str]:
    """The wikitext of the pages of an export, such as ``enwiki-2016``; skips the test where it is absent."""
    with bz2.open(shared(f"articles/{export}.xml.bz2")) as file:
        for _, element in etree.iterparse(file, tag="{*}text"):
            yield element.text or ""
            element.clear()

"""Public test vectors (WHATWG, UTS 46, IIPC), as far as they apply to our hosts and paths.

Different from IDNA, and counted: names that L-4 forbids (one label, hyphens at the edges, characters that no name has,
invisible ones), ASCII hosts (rule 3 keeps them). Out of scope: backslashes as slashes (MediaWiki encodes them), raw
punycode of capitals and of whole sentences, URLs relative to another one.
"""

import json
import re
from collections import Counter
from typing import Any

from support.shared import shared

from weboid.core.url.hosts import InvalidUrl, host_form
from weboid.core.url.urls import normal, parse

# L-4 said once more, so that the code is not checked by itself.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9_-]*[a-z0-9])?")
_HIDDEN = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u2028-\u202f"
    "\u2060-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e00ff]"
)


def _vectors(name: str) -> Any:
    return json.loads(shared(f"urls/{name}").read_text(encoding="utf-8"))


def _forbidden(host: str) -> bool:
    """Whether L-4 refuses what IDNA made of a name."""
    labels = host.removesuffix(".").split(".")
    return (
        len(labels) < 2
        or len(host.removesuffix(".")) > 253
        or any(len(label) > 63 or not _LABEL.fullmatch(label) for label in labels)
        or len(labels[-1]) < 2
        or re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]) is not None
    )


def _form(host: str) -> str | None:
    try:
        return host_form(host)
    except InvalidUrl:
        return None


def test_hosts_become_ascii_as_in_browsers_unless_l4_forbids_them() -> None:
    for name, counts in [
        ("toascii.json", {"same": 30, "ascii": 24, "refused": 18, "forbidden": 15}),
        ("IdnaTestV2.json", {"same": 419, "ascii": 994, "refused": 1115, "forbidden": 143}),
    ]:
        seen: Counter[str] = Counter()
        for case in (case for case in _vectors(name) if isinstance(case, dict)):
            given, expected = case["input"], case["output"]
            if (
                not re.search("[.\u3002\uff0e\uff61]", given) and expected
            ):  # one label is never a host: try it below a domain
                given, expected = f"{given}.de", f"{expected}.de"
            form = _form(given)
            if given.isascii():
                seen["ascii"] += 1
                kept = given.lower().removesuffix(".")
                assert form == (None if _HIDDEN.search(kept) or _forbidden(kept) else kept), case
            elif expected is None:
                seen["refused"] += 1
                assert form is None, case
            elif _HIDDEN.search(given) or _forbidden(expected):
                seen["forbidden"] += 1
                assert form is None, case
            else:
                seen["same"] += 1
                assert form == expected.removesuffix("."), case
        assert seen == counts, name


def test_dot_segments_are_resolved_as_in_the_iipcs_vectors() -> None:
    vectors = {
        given: path for given, path in _vectors("urlcanon/path_dots.json")["special"].items() if "\\" not in given
    }
    assert len(vectors) > 100
    for given, path in vectors.items():
        assert normal(f"http://3sat.de{given}") == f"http://3sat.de{path}"


def test_no_url_leads_to_another_host_than_in_a_browser() -> None:
    seen: Counter[str] = Counter()
    for case in _vectors("urltestdata_2026-07_ada.json"):
        if not isinstance(case, dict) or case["base"] is not None:
            continue
        try:
            url = parse(case["input"])
        except InvalidUrl:
            seen["invalid or ignored"] += 1
            continue
        seen["same"] += 1
        assert url.host == case["hostname"].strip("[]").removesuffix("."), case
        assert str(url.port or "") == case["port"], case
    assert seen == {"same": 79, "invalid or ignored": 476}

"""What is expected of a case of repair (``../shared/data/bots``), judged with our own reader."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from weboid.core.wikitext.reader import read_wikitext

_BLANKS: Final = re.compile(r"\s*([|}])")


def failed(case: Mapping[str, Any], text: str) -> list[str]:
    """What of a case's expectations a text does not fulfil."""
    expected = case["expect"]
    if expected.get("unchanged"):
        return [] if text == case["wikitext_in"] else ["changed"]
    wrong = [f"contains {part}" for part in expected.get("contains", []) if _plain(part) not in _plain(text)]
    wrong += [f"keep {part}" for part in expected.get("keep", []) if part not in text]
    wrong += [f"not {part}" for part in expected.get("not_contains", []) if part.lower() in text.lower()]
    wrong += [f"count {part}" for part, times in expected.get("count", {}).items() if text.count(part) != times]
    for pattern, times in expected.get("count_regex", {}).items():
        wrong += [f"count {pattern}"] if len(re.findall(pattern, text)) != times else []
    wrong += [f"regex {pattern}" for pattern in expected.get("regex", []) if not re.search(pattern, text)]
    wrong += [f"regex not {pattern}" for pattern in expected.get("regex_not", []) if re.search(pattern, text)]
    if "out" in expected and _plain(text) not in map(_plain, expected["out"]):
        wrong.append("out")
    if "any_of" in expected and not any(all(part in text for part in group) for group in expected["any_of"]):
        wrong.append("any of")
    return [*wrong, *_wrong_parameters(expected.get("params", []), text)]


def _wrong_parameters(wanted: list[Mapping[str, Any]], text: str) -> Iterator[str]:
    wikitext = read_wikitext(text)
    for each in wanted:
        given = [{one.name: wikitext.value_of(one) for one in template.parameters} for template in wikitext.templates]
        found = [values for values in given if each["url"] in values.values()]
        if not any(_fits(values, each) for values in found):
            yield f"parameters of {each['url']}"


def _fits(values: Mapping[str, str], wanted: Mapping[str, Any]) -> bool:
    if any(values.get(name) for name in wanted["absent"]):
        return False
    return all(
        name in values and (re.search(value[3:], values[name]) if value.startswith("re:") else values[name] == value)
        for name, value in wanted["set"].items()
    )


def _plain(text: str) -> str:
    return _BLANKS.sub(r"\1", text)

"""Figures of some days as bars; the template ``bars.html`` writes them, always next to the same figures in words."""

from collections.abc import Sequence
from typing import Any, Final

BAR_WIDTH: Final = 10
BAR_HEIGHT: Final = 48


def bar_chart(values: Sequence[int], words: str, most: str, verdict: str = "") -> dict[str, Any]:
    """Bars, one for each day, with a scale of their own: rare figures would not be seen next to common ones."""
    top = max(values)
    bars = [
        {"x": place * BAR_WIDTH, "height": max(1, round(BAR_HEIGHT * value / top))}
        for place, value in enumerate(values)
        if value
    ]
    return {"verdict": verdict, "words": words, "most": most, "bars": bars, "width": len(values) * BAR_WIDTH}

"""A suspicion by the content of an answer, with its signals, so that every verdict can be explained (U-7)."""

from dataclasses import dataclass

from weboid.core.record.reasons import Reason


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A reason and its signals: stable words, each ``kind`` or ``kind:detail``, the strongest first."""

    reason: Reason
    signals: tuple[str, ...]

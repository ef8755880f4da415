"""The parameters with which a statement derives verdicts by itself, for lists that select by them (architecture §2).

One law: they are made from the same data by which ``core/verdict/verdict`` judges, and a test compares both.
"""

from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import HOST_FAILURES
from weboid.core.verdict.verdict import Verdict


def verdict_values(policy: Policy) -> dict[str, int | list[int]]:
    """The parameters of a statement that derives verdicts: numbers of verdicts, reasons and statuses, thresholds."""
    return {
        **{
            verdict.word: verdict.value
            for verdict in (Verdict.UNKNOWN, Verdict.WORKING, Verdict.DOUBTFUL, Verdict.DEAD)
        },
        "working_reasons": _numbers(Outcome.WORKING),
        "failing_reasons": _numbers(Outcome.FAILING),
        "host_failures": sorted(map(int, HOST_FAILURES)),
        "dead_strikes": policy.dead_strikes,
        "dead_span": policy.dead_span,
        "missing_span": policy.missing_span,
        "relapse_factor": policy.relapse_factor,
    }


def _numbers(outcome: Outcome) -> list[int]:
    return [reason.number for reason in Reason if reason.outcome is outcome]

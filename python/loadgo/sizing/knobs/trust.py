"""Whether to believe the answer of a search over a limit: the host in its trials, and the line on trust."""

from __future__ import annotations

from loadgo.measures.trust import NOTHING_ELSE_RAN, Evidence, trust_in_words
from loadgo.notation.figures import capitalized, counted, share
from loadgo.running.prepared import is_host
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.report.document import STOPPED_WARNING
from loadgo.sizing.report.trust import late_driver
from loadgo.sizing.search.neighbours import busy_warning, neighbours_of, other_work_doubts


def knob_doubts(answered: KnobCapacity) -> list[str]:
    """The warnings that cast doubt on the answer: other work, an interrupt, and invalid trials that it is based on."""
    stopped = [STOPPED_WARNING] if answered.end == "stopped" else []
    invalid = dict.fromkeys(record.why for record in answered.each_trial if record.used and not record.valid)
    unsound = [f"No trial is valid: {'; '.join(invalid)}."] if invalid else []
    return [*busy_warning(neighbours_of(answered.each_trial), answered.on), *stopped, *unsound]


def trust_lines(answered: KnobCapacity) -> list[str]:
    """The warnings, the line on trust and the share of other work, for a file that is read without the page."""
    doubts = knob_doubts(answered)
    neighbours = neighbours_of(answered.each_trial)
    others = (
        "was not measured" if neighbours is None else f"took up to {share(neighbours.most)} of the processors' time"
    )
    trust = knob_trust(answered, is_warned=bool(doubts))
    other_work = f"Other work {others} in a trial" if is_host(answered.on) else capitalized(NOTHING_ELSE_RAN)
    return [*(f"Warning: {doubt}" for doubt in doubts), trust, f"{other_work}."]


def knob_trust(answered: KnobCapacity, *, is_warned: bool) -> str:
    """The line on trust. `is_warned`: a warning that casts doubt on the answer stands over it."""
    undecided = answered.end in ("open", "stopped")
    evidence = Evidence(tuple(_against(answered, is_warned=is_warned)), tuple(_grounds(answered)))
    return trust_in_words(
        evidence,
        is_warned=is_warned,
        is_low=undecided,
        untold="which value meets the targets" if answered.end == "open" else "",
    )


def _against(answered: KnobCapacity, *, is_warned: bool) -> list[str]:
    reasons = ["the trials did not decide it"] if answered.end == "open" else []
    reasons += ["the search ended early"] if answered.why else []
    if answered.end == "found" and answered.interval is not None and set(answered.interval) <= set(answered.values):
        reasons.append("its ends are two values that were tried, and have no confidence")
    neighbours = neighbours_of(answered.each_trial)
    if not is_host(answered.on):
        return reasons
    return [
        *reasons,
        *late_driver(answered.each_trial),
        *other_work_doubts(neighbours, answered.on, is_warned=is_warned),
    ]


def _grounds(answered: KnobCapacity) -> list[str]:
    trials = answered.each_trial
    model = [] if is_host(answered.on) else [NOTHING_ELSE_RAN, "no real machine was measured"]
    if not trials or not all(record.valid for record in trials):
        return model
    return [*model, f"all {counted(len(trials), 'trial')} are valid" if len(trials) > 1 else "the trial is valid"]

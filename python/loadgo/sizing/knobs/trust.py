"""Whether to believe the answer of a search over a limit: the host in its trials, and the line on trust."""

from __future__ import annotations

from statistics import mean

from loadgo.measures.other_work import BUSY_SHARE, OtherWork, shows_programs_on
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import counted, share
from loadgo.sizing.knobs.results import KnobCapacity


def busy_warning(answered: KnobCapacity) -> list[str]:
    """The warning about a host that was busy with other things over all trials; empty for any other host."""
    others = _other_work_shares(answered)
    if not others or mean(others) <= BUSY_SHARE:
        return []
    return [
        f"The host was busy with other things: {share(mean(others))} of its processors' time over all trials, up to "
        f"{share(max(others))} in one. The answer is for the host in that state: search again when it is quiet. "
        f"{shows_programs_on(answered.on)}"
    ]


def knob_trust(answered: KnobCapacity, *, is_warned: bool) -> str:
    """The line on trust. `is_warned`: a warning that casts doubt on the answer stands over it."""
    undecided = answered.end in ("open", "stopped")
    evidence = Evidence(tuple(_against(answered, is_warned=is_warned)), tuple(_grounds(answered)))
    return trust_in_words(evidence, is_warned=is_warned, is_low=undecided)


def _other_work_shares(answered: KnobCapacity) -> list[float]:
    return [record.others for record in answered.each_trial if record.others is not None]


def _against(answered: KnobCapacity, *, is_warned: bool) -> list[str]:
    others = _other_work_shares(answered)
    reasons = ["the trials did not decide it"] if answered.end == "open" else []
    if answered.end == "found" and answered.knob.name in ("memory", "pids"):
        reasons.append("its ends are two values that were tried, and have no confidence")
    if not others:
        reasons.append("what other programs took of the host was not measured")
    elif OtherWork(max(others)).level != "quiet" and not (is_warned and mean(others) > BUSY_SHARE):
        reasons.append(f"other programs took up to {share(max(others))} of the processors' time in a trial")
    return reasons


def _grounds(answered: KnobCapacity) -> list[str]:
    trials = answered.each_trial
    if not trials or not all(record.valid for record in trials):
        return []
    return [f"all {counted(len(trials), 'trial')} are valid" if len(trials) > 1 else "the trial is valid"]

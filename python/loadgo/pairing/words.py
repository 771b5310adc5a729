"""An experiment in words: its answer, the progress line after each pair, warnings and notes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from loadgo.comparison.figures import Notation, notation_of, percent_interval, relative_change
from loadgo.measures.other_work import OtherWork, judged_together, shows_programs_on
from loadgo.measures.trust import Evidence, effect_on, trust_in_words
from loadgo.notation.figures import NOT_MEASURED, as_code, counted, duration, in_words, people, rate, share
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import name_of
from loadgo.pairing.results import Change, Experiment, Pair
from loadgo.pairing.run_figures import RunFigures, common_commands
from loadgo.running.prepared import is_host
from loadgo.stats.adjusted_mean import FEWEST_ADJUSTED_VALUES
from loadgo.stats.repeated_interval import FEWEST_OBSERVATIONS, MOST_FORECAST_PAIRS


def answer(experiment: Experiment) -> str:
    """The sentence that says how B differs from A."""
    if not experiment.pairs:
        return "Nothing is known: no pair of runs was completed."
    phrases = [_phrase(change) for change in experiment.changes if change.measure in experiment.decisive]
    pairs = f"{len(experiment.pairs)} pair{'s' if len(experiment.pairs) > 1 else ''} of runs"
    if not phrases:
        return f"Nothing can be compared: in {pairs} no measure is known on both sides."
    return f"B against A, by {pairs}: {'; '.join(phrases)}."


def _phrase(change: Change) -> str:
    name = name_of(change.measure)
    if change.verdict == "cannot tell":
        return f"cannot tell for {name} ({_change_and_interval(change)})"
    if change.verdict == "no difference":
        return f"no difference in {name} beyond {margin_in_words(change.margin)} ({_change_and_interval(change)})"
    return f"{name} is {change.verdict} ({_change_and_interval(change)})"


def _change_and_interval(change: Change) -> str:
    if change.interval is None:
        return f"{relative(change)}, too few pairs for an interval"
    return f"{relative(change)}, {interval_text(change)}"


def notation_for(changes: Sequence[Change]) -> Notation:
    """The notation of changes that stand together."""
    return notation_of((change.relative, change.interval) for change in changes)


def relative(change: Change, notation: Notation | None = None) -> str:
    """The change of a measure in percent, or as a factor. Without a `notation` it has its own."""
    return relative_change(change.relative, change.interval, notation)


def relative_of_pair(log: float) -> str:
    """The change of one pair, whose logarithm of B over A is `log`, in percent."""
    return relative_change(math.expm1(log), None)


def interval_text(change: Change, notation: Notation | None = None) -> str:
    """The interval of a change, as in `−14 to −10 %`."""
    if change.interval is None:
        return NOT_MEASURED
    return percent_interval(change.interval, notation or notation_for([change]))


def figure(measure: str, amount: float | None) -> str:
    """The amount of one of the measures, with its unit."""
    if amount is None:
        return NOT_MEASURED
    return f"{rate(amount)}/s" if measure == "throughput" else duration(amount)


def progress_line(experiment: Experiment) -> str:
    """The line after a pair: the changes so far."""
    count = len(experiment.pairs)
    if not count:
        return "no pair yet" + (f": {experiment.left_out[-1].reason}" if experiment.left_out else "")
    known = [
        f"{name_of(change.measure)} {relative(change)}"
        + (f" ({interval_text(change)})" if change.interval is not None else "")
        for change in experiment.changes
        if change.measure in experiment.decisive
    ]
    return f"pair {count}: so far {', '.join(known) or 'nothing is known'}"


def warnings(experiment: Experiment) -> list[str]:
    """The warnings above the answer. Those about a variant's machine or limits are first."""
    lines = [*experiment.fit_warnings, *experiment.limit_warnings]
    if experiment.end == "stopped":
        lines.append("The experiment was stopped: the answer comes from the complete pairs.")
    if experiment.end == "left out too often":
        lines.append(
            f"The experiment ended since {len(experiment.left_out)} runs were left out. The reason for the last: "
            f"{experiment.left_out[-1].reason}."
        )
    missing = _unknown_measures(experiment)
    if experiment.pairs and missing:
        lines.append(f"Not known on both sides, so without a verdict: {', '.join(missing)}.{_why_unknown(experiment)}")
    lines += _other_mixes(experiment)
    lines += _busy(experiment)
    errors = [sum(run.errors for run in _runs(experiment.pairs, letter)) for letter in "AB"]
    if any(errors):
        lines.append(f"Lines failed, timed out or died: {errors[0]:,} of A and {errors[1]:,} of B.")
    return lines


def trust(experiment: Experiment) -> str:
    """The line on whether to believe the answer; empty where nothing is known."""
    decisive = [change for change in experiment.changes if change.measure in experiment.decisive]
    if not decisive:
        return ""
    open_changes = [change for change in decisive if change.verdict == "cannot tell"]
    untold = effect_on([name_of(change.measure) for change in open_changes])
    if warnings(experiment):
        return trust_in_words(Evidence(), is_warned=True, untold=untold)
    if any(change.interval is None for change in decisive):
        few = f"{counted(len(experiment.pairs), 'pair')} of runs cannot give an interval"
        return trust_in_words(
            Evidence(against=(f"{few}, so chance may explain any of the changes",)),
            is_warned=False,
            is_low=True,
            untold=untold,
        )
    host = " Other work of the host could slow either side." if is_host(experiment.a.on) else ""
    grounds = (
        "A and B ran in turn, in random order and with the same seeds, and the 95 % intervals hold after any pair, so "
        "the experiment may stop there"
    )
    return trust_in_words(Evidence(grounds=(grounds,)), is_warned=False, untold=untold) + host


def _other_mixes(experiment: Experiment) -> list[str]:
    """A warning if a run of a pair came to commands to which the other did not come."""
    pairs_by_command: Counter[str] = Counter()
    for pair in experiment.pairs:
        pairs_by_command.update({*pair.a.commands, *pair.b.commands} - {*common_commands(pair.a, pair.b)})
    if not pairs_by_command:
        return []
    names = ", ".join(f"{as_code(name)} ({count})" for name, count in sorted(pairs_by_command.items()))
    return [
        "Some runs ended before they came to every command. Response and CPU are means over the commands that both "
        f"runs of a pair came to, without (in so many pairs): {names}. p90 and throughput are over all commands, which "
        "differ between A and B. Longer runs (`--for`) come to all."
    ]


def _busy(experiment: Experiment) -> list[str]:
    """A warning if the host was busy with other things in some runs."""
    runs = [*_runs(experiment.pairs, "A"), *_runs(experiment.pairs, "B")]
    works = judged_together(OtherWork(run.others_share) for run in runs if run.others_share is not None)
    busy = [work.share for work in works if work is not None and work.level == "busy"]
    if not busy or not is_host(experiment.a.on):
        return []
    times = (
        f"busy with other things in {len(busy)} of {len(runs)} runs: up to {share(max(busy))} of its processors' time"
    )
    if _is_driver_metered(experiment):
        return [f"This host, from which users log in, was {times}. Their lines may be sent late and seen late."]
    return [
        f"The host was {times}. The difference holds for a host with such other work; on a quiet one it may be "
        f"another. {shows_programs_on(experiment.a.on)}"
    ]


def _is_driver_metered(experiment: Experiment) -> bool:
    """Whether users of A or B were on another host while loadgo metered this one."""
    sides = ((experiment.a, _runs(experiment.pairs, "A")), (experiment.b, _runs(experiment.pairs, "B")))
    return any(run.is_elsewhere and not variant.is_on_other_host for variant, runs in sides for run in runs)


def _why_unknown(experiment: Experiment) -> str:
    """The reason why a measure is not known, where users log in to another host; else empty."""
    letters = [letter for letter in "AB" if any(run.is_elsewhere for run in _runs(experiment.pairs, letter))]
    if not letters:
        return ""
    return (
        f" The users of {' and '.join(letters)} were on another host, where loadgo measures responses and throughput "
        "alone, and not what each interaction uses."
    )


def _unknown_measures(experiment: Experiment) -> list[str]:
    """The names of the decisive measures that are not known on both sides."""
    return [name_of(measure) for measure in experiment.decisive if experiment.change(measure) is None]


def advice(experiment: Experiment) -> list[str]:
    """The advice below the answer for measures without a verdict: how many more pairs, or longer runs."""
    names_by_advice: dict[str, list[str]] = {}
    for change in experiment.changes:
        if change.measure not in experiment.decisive or change.verdict != "cannot tell":
            continue
        names_by_advice.setdefault(_advice(change), []).append(name_of(change.measure))
    return [f"{in_words(names)}: {text}" for text, names in names_by_advice.items()]


def _advice(change: Change) -> str:
    if change.more_pairs is not None:
        pairs = f"{change.more_pairs} more pair{'s' if change.more_pairs > 1 else ''} like these"
        return f"{pairs}, or longer runs, would narrow the interval to the margin."
    missing = FEWEST_OBSERVATIONS - len(change.logs)
    if missing > 0:
        pairs = f"{missing} more pair{'s' if missing > 1 else ''}"
        given = "they give an interval, and say" if missing > 1 else "it gives an interval, and says"
        return f"run {pairs} first: {given} how many pairs a verdict needs."
    return (
        f"an interval as narrow as the margin needs over {MOST_FORECAST_PAIRS:,} pairs like these. "
        "Make the runs longer, or the margin wider."
    )


def about(experiment: Experiment) -> tuple[str, ...]:
    """The lines on the two variants and the load."""
    users = experiment.load.users or 1
    load = f"Each run: {people(users)}"
    load += f", for {_span(experiment.load.duration)}" if experiment.load.duration is not None else ""
    load += f", think {experiment.load.think}" if experiment.load.think else ""
    return f"A: {experiment.a.description}", f"B: {experiment.b.description}", f"{load}."


def _span(given: float | str) -> str:
    return given if isinstance(given, str) else duration(given * 1e9)


def notes(experiment: Experiment) -> list[tuple[str, str]]:
    """The notes below the tables: order, end, intervals, verdicts, other work, and runs that were left out."""
    known = " that is known on both sides" if _unknown_measures(experiment) else ""
    ends: dict[str | None, str] = {
        "decided": f"each of its measures{known} has a verdict",
        "most pairs": "it reached its largest number of pairs",
        "time limit": "its time was up",
        "left out too often": "too many runs were left out",
        "stopped": "it was stopped",
    }
    firsts = sum(pair.first == "A" for pair in experiment.pairs)
    lines = [
        (
            "Order",
            f"random: A ran first in {firsts} of {len(experiment.pairs)} pairs. Both runs of a pair have one seed.",
        ),
        ("End", f"The experiment ended because {ends[experiment.end]}."),
        (
            "Intervals",
            "hold in 95 of 100 experiments, for each measure by itself, also if you stop after any pair. They are "
            "computed from the scatter of the pairs, on a logarithmic scale.",
        ),
        (
            "Verdicts",
            "better and worse: the interval leaves out 0. No difference: it lies within the margin of "
            f"{margin_in_words(experiment.margin)}. By chance, up to one in twenty rows by command has a verdict.",
        ),
    ]
    lines += _speed(experiment)
    lines += _other_work(experiment)
    lines += [("Left out", f"{run.folder.name} of {run.letter}: {run.reason}.") for run in experiment.left_out]
    return [*lines, ("Runs", f"are in {experiment.folder}.")]


def change_name(change: Change) -> str:
    """The measure's name in tables and charts, which say where a change is that at equal speed."""
    return f"{name_of(change.measure)}{', equal speed' if change.is_at_equal_speed else ''}"


def _speed(experiment: Experiment) -> list[tuple[str, str]]:
    """A note on the speed of the processors, where a reference work measured it beside the runs."""
    cpu = experiment.change("cpu")
    if cpu is None or cpu.reference_logs is None:
        return []
    times = in_words([relative_of_pair(min(cpu.reference_logs)), relative_of_pair(max(cpu.reference_logs))])
    if not cpu.is_at_equal_speed:
        few = f"From {FEWEST_ADJUSTED_VALUES} pairs on, CPU is compared at equal speed"
        return [("Speed", f"The time of the same reference work changed by {times} at the extremes. {few}.")]
    return [
        (
            "Speed",
            "CPU is compared at equal speed of the processors, over all pairs and in each. Between A's and B's run of "
            f"a pair the time of the same reference work changed by {times} at the extremes, and CPU by "
            f"{cpu.mean.slope:.2f} times as much.",
        )
    ]


def _other_work(experiment: Experiment) -> list[tuple[str, str]]:
    """A note on the share of other work in the runs of each variant; none on a simulated machine."""
    if not is_host(experiment.a.on):
        return []
    unknown = _unmetered_others(experiment)
    if unknown:
        hosts = " and ".join(unknown)
        return [("Other work", f"Its share is not known on {hosts}: it takes the usage of every line there.")]
    texts = []
    for letter in "AB":
        shares = [run.others_share for run in _runs(experiment.pairs, letter) if run.others_share is not None]
        if not shares:
            return []
        texts.append(f"{share(median(shares))} ({share(min(shares))} to {share(max(shares))}) in {letter}'s runs")
    whose = "this host's, not of the hosts logged in to," if _is_driver_metered(experiment) else "the"
    return [("Other work", f"The median of its share of {whose} processors' time is {texts[0]}, and {texts[1]}.")]


def _unmetered_others(experiment: Experiment) -> list[str]:
    """The other hosts that users of A or B ran on and whose share of other work no run measured."""
    sides = ((experiment.a, _runs(experiment.pairs, "A")), (experiment.b, _runs(experiment.pairs, "B")))
    hosts = [
        str(variant.on)
        for variant, runs in sides
        if variant.is_on_other_host and runs and all(run.others_share is None for run in runs)
    ]
    return list(dict.fromkeys(hosts))


def _runs(pairs: Sequence[Pair], letter: str) -> list[RunFigures]:
    return [pair.a if letter == "A" else pair.b for pair in pairs]

"""The answer of a sweep in words, and its figures as texts."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.notation.figures import NOT_MEASURED, counted, digits, in_words, joined, number, people, seconds, share
from loadgo.sweeping.results import Configuration, Sweep, SweepFigure

MEASURE_NAMES = {
    "mean": "the mean response",
    "p50": "p50 of the response",
    "p90": "p90 of the response",
    "p95": "p95 of the response",
    "p99": "p99 of the response",
    "throughput": "the throughput",
    "busy": "the processors' busy time",
}
"""Each measure in a sentence."""


def answer(sweep: Sweep) -> str:
    """The answer in one sentence: where the measure is least, and where it is greatest or has no time."""
    made_of = ": ".join(filter(None, (_division(sweep.configurations), axes_in_words(sweep.configurations))))
    done = f"{simulations_in_words(sweep)}{f' ({made_of})' if made_of else ''}"
    measured = [configuration for configuration in sweep.configurations if sweep.measure in configuration.figures]
    if not measured:
        remedy = ": lengthen the simulations, or choose another measure" if sweep.points else ""
        reason = f": {sweep.problems[0]}" if sweep.problems else remedy
        return f"{done}, and none has {MEASURE_NAMES[sweep.measure]}{reason}."
    measured.sort(key=lambda configuration: configuration.figures[sweep.measure].value)
    name = MEASURE_NAMES[sweep.measure]
    endless = [configuration for configuration in sweep.configurations if _is_endless(configuration, sweep.measure)]
    if endless:
        is_least = f"{name} is lowest, {_figure_at(measured[0], measured, sweep.measure)}; "
        start = "" if measured[0] in endless else is_least
        places = _where(endless, measured)
        return f"{done}: {start}there is no {sweep.measure} {places}, where too many lines had no answer."
    least, greatest = measured[0], measured[-1]
    if len(measured) == 1:
        return f"{done}: {name} is {_figure_at(least, measured, sweep.measure)}."
    return (
        f"{done}: {name} is lowest, {_figure_at(least, measured, sweep.measure)}, and highest, "
        f"{_figure_at(greatest, measured, sweep.measure)}."
    )


def simulations_in_words(sweep: Sweep) -> str:
    """The simulations that are done."""
    simulations = counted(sweep.points_expected, "simulation")
    if sweep.points != sweep.points_expected:
        simulations = f"{number(sweep.points)} of {simulations}"
    return f"Only part {sweep.part} of the grid, {simulations}" if sweep.part else simulations


def _division(configurations: Sequence[Configuration]) -> str:
    """The numbers of configurations and seeds that make the simulations; empty with one seed."""
    counts = {configuration.points for configuration in configurations}
    seeds = max(counts, default=0)
    if seeds <= 1:
        return ""
    if len(configurations) == 1:
        return f"1 configuration, {counted(seeds, 'seed')}"
    most = "" if len(counts) == 1 else "at most "
    return f"{counted(len(configurations), 'configuration')}, {most}{counted(seeds, 'seed')} each"


def axes_in_words(configurations: Sequence[Configuration]) -> str:
    """The axes along which the configurations differ, each with its values or its range."""
    machines = list(dict.fromkeys(one.machine for one in configurations))
    axes = [f"machines {_range_in_words(machines)}"] if len(machines) > 1 else []
    for key in dict.fromkeys(key for one in configurations for key in one.settings):
        values = list(dict.fromkeys(one.settings[key] for one in configurations if key in one.settings))
        axes += [f"{key} {_range_in_words(values)}"] if len(values) > 1 else []
    users = sorted({one.users for one in configurations if one.users is not None})
    axes += [f"users {_range_in_words([number(count) for count in users])}"] if len(users) > 1 else []
    return "; ".join(axes)


def _range_in_words(values: Sequence[str]) -> str:
    """The values of an axis in their order; of many, how many there are and the ends."""
    if len(values) <= _NAMED_VALUES:
        return in_words(list(values))
    return f"{values[0]} to {values[-1]}, {number(len(values))} values"


_NAMED_VALUES = 3
"""Most values of an axis that the answer lists."""


def _figure_at(configuration: Configuration, measured: Sequence[Configuration], measure: str) -> str:
    """A figure with its interval and the configuration that it is of."""
    figure = configuration.figures[measure]
    remarks = [interval_in_words(measure, figure)]
    if figure.points < configuration.points:
        remarks.append(f"from {having_in_words(configuration, measure)} simulations")
    in_brackets = "; ".join(filter(None, remarks))
    value = value_in_words(measure, figure.value)
    return f"{value}{f' ({in_brackets})' if in_brackets else ''} {_where([configuration], measured)}"


def _is_endless(configuration: Configuration, measure: str) -> bool:
    return measure in configuration.figures and configuration.figures[measure].never > 0


_NAMED_SERIES = 3
"""Most machines with settings that the answer names for a measure without a time."""


def _where(configurations: Sequence[Configuration], measured: Sequence[Configuration]) -> str:
    """The numbers of users of these configurations, by machine and settings, as far as `measured` differ in them."""
    has_one_machine = len({other.machine for other in measured}) == 1
    is_one_series = has_one_machine and all(other.settings == measured[0].settings for other in measured)
    users: dict[str, list[int]] = {}
    for configuration in configurations:
        series = series_in_words(configuration, has_one_machine=has_one_machine)
        preposition = "on" if configuration.machine in series else "at"
        is_named = not is_one_series or configuration.users is None
        known = users.setdefault(f"{preposition} {series}" if is_named else "", [])
        known += [] if configuration.users is None else [configuration.users]
    places = [" ".join(filter(None, [f"with {people(*counts)}" if counts else "", at])) for at, counts in users.items()]
    return in_words(places, _NAMED_SERIES)


def having_in_words(configuration: Configuration, measure: str) -> str:
    """How many simulations of a configuration have a figure, such as `3 of 20`."""
    having = configuration.figures[measure].points if measure in configuration.figures else 0
    return f"{number(having)} of {number(configuration.points)}"


def lack_in_words(sweep: Sweep) -> str:
    """How many simulations do not have the measure; empty if all have it."""
    without = sweep.points_without(sweep.measure)
    if not without:
        return ""
    having_none = sum(configuration.figures.get(sweep.measure) is None for configuration in sweep.configurations)
    rows = (
        f"; {counted(having_none, 'configuration')} {'has' if having_none == 1 else 'have'} none" if having_none else ""
    )
    of = f"{number(without)} of {counted(sweep.points, 'simulation')}"
    lacking = f"{of} {'has' if without == 1 else 'have'} no figure"
    return (
        f"{lacking} for {MEASURE_NAMES[sweep.measure]}, and the means leave them out{rows}. "
        "Longer simulations have more figures."
    )


def series_in_words(configuration: Configuration, *, has_one_machine: bool) -> str:
    """The machine and its settings; settings alone where all configurations have one machine."""
    settings = [f"{key}={value}" for key, value in configuration.settings.items()]
    return ", ".join(settings if settings and has_one_machine else [configuration.machine, *settings])


def value_in_words(measure: str, value: float | None) -> str:
    """A value of a measure with its unit."""
    if value is None:
        return NOT_MEASURED
    if measure in ("busy", "errors"):
        return share(value)
    return f"{digits(value)}/s" if measure == "throughput" else seconds(value)


def interval_in_words(measure: str, figure: SweepFigure) -> str:
    """The interval of a figure; for one without a time, in how many simulations it has none; empty without either."""
    if figure.never and figure.points > 1:
        return f"in {number(figure.never)} of {counted(figure.points, 'simulation')}"
    if figure.interval is None:
        return ""
    return joined(*(value_in_words(measure, end) for end in (figure.interval.low, figure.interval.high)))


def users_in_words(users: int | None) -> str:
    """A number of users in a table."""
    return "own" if users is None else number(users)

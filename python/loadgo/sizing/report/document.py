"""A capacity as a document, with the answer, the curve in tables and pictures, and models; or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document, Remarks
from loadgo.notation.figures import digits, in_words, number, people, seconds, share
from loadgo.running.prepared import THIS_HOST
from loadgo.sizing.curve import LoadPoint, Target
from loadgo.sizing.report.json_keys import JSON_KEYS
from loadgo.sizing.report.pictures import capacity_pictures
from loadgo.sizing.report.tables import capacity_tables, undecided_notes
from loadgo.sizing.report.trust import capacity_trust
from loadgo.sizing.search.neighbours import busy_warning
from loadgo.sizing.search.results import Capacity
from loadgo.stats.resample import Interval
from loadgo.theory.scalability import FittedLaw

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


STOPPED_WARNING = "The search was stopped: the answer comes from the complete trials."
_WITH_OTHER_WORK = "Utilisations of the processors include this time, users' CPU does not."


def capacity_json(capacity: Capacity) -> str:
    """The capacity as one JSON object in full precision: times in seconds, null for what is unknown or infinite."""
    members = {**members_of(capacity, JSON_KEYS), "warnings": _capacity_warnings(capacity)}
    return json_document(members, JSON_KEYS)


def capacity_document(capacity: Capacity) -> Document:
    """The page of a capacity."""

    def charts() -> list[Chart]:
        from loadgo.sizing.report.charts import capacity_charts

        return capacity_charts(capacity)

    tables, warnings = capacity_tables(capacity), _capacity_warnings(capacity)
    curve_tables = 1 if capacity.points else 0
    return Document(
        title=f"capacity of {_system(capacity)} in users",
        answer=capacity.headline,
        trust=capacity_trust(capacity, is_warned=bool(warnings)),
        warnings=warnings,
        about=_about_lines(capacity),
        sections=(
            *_explained(capacity.explanation.splitlines()),
            *tables[:curve_tables],
            *capacity_pictures(capacity),
            Charts(charts),
            *tables[curve_tables:],
        ),
        notes=tuple(_capacity_notes(capacity)),
    )


def _explained(paragraphs: list[str]) -> tuple[Remarks, ...]:
    return (Remarks(tuple(paragraphs)),) if paragraphs else ()


def _system(capacity: Capacity) -> str:
    return "this host" if capacity.on == THIS_HOST else capacity.on


def _about_lines(capacity: Capacity) -> tuple[str, ...]:
    mix = ", ".join(f"{mix_class.name} {mix_class.weight}" for mix_class in capacity.classes)
    targets = "; ".join(target.text for target in capacity.targets)
    system = ", ".join([f"{capacity.script} on {_system(capacity)}", *capacity.settings])
    return (system, f"targets: {targets}", *((f"mix: {mix}",) if mix else ()))


def _capacity_warnings(capacity: Capacity) -> tuple[str, ...]:
    lost = [point for point in capacity.points if point.lost]
    warnings = [*capacity.fit_warnings, *capacity.limit_warnings, *_search_warnings(capacity)]
    warnings += [f"With {_users_in_words([point])} {number(point.lost)} records were lost." for point in lost]
    invalid = [point for point in capacity.points if not point.valid]
    if invalid and len(invalid) == len(capacity.points):
        reasons = dict.fromkeys(trial.why for trial in capacity.each_trial if trial.why)
        return (*warnings, f"No trial is valid{': ' if reasons else ''}{'; '.join(reasons)}.")
    warnings += [
        f"With {_users_in_words([point])} the trials are not valid{_reasons(capacity, point)}." for point in invalid
    ]
    return tuple(warnings)


def _search_warnings(capacity: Capacity) -> list[str]:
    """The warnings about a search that was stopped, and about a host that was busy with other things."""
    stopped = [STOPPED_WARNING] if capacity.end == "stopped" else []
    return [*stopped, *busy_warning(capacity.neighbours, capacity.on)]


def _reasons(capacity: Capacity, point: LoadPoint) -> str:
    """The reasons why the trials of a point are not valid, after a colon; empty without a reason."""
    reasons = dict.fromkeys(trial.why for trial in capacity.each_trial if trial.users == point.users and trial.why)
    return f": {'; '.join(reasons)}" if reasons else ""


def _capacity_notes(capacity: Capacity) -> list[tuple[str, str]]:
    limits = capacity.limits
    default_note = "" if limits.said else ", the default limit"
    trials = "1 trial" if capacity.trials == 1 else f"{capacity.trials:,} trials"
    notes = [
        (
            "Search",
            f"{trials} and {capacity.interactions_spent:,} interactions in {seconds(capacity.seconds)} of the system's "
            f"own time; up to {people(limits.max_users)}{default_note}.",
        )
    ]
    notes += [("Steady state", line) for line in _steady_notes(capacity)]
    if any(verdict.standing == "open" for point in capacity.points for verdict in point.verdicts):
        of_line = "" if capacity.fit_doubt is None else ", on the machine exactly as fitted"
        notes += undecided_notes("these users", capacity_tables(capacity)[0], of_line)
    if capacity.tariff:
        notes.append(("Tariff", f"a user-hour is priced at {capacity.tariff}."))
    notes += [*_other_work_notes(capacity), *_fit_notes(capacity), *_model_notes(capacity)]
    return [*notes, *(("Left out", note) for note in capacity.notes)]


def _other_work_notes(capacity: Capacity) -> list[tuple[str, str]]:
    """A note on other work on a host; none where it was not measured."""
    if capacity.neighbours is None:
        return []
    if busy_warning(capacity.neighbours, capacity.on):
        return [("Other work", f"it is beside the kernel's own. {_WITH_OTHER_WORK}")]
    note = (
        f"other programs used {share(capacity.neighbours.mean)} of the processors' time, beside the kernel's own "
        f"work. {_WITH_OTHER_WORK} loadgo meter --for 10s --full shows the programs."
    )
    return [("Other work", note)]


def _fit_notes(capacity: Capacity) -> list[tuple[str, str]]:
    """A note on the runs that a fitted machine came from; none for another machine."""
    doubt = capacity.fit_doubt
    if doubt is None or not doubt.fitted_users:
        return []
    return [
        (
            "Fitted machine",
            f"from runs with {people(*doubt.fitted_users)}. That it is right for more users is an assumption. The "
            "interval does not include its error.",
        )
    ]


def _steady_notes(capacity: Capacity) -> list[str]:
    """Notes on the test for a steady state at the valid points; warnings report the others."""
    valid = [point for point in capacity.points if point.valid]
    steady = [point for point in valid if point.steady]
    proofs = [f"Steady with {_users_in_words(steady)}."] if steady else []
    return proofs + [f"With {_users_in_words([point])}: {point.steady_why}." for point in valid if not point.steady]


def _users_in_words(points: list[LoadPoint]) -> str:
    """The users of the points in words: `1 user`, `5 and 36 users`."""
    return people(*(point.users for point in points))


def _model_notes(capacity: Capacity) -> list[tuple[str, str]]:
    models = capacity.models
    if models is None:
        return [("Models", "None: no number of users has trials that are valid and steady.")] if capacity.points else []
    notes = []
    if models.demands:
        notes.append(
            (
                "N*",
                "the number of users from which on a resource would be full if none had to wait for another: users "
                "times their time from prompt to prompt, over their time at the resource. Real users wait before it, "
                "so at N* the resource is less than 100 % busy, and it is full well beyond N*.",
            )
        )
    if models.mean_values is not None:
        notes.append(
            (
                "Mean values",
                "a queueing model with the service demands of the table above. Its interval comes from the smallest "
                "and the largest demand that was measured.",
            )
        )
    if models.law is not None:
        notes.append(("Scalability law", _law_in_words(models.law)))
    if any(model_capacity.by == "bounds" for model_capacity in models.holds):
        notes.append(("Bounds", "limits of the capacity for any queueing discipline."))
    if models.models:
        notes.append(
            (
                "Error",
                "the largest error of a model at a measured number of users. The last error is that of the response "
                "with the most of them, when the model is made without these trials. * marks larger numbers than were "
                "measured.",
            )
        )
    for model_target in models.asked:
        if model_target.ratio is not None and model_target.at_users is not None:
            limit = seconds(model_target.limit)
            notes.append(
                (
                    "Targets",
                    f"models have mean times, so {model_target.target.text} becomes mean < {limit}: with "
                    f"{people(model_target.at_users)}, {_measure_in_words(model_target.target)} was "
                    f"{digits(model_target.ratio)} times the mean.",
                )
            )
    return [*notes, *(("Models", note) for note in models.notes)]


def _measure_in_words(target: Target) -> str:
    return target.measure + (f"({target.command})" if target.command else "")


def _law_in_words(fitted: FittedLaw) -> str:
    law, undetermined = fitted.law, fitted.undetermined
    names = {"alpha": "contention", "beta": "coherency", "gamma": "throughput of one user"}
    parts = [
        f"{names[name]} {_parameter_in_words(value, fitted.intervals[name])}{' a second' if name == 'gamma' else ''}"
        for name, value in (("alpha", law.alpha), ("beta", law.beta), ("gamma", law.gamma))
        if name not in undetermined
    ]
    if undetermined:
        parts.append(f"{in_words([names[name] for name in undetermined])} not determined by these runs")
    peak = f"peak {digits(law.peak)}/s with {digits(law.peak_users)} users" if law.beta else "no peak"
    peak = "; no peak is determined, either" if undetermined else f"; {peak}"
    exact = (
        ""
        if fitted.freedom
        else " There are no intervals: the curve has as many parameters as numbers of users were measured."
    )
    return f"a curve through the throughputs alone: {', '.join(parts)}{peak}.{exact}"


def _parameter_in_words(value: float, interval: Interval | None) -> str:
    """The value of a parameter with its interval. No parameter is negative."""
    if interval is None:
        return digits(value)
    low, high = digits(interval.low), digits(interval.high)
    return f"{digits(value)} ({f'at most {high}' if interval.low <= 0 else f'{low} to {high}'})"

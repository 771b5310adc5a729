"""A capacity as a document: how many users, the curve in tables and pictures, what models make of it; or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.notation.figures import digits, number, people, seconds, share
from loadgo.sizing.answer import others_of
from loadgo.sizing.curve import Point
from loadgo.sizing.json_keys import JSON_KEYS
from loadgo.sizing.pictures import capacity_pictures
from loadgo.sizing.results import Capacity
from loadgo.sizing.tables import capacity_tables
from loadgo.stats.resample import Interval
from loadgo.theory.scalability import FittedLaw

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


def render_capacity(made: Capacity, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The capacity as `format`; `width` and `color` are for `text`. Raises `ValueError` for another format."""
    return render(format, lambda: capacity_document(made), lambda: capacity_json(made), width=width, color=color)


def capacity_json(made: Capacity) -> str:
    """One JSON object in full precision; times in seconds; null is not known, or has no end."""
    return json_document(members_of(made, JSON_KEYS), JSON_KEYS)


def capacity_document(made: Capacity) -> Document:
    """The page of a capacity."""

    def charts() -> list[Chart]:
        from loadgo.sizing.charts import capacity_charts

        return capacity_charts(made)

    tables = capacity_tables(made)
    first = 1 if made.points else 0
    return Document(
        title=f"how many users {made.on} holds",
        answer=made.in_words,
        warnings=_warnings(made),
        about=_about(made),
        sections=(*tables[:first], *capacity_pictures(made), Charts(charts), *tables[first:]),
        notes=tuple(_notes(made)),
    )


def _about(made: Capacity) -> tuple[str, ...]:
    mix = ", ".join(f"{one.name} {one.weight}" for one in made.classes)
    targets = "; ".join(target.text for target in made.targets)
    return (f"{made.script} on {made.on}", f"targets: {targets}", *((f"mix: {mix}",) if mix else ()))


def _warnings(made: Capacity) -> tuple[str, ...]:
    lost = [one for one in made.points if one.lost]
    found = [f"With {_users([one])} {number(one.lost)} records were lost." for one in lost]
    if bad := [one for one in made.points if not one.valid]:
        found.append(f"With {_users(bad)} what was measured is not valid: see Steady state.")
    return tuple(found)


def _notes(made: Capacity) -> list[tuple[str, str]]:
    limits = made.limits
    said = "" if limits.said else ", which nobody asked for: it is the usual limit"
    trials = "1 trial" if made.trials == 1 else f"{made.trials:,} trials"
    found = [
        (
            "Search",
            f"{trials} and {made.interactions_spent:,} interactions in {seconds(made.seconds)} of the system's "
            f"own time; up to {people(limits.max_users)}{said}.",
        )
    ]
    found += [("Steady state", line) for line in _steady(made)]
    if any(verdict.standing == "open" for point in made.points for verdict in point.verdicts):
        found.append(
            ("Open", "The interval of what was measured with so many users holds the limit: they alone do not tell.")
        )
    found += [*_others(made), *_model_notes(made)]
    return [*found, *(("Left out", note) for note in made.notes)]


def _others(made: Capacity) -> list[tuple[str, str]]:
    """What others on a host did meanwhile."""
    others = others_of(made.points)
    if others is None:
        return []
    told = (
        f"{share(others)} of the processors' time was neither the users' nor loadgo's: other programs, and the "
        "kernel's own work. It is in how busy the processors are, and in nothing that an interaction asks for. "
        "loadgo meter --for 10s tells whose it is."
    )
    return [("Others", told)]


def _steady(made: Capacity) -> list[str]:
    good = [one for one in made.points if one.steady and one.valid]
    told = [f"Proved with {_users(good)}."] if good else []
    return told + [f"With {_users([one])}: {one.steady_why}." for one in made.points if not (one.steady and one.valid)]


def _users(points: list[Point]) -> str:
    """`1 user`, `5 and 36 users`."""
    return people(*(one.users for one in points))


def _model_notes(made: Capacity) -> list[tuple[str, str]]:
    models = made.models
    if models is None:
        return [("Models", "None: no point is valid and steady.")] if made.points else []
    found = []
    if models.mean_values is not None:
        found.append(
            (
                "Mean values",
                "a queueing model: how long interactions wait for each resource, by what they ask of it (the table "
                "above). The doubt is by the least and the most that they were seen to ask.",
            )
        )
    if models.law is not None:
        found.append(("Scalability law", _law(models.law)))
    if any(one.by == "bounds" for one in models.holds):
        found.append(("Bounds", "whatever the queues are like, the number lies between these."))
    if models.models:
        found.append(
            (
                "Off",
                "is how far a model is from what was measured where it is furthest; left out is how far it misses the "
                "response with the most users when it is made without them. * is beyond what was measured.",
            )
        )
    for one in models.asked:
        if one.ratio is not None and one.at_users is not None:
            limit = seconds(one.limit)
            found.append(
                (
                    "Asked",
                    f"models tell mean times, so {one.target.text} is asked of them as mean < {limit}: with "
                    f"{people(one.at_users)} it was {digits(one.ratio)} times the mean.",
                )
            )
    return [*found, *(("Models", note) for note in models.notes)]


def _law(found: FittedLaw) -> str:
    law = found.law
    peak = f"most with {digits(law.peak_users)} users, {digits(law.peak)}/s" if law.beta else "no peak"
    alpha, beta, gamma = (
        _parameter(value, found.intervals[name])
        for name, value in (("alpha", law.alpha), ("beta", law.beta), ("gamma", law.gamma))
    )
    return (
        f"a curve through the throughputs alone, of work that is done one at a time (contention {alpha}) and work that "
        f"each makes for each other (coherency {beta}); one user {gamma} a second; {peak}."
    )


def _parameter(value: float, interval: Interval | None) -> str:
    between = "" if interval is None else f" ({interval.low:.3g} to {interval.high:.3g})"
    return f"{value:.3g}{between}"

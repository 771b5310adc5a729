"""A simulation as a document, each figure with half of its interval below it; and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits, number, seconds
from loadgo.notation.terms import category_name, category_term
from loadgo.running.json_keys import JSON_KEYS
from loadgo.running.simulation import ClassResponses, LittleAudit, SimulatedFigure, Simulation

_EXACT_PERCENT = 0.0005
"""Half-widths of intervals below this many percent are shown as 0: such a figure is exact but for rounding."""
_REASONS = {"too few": "too few", "too short a run": "short"}
"""Short reasons in a column for a missing figure; any other reason is a dash."""
_MOST_TITLE_CHARS = 200
"""The largest number of characters of a title."""
_ENDS = {
    "length": "reached",
    "precision": "reached",
    "most": "NOT reached",
    "stopped": "not reached: it was stopped",
}


def simulation_json(simulation: Simulation) -> str:
    """All fields as JSON. Times are seconds, and a figure without a value has the reason in `lacking`."""
    return json_document(members_of(simulation, JSON_KEYS), JSON_KEYS)


def simulation_document(simulation: Simulation) -> Document:
    """The document of a simulation."""
    title = simulation.title
    return Document(
        title=title,
        answer=simulation_answer(simulation),
        warnings=(*simulation.fit_warnings, *_warnings(simulation)),
        about=(title if len(title) <= _MOST_TITLE_CHARS else f"{title[: _MOST_TITLE_CHARS - 1]}…", _about(simulation)),
        sections=(_interactions(simulation), _stations(simulation), *_time(simulation)),
        notes=(*_too_few(simulation.all), *(("Laws", line) for line in _laws(simulation))),
    )


def simulation_answer(simulation: Simulation) -> str:
    """The throughput, the mean response time, and the use of the busiest station, each with half of its interval."""
    everyone = simulation.all
    figures = [
        _in_words(everyone.throughput, lambda value: f"{digits(value)} interactions a second"),
        _in_words(everyone.mean_s, lambda value: f"mean response {seconds(value)}"),
    ]
    measured = [station for station in simulation.stations if station.utilisation and station.utilisation.value]
    busiest = max(measured, key=lambda station: station.utilisation.value or 0.0, default=None)  # type: ignore[union-attr]
    if busiest is not None and busiest.utilisation is not None:
        figures.append(_in_words(busiest.utilisation, lambda value: f"{busiest.name} {_percent(value)} busy"))
    known = ", ".join(filter(None, figures))
    return f"Simulated, {_who(everyone)}: {known or 'the run was too short to tell'}."


def _in_words(figure: SimulatedFigure, form: Callable[[float], str]) -> str:
    """The figure, with half of its interval in brackets; empty for a missing figure."""
    half_width = _half_width(figure)
    return "" if figure.value is None else f"{form(figure.value)}{f' ({half_width})' if half_width else ''}"


def _warnings(simulation: Simulation) -> list[str]:
    """The warnings about the end of the run, and about Little's law."""
    warnings = [f"{simulation.until} was NOT reached."] if simulation.end == "most" else []
    audit = simulation.little
    is_doubtful = audit is not None and audit.verdict in ("broken", "not steady")
    return [*warnings, *(_audit(audit)[:1] if audit is not None and is_doubtful else [])]


def _about(simulation: Simulation) -> str:
    streams = f"{simulation.streams} streams, " if simulation.streams > 1 else ""
    rate = simulation.events / simulation.seconds if simulation.seconds else 0.0
    return (
        f"{simulation.until} {_ENDS[simulation.end]} after {number(simulation.interactions)} "
        f"interaction{'' if simulation.interactions == 1 else 's'}: "
        f"{seconds(simulation.simulated_s)} of virtual time, computed in {seconds(simulation.seconds)} "
        f"({digits(rate / 1e6)} million events a second); {streams}seed {simulation.seed}. The first tenth is "
        "left out; below each figure is half the width of its 95 % interval."
    )


def _interactions(simulation: Simulation) -> Table:
    rows = [simulation.all, *(simulation.classes if len(simulation.classes) > 1 else ())]
    columns = (
        Column("of", tuple(map(_who, rows))),
        _estimates("a second", [row.throughput for row in rows], digits),
        _estimates("mean", [row.mean_s for row in rows], seconds),
        _estimates("p50", [row.p50_s for row in rows], seconds),
        _estimates("p90", [row.p90_s for row in rows], seconds),
        _estimates("p95", [row.p95_s for row in rows], seconds),
        _estimates("p99", [row.p99_s for row in rows], seconds),
    )
    return Table("Interactions", columns)


def _too_few(row: ClassResponses) -> list[tuple[str, str]]:
    """A note on the quantiles that the simulation is too short for; empty if it has them all."""
    quantiles = {"p50": row.p50_s, "p90": row.p90_s, "p95": row.p95_s, "p99": row.p99_s}
    reasons = {name: str(figure.lacking).partition("too few: ")[2] for name, figure in quantiles.items()}
    listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)
    return [("too few", f"{listed}. A longer simulation has them.")] if listed else []


def _who(row: ClassResponses) -> str:
    return row.name if row.users is None else f"{row.name}, {number(row.users)} user{'' if row.users == 1 else 's'}"


def _stations(simulation: Simulation) -> Table:
    rows = simulation.stations
    columns = (
        Column("station", tuple(row.name for row in rows)),
        Column("servers", tuple("any" if row.servers is None else f"{row.servers:.0f}" for row in rows)),
        _estimates("busy", [row.utilisation for row in rows], _percent),
        _estimates("there", [row.queue for row in rows], digits),
        _estimates("a second", [row.requests for row in rows], digits),
        _estimates("response", [row.response_s for row in rows], seconds),
    )
    return Table("Stations", columns)


def _time(simulation: Simulation) -> list[Table]:
    rows = [
        (name, figure.value, figure.half_width) for name, figure in simulation.time.items() if figure.value is not None
    ]
    columns = (
        Column(
            "category",
            tuple(category_name(name) for name, _, _ in rows),
            hints=tuple(category_term(name).sentence for name, _, _ in rows),
        ),
        Column("share", tuple(_percent(share) for _, share, _ in rows)),
        Column("95 % interval", tuple(_share_interval(share, half) for _, share, half in rows)),
    )
    return [Table("Time of processors", columns, name_width=40)] if simulation.time else []


def _laws(simulation: Simulation) -> list[str]:
    law = simulation.response_by_law_s
    by_law = (
        [] if law.value is None else [f"Response by N / X - Z: {seconds(law.value)} {_half_width(law)}".rstrip() + "."]
    )
    if simulation.little is None:
        return [*by_law, "Little's law: too short a run to tell."]
    return [*by_law, *_audit(simulation.little)]


def _audit(audit: LittleAudit) -> list[str]:
    verdicts = {
        "holds": "Little's law holds",
        "broken": "Little's law does NOT hold: trust no figure before that is explained",
        "too short to tell": "Little's law: too short a run to tell",
        "not steady": "Little's law cannot be judged: the load is not steady, since more commands come than are served",
    }
    verdict = (
        f"{verdicts[audit.verdict]}: {digits(audit.counted)} users waited for a command by count, "
        f"{digits(audit.computed)} by throughput and response."
    )
    never = (
        "The difference is commands without an answer: the machine is overloaded, or never serves some of them. Queues "
        "and responses depend on the length of the run; only throughput and utilisation mean something."
    )
    return [verdict, never] if audit.verdict == "not steady" else [verdict]


def _estimates(heading: str, figures: Sequence[SimulatedFigure | None], form: Callable[[float], str]) -> Column:
    """A column of figures with half their intervals below; an empty cell is not measured."""
    cells = tuple("" if figure is None else _value(figure, form) for figure in figures)
    return Column(heading, cells, below=tuple("" if figure is None else _half_width(figure) for figure in figures))


def _value(figure: SimulatedFigure, form: Callable[[float], str]) -> str:
    if figure.value is not None:
        return form(figure.value)
    return _REASONS.get(str(figure.lacking).partition(":")[0], NOT_MEASURED)


def _half_width(figure: SimulatedFigure) -> str:
    relative = figure.relative
    if not relative:
        return ""
    return f"±{digits(100 * relative)} %" if 100 * relative >= _EXACT_PERCENT else "±0 %"


def _share_interval(share: float, half_width: float | None) -> str:
    """The interval of a share, within 0 and 1; a dash where it is not known."""
    if half_width is None:
        return NOT_MEASURED
    low, high = max(share - half_width, 0.0), min(share + half_width, 1.0)
    return f"{digits(100 * low)}–{digits(100 * high)} %"


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"

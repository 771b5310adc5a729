"""A simulation as a document, each figure with half of its interval below it; and as JSON.

Half an interval is in per cent of its figure. That of a share of time is in percentage points, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import A_MODEL, WIDE_SHARE, Evidence, trust_in_words
from loadgo.notation.figures import NOT_MEASURED, TOO_FEW_TEXT, cut, digits, number, people, seconds
from loadgo.notation.terms import category_name, category_term
from loadgo.running.json_keys import JSON_KEYS
from loadgo.running.simulation import ClassResponses, LittleAudit, SimulatedFigure, Simulation

_PRESENT_MEANING = "the mean number of those who wait at a station or are served by it."
_EXACT_PERCENT = 0.0005
"""Half-widths of intervals below this many percent are shown as 0: such a figure is exact but for rounding."""
_REASONS = {"too few": TOO_FEW_TEXT, "too short a run": TOO_FEW_TEXT}
"""Short reasons in a column for a missing figure; any other reason is a dash."""
_FEW_MEANING = "the simulation has too few interactions for the figure and its interval"
_BATCH_NEED = re.compile(r"too few: \d+ interactions a batch, (\d+) needed")
"""The reason for a missing figure whose batches are too small."""
_RUN_BATCHES = 45
"""A run with its warm-up is at most about so many of its batches long."""
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
    return json_document({**members_of(simulation, JSON_KEYS), "warnings": _warnings(simulation)}, JSON_KEYS)


def simulation_document(simulation: Simulation) -> Document:
    """The document of a simulation."""
    title = simulation.title
    warnings = _warnings(simulation)
    return Document(
        title=title,
        answer=simulation_answer(simulation),
        trust=simulation_trust(simulation, is_warned=bool(warnings)),
        warnings=warnings,
        about=(cut(title, _MOST_TITLE_CHARS), _about(simulation)),
        sections=(_interactions(simulation), _stations(simulation), *_time(simulation)),
        notes=(("present", _PRESENT_MEANING), *(("Laws", line) for line in _laws(simulation))),
    )


def simulation_answer(simulation: Simulation) -> str:
    """The throughput, the mean response time, and the use of the busiest station, each with half of its interval.

    It begins with the word that nothing was measured on a host.
    """
    everyone = simulation.all
    figures = [
        _in_words(everyone.throughput, lambda value: f"{digits(value)} interactions a second"),
        _in_words(everyone.mean_s, lambda value: f"mean response {seconds(value)}"),
    ]
    measured = [station for station in simulation.stations if station.utilisation and station.utilisation.value]
    busiest = max(measured, key=lambda station: station.utilisation.value or 0.0, default=None)  # type: ignore[union-attr]
    if busiest is not None and busiest.utilisation is not None:
        busy = _in_words(
            busiest.utilisation, lambda value: f"{busiest.name} {_percent(value)} busy", _percentage_points
        )
        figures.append(busy)
    known = ", ".join(filter(None, figures))
    users = "" if everyone.users is None else f" with {people(everyone.users)}"
    return f"Simulated{users}: {known}." if known else f"Simulated{users}: {_too_short(everyone)}."


def _too_short(everyone: ClassResponses) -> str:
    """The clause on a run without any figure, with a length that has them if it is known."""
    needed = [_needed_interactions(figure) for name, figure in _responses(everyone) if name in ("mean", "p90")]
    enough = max((count for count in needed if count is not None), default=None)
    length = "`--until 'precision(mean)=5%'` runs as long as it takes"
    if enough is not None:
        length = f"{number(enough)} interactions would tell (`--until interactions={enough}`)"
    return f"the run was too short to tell; {length}"


def _in_words(
    figure: SimulatedFigure, form: Callable[[float], str], half: Callable[[SimulatedFigure], str] | None = None
) -> str:
    """The figure, with half of its interval in brackets; empty for a missing figure."""
    half_width = (half or _half_width)(figure)
    return "" if figure.value is None else f"{form(figure.value)}{f' ({half_width})' if half_width else ''}"


def _warnings(simulation: Simulation) -> tuple[str, ...]:
    """The warnings about the fit of the machine, about the end of the run, and about Little's law."""
    warnings = [f"{simulation.until} was NOT reached."] if simulation.end == "most" else []
    audit = simulation.little
    is_doubtful = audit is not None and audit.verdict in ("broken", "not steady")
    of_law = _audit(audit)[:1] if audit is not None and is_doubtful else []
    return (*simulation.fit_warnings, *warnings, *of_law)


def _about(simulation: Simulation) -> str:
    streams = f"{simulation.streams} streams, " if simulation.streams > 1 else ""
    rate = simulation.events / simulation.seconds if simulation.seconds else 0.0
    done = f"{number(simulation.interactions)} interaction{'' if simulation.interactions == 1 else 's'}"
    is_count_alone = simulation.end == "length" and simulation.until.startswith("interactions=")
    end = done if is_count_alone else f"{simulation.until} {_ENDS[simulation.end]} after {done}"
    return (
        f"{end}: "
        f"{seconds(simulation.simulated_s)} of virtual time, computed in {seconds(simulation.seconds)} "
        f"({digits(rate / 1e6)} million events a second); {streams}seed {simulation.seed}. The first tenth is "
        "left out. Below each figure is half the width of its 95 % interval: in per cent of the figure, or for a share "
        "of time in percentage points."
    )


def _few_meaning(simulation: Simulation) -> str:
    """The meaning of `few`, with the length of a run that has the quantiles of all users."""
    everyone = [
        f"{name} {number(needed)}"
        for name, figure in _responses(simulation.all)
        if (needed := _needed_interactions(figure)) is not None
    ]
    needs = f"; for all users these numbers of interactions are enough (`--until`): {', '.join(everyone)}"
    return _FEW_MEANING + (needs if everyone else "")


def _needed_interactions(figure: SimulatedFigure) -> int | None:
    """About how many interactions of a run are enough for this figure; None if that is not known."""
    known = _BATCH_NEED.fullmatch(figure.lacking or "")
    return None if known is None else _RUN_BATCHES * round(int(known[1]), -2)


def _responses(row: ClassResponses) -> Iterable[tuple[str, SimulatedFigure]]:
    names = ("mean", "p50", "p90", "p95", "p99")
    return zip(names, (row.mean_s, row.p50_s, row.p90_s, row.p95_s, row.p99_s), strict=True)


def _rows(simulation: Simulation) -> Sequence[ClassResponses]:
    """All users, and where there are several classes each of them."""
    return [simulation.all, *(simulation.classes if len(simulation.classes) > 1 else ())]


def _interactions(simulation: Simulation) -> Table:
    rows = _rows(simulation)
    columns = (
        Column("users", tuple(map(_who, rows))),
        _estimates("a second", [row.throughput for row in rows], digits),
        *(_estimates(name, figures, seconds) for name, figures in _columns(rows)),
    )
    return Table("Interactions", columns, absent={TOO_FEW_TEXT: _few_meaning(simulation)})


def _columns(rows: Sequence[ClassResponses]) -> Iterable[tuple[str, list[SimulatedFigure]]]:
    """The mean and the quantiles, each with its figure of every row."""
    for cells in zip(*map(_responses, rows), strict=True):
        yield cells[0][0], [figure for _, figure in cells]


def _who(row: ClassResponses) -> str:
    return row.name if row.users is None else f"{row.name}, {number(row.users)} user{'' if row.users == 1 else 's'}"


def _stations(simulation: Simulation) -> Table:
    rows = simulation.stations
    columns = (
        Column("station", tuple(row.name for row in rows)),
        Column("servers", tuple("any" if row.servers is None else f"{row.servers:.0f}" for row in rows)),
        _estimates("busy", [row.utilisation for row in rows], _percent, _points),
        _estimates("present", [row.queue for row in rows], digits),
        _estimates("a second", [row.requests for row in rows], digits),
        _estimates("response", [row.response_s for row in rows], seconds),
    )
    return Table("Stations", columns, absent={TOO_FEW_TEXT: _FEW_MEANING})


def _time(simulation: Simulation) -> list[Table]:
    rows = [(name, figure) for name, figure in simulation.time.items() if figure.value is not None]
    columns = (
        Column(
            "category",
            tuple(category_name(name) for name, _ in rows),
            hints=tuple(category_term(name).sentence for name, _ in rows),
        ),
        Column("share", tuple(_percent(figure.value or 0.0) for _, figure in rows)),
        Column("±", tuple(_points(figure).removeprefix("±") or "0" for _, figure in rows)),
    )
    return [Table("Time of processors", columns, name_width=None)] if simulation.time else []


def _laws(simulation: Simulation) -> list[str]:
    law = simulation.response_by_law_s
    by_law = (
        []
        if law.value is None
        else [
            "Response by N / X − Z (users over throughput, less the think time): "
            + f"{seconds(law.value)} {_half_width(law)}".rstrip()
            + "."
        ]
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


def _estimates(
    heading: str,
    figures: Sequence[SimulatedFigure | None],
    form: Callable[[float], str],
    half: Callable[[SimulatedFigure], str] | None = None,
) -> Column:
    """A column of figures with half their intervals below, by default relative; an empty cell is not measured."""
    cells = tuple("" if figure is None else _value(figure, form) for figure in figures)
    below = tuple("" if figure is None else (half or _half_width)(figure) for figure in figures)
    return Column(heading, cells, below=below)


def _value(figure: SimulatedFigure, form: Callable[[float], str]) -> str:
    if figure.value is not None:
        return form(figure.value)
    return _REASONS.get(str(figure.lacking).partition(":")[0], NOT_MEASURED)


def _half_width(figure: SimulatedFigure) -> str:
    """Half of the interval, in per cent of the figure."""
    relative = figure.relative
    if not relative:
        return ""
    return f"±{digits(100 * relative)} %" if 100 * relative >= _EXACT_PERCENT else "±0 %"


def _points(figure: SimulatedFigure) -> str:
    """Half of the interval of a share of time, in percentage points."""
    half = 100 * (figure.half_width or 0.0)
    if not half:
        return ""
    return f"±{digits(half)} points" if half >= _EXACT_PERCENT else "±0 points"


def _percentage_points(figure: SimulatedFigure) -> str:
    """The same within a sentence, where per cent could be taken for a ratio."""
    return _points(figure).replace("points", "percentage points")


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"


def simulation_trust(simulation: Simulation, *, is_warned: bool) -> str:
    """The line on whether to believe the figures. `is_warned`: a warning stands over them."""
    mean, audit = simulation.all.mean_s, simulation.little
    against, grounds = [], []
    if simulation.end == "stopped":
        against.append("it was stopped before its end")
    if not mean.relative:
        against.append("the run is too short for intervals")
    elif mean.relative > WIDE_SHARE:
        against.append(f"the mean response is known only within ±{digits(100 * mean.relative)} %")
    else:
        grounds.append(f"the mean response is known within ±{digits(100 * mean.relative)} %")
    if simulation.end == "precision":
        grounds.append("the precision asked for is reached")
    if audit is None or audit.verdict == "too short to tell":
        against.append("the run is too short to be checked by Little's law")
    elif audit.verdict == "holds":
        grounds.append("Little's law holds")
    untold = "" if mean.relative else "what users would get"
    evidence = Evidence(tuple(against), tuple(grounds), A_MODEL)
    return trust_in_words(evidence, is_warned=is_warned, is_low=not mean.relative, untold=untold)

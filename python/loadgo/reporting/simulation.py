"""A simulation as a person reads it: 80 columns, each figure with its interval below it; and as JSON."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable

from loadgo.documents.as_json import json_document, members_of
from loadgo.notation.figures import NOT_MEASURED, digits, duration, number, plain
from loadgo.running.json_keys import KEYS
from loadgo.running.simulation import Estimate, Little, Responses, Simulation, Station

WIDTH = 80
_NAME, _COLUMN = 20, 10
_NARROWEST = 0.0005
"""Half an interval's width, in percent, below which it is shown as nothing: the figure is exact but for rounding."""
_LACKING = {"too few": "too few", "too short a run": "short"}
"""What stands in a column for why there is no figure; a dash for any other reason."""


def simulation_text(simulation: Simulation) -> str:
    """The whole of it; every line ends with a newline."""
    parts = [_head(simulation), _interactions(simulation), _stations(simulation), _time(simulation), _laws(simulation)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def simulation_json(simulation: Simulation) -> str:
    """All fields by name; times are seconds, and what could not be told has `lacking` in words."""
    return json_document(members_of(simulation, KEYS), KEYS)


def _head(simulation: Simulation) -> list[str]:
    ends = {
        "length": "reached",
        "precision": "reached",
        "most": "NOT reached",
        "stopped": "not reached: it was stopped",
    }
    streams = f"{simulation.streams} streams, " if simulation.streams > 1 else ""
    rate = simulation.events / simulation.seconds if simulation.seconds else 0.0
    told = (
        f"{simulation.until} {ends[simulation.end]} after {number(simulation.interactions)} "
        f"interaction{'' if simulation.interactions == 1 else 's'}: "
        f"{duration(simulation.simulated_s * 1e9)} of the machine's time, {duration(simulation.seconds * 1e9)} of this "
        f"one's ({digits(rate / 1e6)} million events a second); {streams}seed {simulation.seed}. The first tenth is "
        "left out; below each figure is half the width of its 95 % interval."
    )
    return [_cut(plain(simulation.title), WIDTH), *textwrap.wrap(told, WIDTH)]


def _interactions(simulation: Simulation) -> list[str]:
    header = _line("interactions", ["a second", "mean", "p50", "p90", "p95", "p99"])
    shown = [simulation.all, *(simulation.classes if len(simulation.classes) > 1 else ())]
    return [header, *(line for one in shown for line in _responses(one))]


def _responses(one: Responses) -> list[str]:
    users = "" if one.users is None else f", {number(one.users)} user{'' if one.users == 1 else 's'}"
    times = [one.mean_s, one.p50_s, one.p90_s, one.p95_s, one.p99_s]
    return _figures(f"{plain(one.name)}{users}", [(one.throughput, digits), *((time, _seconds) for time in times)])


def _stations(simulation: Simulation) -> list[str]:
    header = _line("stations", ["servers", "busy", "there", "a second", "response"])
    return [header, *(line for station in simulation.stations for line in _station(station))]


def _station(station: Station) -> list[str]:
    servers = Estimate(math.inf if station.servers is None else station.servers, 0.0)
    shown: list[tuple[Estimate | None, Callable[[float], str]]] = [
        (servers, lambda count: f"{count:.0f}" if math.isfinite(count) else "any"),
        (station.utilisation, _percent),
        (station.queue, digits),
        (station.requests, digits),
        (station.response_s, _seconds),
    ]
    return _figures(plain(station.name), shown)


def _time(simulation: Simulation) -> list[str]:
    if not simulation.time:
        return []
    lines = [_line("time of processors", ["share", "±"])]
    for category, told in simulation.time.items():
        if told.value is not None:
            lines.append(_line(category, [_percent(told.value), _percent(told.half_width or 0.0)]))
    return lines


def _laws(simulation: Simulation) -> list[str]:
    law, told = simulation.response_by_law_s, []
    if law.value is not None:
        told.append(f"Response by N / X - Z: {_seconds(law.value)} {_width(law)}".rstrip() + ".")
    if simulation.little is None:
        told.append("Little's law: too short a run to tell.")
    else:
        told += _audit(simulation.little)
    return [line for text in told for line in textwrap.wrap(text, WIDTH)]


def _audit(audit: Little) -> list[str]:
    verdicts = {
        "holds": "Little's law holds",
        "broken": "Little's law does NOT hold: trust no figure before that is explained",
        "too short to tell": "Little's law: too short a run to tell",
        "not steady": "Little's law cannot be judged; not steady: more come than are served",
    }
    told = (
        f"{verdicts[audit.verdict]}: {digits(audit.counted)} users with a command in hand by count, "
        f"{digits(audit.computed)} by throughput and response."
    )
    never = (
        "The difference are commands without an answer: the machine is overloaded, or serves some before others for "
        "ever. Queues and responses depend on how long the run is; only throughput and utilisation mean something."
    )
    return [told, never] if audit.verdict == "not steady" else [told]


def _figures(name: str, shown: Iterable[tuple[Estimate | None, Callable[[float], str]]]) -> list[str]:
    """Two lines: the figures, and the intervals below them."""
    above, below = [], []
    for told, form in shown:
        above.append("" if told is None else _value(told, form))
        below.append("" if told is None else _width(told))
    return [_line(name, above), _line("", below)] if any(below) else [_line(name, above)]


def _value(told: Estimate, form: Callable[[float], str]) -> str:
    if told.value is not None:
        return form(told.value)
    return _LACKING.get(str(told.lacking).partition(":")[0], NOT_MEASURED)


def _width(told: Estimate) -> str:
    relative = told.relative
    if not relative:
        return ""
    return f"±{digits(100 * relative)} %" if 100 * relative >= _NARROWEST else "±0 %"


def _seconds(seconds: float) -> str:
    return duration(seconds * 1e9)


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"


def _line(name: str, columns: Iterable[str]) -> str:
    return f"{_cut(name, _NAME):{_NAME}}{''.join(f'{column:>{_COLUMN}}' for column in columns)}".rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"

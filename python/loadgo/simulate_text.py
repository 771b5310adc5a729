"""A simulation as a person reads it: 80 columns, each figure with its interval below it; and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import asdict

from loadgo.report_figures import digits, duration, number, plain
from loadgo.simulate import Estimate, Responses, Simulation, Station

WIDTH = 80
_NAME, _COLUMN = 20, 10


def simulation_text(simulation: Simulation) -> str:
    """The whole of it; every line ends with a newline."""
    parts = [_head(simulation), _interactions(simulation), _stations(simulation), _time(simulation), _laws(simulation)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def simulation_json(simulation: Simulation) -> str:
    """All fields by name; times are seconds, and what could not be told has `lacking` in words."""
    return json.dumps(asdict(simulation), indent=2, ensure_ascii=False) + "\n"


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
        f"{simulation.until} {ends[simulation.end]} after {number(simulation.interactions)} interactions: "
        f"{duration(simulation.simulated_s * 1e9)} of the machine's time, {duration(simulation.seconds * 1e9)} of this "
        f"one's ({digits(rate / 1e6)} million events a second); {streams}seed {simulation.seed}. The first tenth is "
        "left out; below each figure is half the width of its 95 % interval."
    )
    return [plain(simulation.title), *textwrap.wrap(told, WIDTH)]


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
    servers = Estimate(None, None, "any") if station.servers is None else Estimate(station.servers, 0.0)
    shown: list[tuple[Estimate | None, Callable[[float], str]]] = [
        (servers, lambda count: f"{count:.0f}"),
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
        told.append(f"Response by N / X - Z: {_seconds(law.value)} {_width(law)}.")
    if simulation.little is not None:
        audit = simulation.little
        holds = "holds" if audit.holds else "does NOT hold: trust no figure before that is explained"
        told.append(
            f"Little's law {holds}: {digits(audit.counted)} users with a command in hand by count, "
            f"{digits(audit.computed)} by throughput and response."
        )
    return [line for text in told for line in textwrap.wrap(text, WIDTH)]


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
    return str(told.lacking).partition(":")[0]


def _width(told: Estimate) -> str:
    relative = told.relative
    return "" if not relative else f"±{digits(100 * relative)} %"


def _seconds(seconds: float) -> str:
    return duration(seconds * 1e9)


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"


def _line(name: str, columns: Iterable[str]) -> str:
    name = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
    return f"{name:{_NAME}}{''.join(f'{column:>{_COLUMN}}' for column in columns)}".rstrip()

"""A watcher's frame in signs, for a terminal of 80 × 24 or more: the answer, the users, the system, the commands."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.documents.signs import line
from loadgo.notation.figures import NOT_MEASURED, duration, number, people, plain, share, size
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.stats.resample import Floats
from loadgo.watching.expected import Expected
from loadgo.watching.fault_times import Lengths
from loadgo.watching.frame import STATES, Command, Frame

SIGNS = {
    "running": "█",
    "ready": "▒",
    "page wait": "P",
    "disk wait": "D",
    "other wait": "w",
    "typing": "t",
    "thinking": "·",
    "not known yet": "?",
}
"""One for each state: told apart by their shapes, so that no colour is needed."""

WORDS = {"page wait": "page", "disk wait": "disk", "other wait": "other wait", "not known yet": "not known"}
"""Shorter names, so that the legend fits."""

LABEL = 12
"""Signs for the name at the left of a series."""
SMALLEST = (60, 16)
ROOMY = 28
"""From so many lines on there is room for what can be asked elsewhere too."""
_WAITERS = 2

_BUSY, _HELD, _IDLE = 0.9, 0.4, 0.1


@dataclass(frozen=True)
class Shown:
    """What stands around a frame."""

    title: str
    mode: str
    """`live`, `ended`, or how fast it is played."""
    target_ns: float | None = None
    """The response time that is wanted."""
    expected: Expected | None = None
    """By a model, where one was asked."""


def columns_of(width: int) -> int:
    """How many columns a frame needs for a terminal so wide."""
    return max(width, SMALLEST[0]) - LABEL - 10


def screen(frame: Frame, shown: Shown, width: int, height: int) -> list[str]:
    """At most `height` lines of at most `width` signs."""
    least = (width, height)
    width, height = max(width, SMALLEST[0]), max(height, SMALLEST[1])
    head = [_head(frame, shown, width), *textwrap.wrap(answer(frame, shown.target_ns), width)]
    system = [*_system(frame, roomy=height >= ROOMY), *_model(shown.expected, width)]
    commands = _commands(frame, shown)
    room = height - len(head) - len(system) - 4 - min(len(commands), 6)
    users = _users(frame, max(room, 2))
    rest = height - len(head) - len(users) - len(system) - 3
    further = _time(frame)[: max(rest - len(commands) - 1, 0)] if frame.bands else []
    lines = [*head, "", *users, *system, "", *commands[:rest], *([""] if further else []), *further, _instrument(frame)]
    # A terminal smaller than that shows what is at the top left of it.
    return [one[: least[0]] for one in lines[: least[1]]]


def answer(frame: Frame, target_ns: float | None = None) -> str:
    """In one sentence: is it fine, what is full, who waits for what."""
    busy = frame.busy_share
    said = "processors not measured" if math.isnan(busy) else f"processors {share(busy)} busy"
    if frame.bands and not math.isnan(frame.users_share):
        said += f", {share(frame.users_share)} for users"
    p90 = frame.response_ns.get(0.9)
    slow = target_ns is not None and p90 is not None and p90 > target_ns
    if frame.bands and frame.answered == 0:
        return f"Nobody was answered in the last {duration(frame.width_ns)}; {said}."
    most = max(frame.waiting.items(), key=lambda one: one[1], default=("", 0.0))
    held = most[0] != "running" and most[1] >= _HELD
    why = f"{share(most[1])} of the response time is {_cause(most[0])}" if held else ""
    verdict = "Too slow" if slow else "Full" if busy >= _BUSY else "Held up" if held else "Fine"
    told = "" if p90 is None else f", p90 {duration(p90)}"
    if not frame.bands:
        idle = max(((name, part) for name, part in frame.time.items() if name in _CAUSES), key=_part, default=("", 0.0))
        why = (
            f"{share(idle[1])} of the processors' time they were idle because of a {_CAUSES[idle[0]]}"
            if idle[1] > 0.1
            else ""
        )
    return f"{verdict}: {said}{told}{'; ' + why if why else ''}."


_CAUSES = {"idle page wait": "wait for a page", "idle disk wait": "wait for a disk", "idle governed": "quota"}


def _part(one: tuple[str, float]) -> float:
    return one[1]


def _cause(state: str) -> str:
    return {
        "ready": "waiting for a processor",
        "page wait": "waiting for pages",
        "disk wait": "waiting for a disk",
        "other wait": "waiting for what no meter tells",
    }[state]


def _head(frame: Frame, shown: Shown, width: int) -> str:
    there = f"{people(frame.users)}, {frame.phase or 'not begun'}, " if frame.bands else ""
    right = f"{there}{duration(frame.end_ns)} {shown.mode}"
    room = max(width - len(right) - 1, 8)
    title = plain(shown.title)
    return f"{title if len(title) <= room else title[: room - 1] + '…':<{room}} {right}"


def _users(frame: Frame, room: int) -> list[str]:
    """A band for each user where they have room, else how many are in each state; without users, who used most."""
    if not frame.bands:
        return [
            _series(plain(name)[: LABEL - 1], used, 1.0, share) for name, used in list(frame.processes.items())[:room]
        ]
    if len(frame.bands) < room:
        bands = [f"{f'user {user}':<{LABEL}}{_band(band)}" for user, band in frame.bands.items()]
        return [*bands, " ".join(f"{sign} {WORDS.get(state, state)}" for state, sign in SIGNS.items())]
    everybody = max(float(sum(frame.states.values(), np.zeros(len(frame.ready))).max()), 1.0)
    states = [state for state in STATES if float(frame.states[state].max()) > 0.0][:room]
    return [
        f"{state:<{LABEL}}{line(list(frame.states[state] / everybody))} {number(float(frame.states[state][-1])):>8}"
        for state in states
    ]


def _band(band: Mapping[str, Floats]) -> str:
    """For every column the sign of what took most of it; what is longer than nothing is seen before thinking."""
    signs = []
    for column in range(len(band["running"])):
        at = {state: float(values[column]) for state, values in band.items()}
        waits = {state: value for state, value in at.items() if state in STATES[:5]}
        most = max(waits, key=lambda state: waits[state])
        quiet = max(at, key=lambda state: at[state])
        signs.append(SIGNS[most] if waits[most] > 0.02 else SIGNS[quiet] if at[quiet] > 0 else " ")
    return "".join(signs)


def _system(frame: Frame, *, roomy: bool) -> list[str]:
    lines = [
        _series("busy", frame.busy, 1.0, share),
        _series("ready list", frame.ready, None, number),
        *_waiters(frame),
        _series("faults/s", frame.faults, None, number),
    ]
    if roomy and not np.all(np.isnan(frame.major)) and float(np.nanmax(frame.major)) > 0:
        lines.append(_series("major/s", frame.major, None, number))
    if frame.bands:
        lines.append(_series("answers/s", frame.per_second, None, number))
    lines += _memory(frame)[: None if roomy else 1]
    if roomy and frame.fault_ns is not None:
        cpu, wait = frame.fault_ns
        lines += [*_lengths("fault CPU", frame.fault_cpu, cpu), *_lengths("fault wait", frame.fault_waits, wait)]
    return lines


def _lengths(name: str, told: Lengths | None, mean_ns: float) -> list[str]:
    """How many faults took how long: a sign for each power of 2, the shortest at the left."""
    if told is None:
        return []
    shortest, longest = map(duration, told.range_ns)
    drawn = line(list(told.counts / told.counts.max()))
    return [f"{name:<{LABEL}}{drawn} {shortest} to {longest}, {duration(mean_ns)} on the mean"]


def _waiters(frame: Frame) -> list[str]:
    """Who waited for a processor most, and what part of all such waits was theirs."""
    whole = sum(one.sum_ns for one in frame.waiters)
    told = [
        f"user {one.user} {share(one.sum_ns / whole)}, up to {duration(one.longest_ns)}"
        for one in frame.waiters[:_WAITERS]
    ]
    return [f"{'waited most':<{LABEL}}{'; '.join(told)}"] if told else []


def _model(expected: Expected | None, width: int) -> list[str]:
    """What a model expects of all commands together, and of the processors; or why it says nothing."""
    if expected is None:
        return []
    told = [
        f"{measure.partition(' ')[0]} {duration(one['value'])}{_interval(one)}"
        for measure in ("p50 response", "p90 response")
        for one in expected["figures"]
        if (one["command"], one["measure"]) == (ALL_COMMANDS, measure)
    ]
    told += [] if expected["busy"] is None else [f"busy {share(expected['busy'])}"]
    told += [] if expected["ready"] is None else [f"ready list {number(expected['ready'])}"]
    said = f"{'expected':<{LABEL}}{', '.join(told) or plain(expected['note'])}"
    return textwrap.wrap(said, width, subsequent_indent=" " * LABEL)


def _interval(one: Mapping[str, float]) -> str:
    return f" ({duration(one['low'])} to {duration(one['high'])})" if "low" in one else ""


def _memory(frame: Frame) -> list[str]:
    """Who has memory, and what was taken from whom: a line, or two."""
    if frame.memory is None:
        return []
    held = [f"{who} {size(amount)}" for who, amount in frame.memory.resident.items() if amount]
    held += [f"{name} {size(used)} of {size(whole)}" for name, (used, whole) in frame.memory.devices.items()]
    lost = [f"{who} {number(pages)}" for who, pages in list(frame.memory.taken.items())[:4]]
    taken = [f"{'pages taken':<{LABEL}}from {', '.join(lost)}"] if lost else []
    return [f"{'memory':<{LABEL}}{', '.join(held)}", *taken]


def _series(name: str, values: Floats, most: float | None, told: Callable[[float], str]) -> str:
    known = values[~np.isnan(values)]
    if not len(known):
        return f"{name:<{LABEL}}{NOT_MEASURED}"
    top = most or float(known.max()) or 1.0
    drawn = line([0.0 if math.isnan(value) else min(value / top, 1.0) for value in values])
    return f"{name:<{LABEL}}{drawn} {told(float(known.mean())):>8}"


def _commands(frame: Frame, shown: Shown) -> Sequence[str]:
    if not frame.bands:
        return _time(frame)
    means = {one["command"]: one["value"] for one in (shown.expected or _NO_MODEL)["figures"] if _is_mean(one)}
    head = f"{'mean':>10}{'expected':>10}" if means else ""
    rows = [f"{'command':<{LABEL}}{'count':>8}{'p50':>10}{'p90':>10}{'CPU each':>10}{head}"]
    for one in frame.commands:
        over = shown.target_ns is not None and one.p90_ns is not None and one.p90_ns > shown.target_ns
        name = plain(one.name)[: LABEL - 1]
        p90 = "few" if one.p90_ns is None else duration(one.p90_ns)
        cpu = NOT_MEASURED if one.cpu_ns is None else duration(one.cpu_ns)
        figures = f"{one.count:>8,}{duration(one.p50_ns):>10}{p90:>10}{cpu:>10}"
        rows.append(f"{name:<{LABEL}}{figures}{_beside(one, means)}{' over' if over else ''}")
    return rows


_NO_MODEL: Expected = {"figures": []}


def _is_mean(one: Mapping[str, str]) -> bool:
    return one["measure"] == "response"


def _beside(one: Command, means: Mapping[str, float]) -> str:
    """The mean response time, and what a model expects it to be."""
    expected = duration(means[one.name]) if one.name in means else "–"
    return f"{duration(one.mean_ns):>10}{expected:>10}" if means else ""


def _time(frame: Frame) -> list[str]:
    """Where the processors' time went, most first."""
    return [f"{name:<24}{share(part):>10}" for name, part in sorted(frame.time.items(), key=_part, reverse=True)]


def _instrument(frame: Frame) -> str:
    """What the watcher's own laboratory did: how late its driver was, and what it lost."""
    if not frame.bands:
        return f"no users: {duration(frame.width_ns)} of this system's own work"
    late = NOT_MEASURED if frame.lateness_ns is None else duration(frame.lateness_ns)
    lost = "nothing lost" if not frame.lost else f"{number(frame.lost)} RECORDS LOST"
    return f"{frame.answered:,} answers in {duration(frame.width_ns)}; driver late {late} (p99), {lost}"

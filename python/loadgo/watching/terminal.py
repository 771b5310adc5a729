"""A window of a run as text for a terminal of 80 × 24 or more: the answer, the users, the system, the commands."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.documents.prose import with_whole_figures
from loadgo.documents.signs import line
from loadgo.notation.figures import NOT_MEASURED, counted, cut, duration, number, people, plain, share, size
from loadgo.notation.terms import category_name
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.stats.resample import Floats
from loadgo.watching.answer import answer, answer_kind
from loadgo.watching.expected import Expected
from loadgo.watching.fault_times import FaultTimes
from loadgo.watching.host_rows import busiest_first, host_lines
from loadgo.watching.paint import painted
from loadgo.watching.state_signs import SHORT_STATE_NAMES, STATE_SIGNS, legend
from loadgo.watching.window import SERVED_STATES_COUNT, USER_STATES, WatchWindow, WindowCommand

LABEL_CHARS = 12
"""Width of the name at the left of a series."""
SMALLEST_SCREEN = (60, 16)
"""Columns and lines of the smallest screen; a smaller terminal shows its top left part."""
ROOMY_LINES = 28
"""A screen of at least this many lines also shows major faults, the times of faults, and pages taken."""
_MEAN_CHARS = 10
"""Width of the figure at the right of a series, and of the space before it."""
_LINES_A_LINE_OF_ANSWER = 6
"""A screen has a line for the answer for each so many of its lines."""
_SHOWN_WAITERS = 2
_CATEGORY_CHARS = 28

_SHOWN_STATE_SHARE = 0.02
"""Share of a column from which a state of an interaction is shown, although typing or thinking may be longer."""


@dataclass(frozen=True)
class ScreenContext:
    """The facts that a screen shows beside the window."""

    title: str
    mode: str
    """`live`, `ended`, `held`, or the speed of a replay."""
    target_ns: float | None = None
    """The target of the p90 response time."""
    expected: Expected | None = None
    """The figures of a model; None without a model."""
    part: str = ""
    """The words for the part of a finished run that is shown; empty where it is the whole run, or goes on."""
    whole_p90_ns: float | None = None
    """The p90 of the whole run, to stand beside that of a part."""


def columns_of(width: int) -> int:
    """Number of columns of a window that fit in a terminal of `width` characters."""
    return max(width, SMALLEST_SCREEN[0]) - LABEL_CHARS - _MEAN_CHARS


def screen(window: WatchWindow, context: ScreenContext, width: int, height: int, *, color: bool = False) -> list[str]:
    """The screen: at most `height` lines of at most `width` characters, with escape sequences for `color`."""
    lines = [(cut(text, width), kind) for text, kind in _lines(window, context, max(width, SMALLEST_SCREEN[0]), height)]
    kinds = [kind for _, kind in lines[:height]]
    return [painted(text, kind) if color else text for (text, _), kind in zip(lines, kinds, strict=False)]


def _lines(window: WatchWindow, context: ScreenContext, width: int, height: int) -> list[tuple[str, str]]:
    """The lines of the screen, each with its kind. The last but one says what has no room.

    From above: the title and the answer, users, the system's series, hosts, commands, and the categories of time.
    """
    height, roomy = max(height, SMALLEST_SCREEN[1]), height >= ROOMY_LINES
    sentence, kind = _judged(window, context)
    answer_lines = _answer_lines(sentence, width, height // _LINES_A_LINE_OF_ANSWER)
    head = [_title_line(window, context, width), *answer_lines]
    all_series = [*_system_lines(window, roomy=roomy), *_model_lines(context.expected, width)]
    series = all_series[: max(height - len(head) - 11, 3)]
    hosts, commands = host_lines(window) if window.bands else [], _command_lines(window, context)
    user_room = max(height - len(head) - len(series) - 6 - len(hosts) - min(len(commands), 6), 3)
    users = _user_lines(window, user_room)
    table_room = height - len(head) - len(users) - len(series) - 5
    hosts, hidden_hosts = hosts[:table_room], len(hosts) - table_room
    command_room = max(table_room - len(hosts), 1)
    all_categories = _time_lines(window) if window.bands else []
    categories = all_categories[: max(command_room - len(commands) - 1, 0)]
    categories = categories if len(categories) > 1 else []
    hidden = [
        _hidden(hidden_hosts, "host"),
        _hidden(len(commands) - command_room, "command" if window.bands else "category"),
        _hidden(len(all_categories) - max(len(categories), 1), "category"),
        _hidden(_rows_without_room(window, user_room), _row_kind(window)),
        *(text[:LABEL_CHARS].strip() for text in all_series[len(series) :]),
        "times of faults" if window.fault_ns is not None and not roomy else "",
        "all of the answer" if answer_lines != _wrapped(sentence, width) else "",
    ]
    left_out = [part for part in hidden if part]
    return [
        (head[0], "title"),
        *((text, kind) for text in head[1:]),
        ("", ""),
        *users,
        (_axis_line(window), "head"),
        *((text, "series") for text in series),
        ("", ""),
        *_headed(hosts),
        *(_headed(commands[:command_room]) if command_room > 1 or not window.hosts else []),
        *([("", "")] if categories else []),
        *_headed(categories),
        *([(_left_out_line(left_out, width), "head")] if left_out else []),
        (_own_line(window), "row"),
    ]


def _judged(window: WatchWindow, context: ScreenContext) -> tuple[str, str]:
    """The answer and its kind. That of a part of a finished run names the part first, and is never a good one."""
    sentence, kind = answer(window, context.target_ns), answer_kind(window, context.target_ns)
    if not context.part:
        return sentence, kind
    whole = "" if context.whole_p90_ns is None else f"; over the whole run the p90 is {duration(context.whole_p90_ns)}"
    return f"{context.part}{whole}. {sentence}", "plain answer" if kind == "good answer" else kind


def _answer_lines(sentence: str, width: int, most: int) -> list[str]:
    """The lines of the answer: its first sentences, as many as fit in `most` lines, and at least the first."""
    sentences = _SENTENCE_END.split(sentence)
    by_count = (_wrapped(" ".join(sentences[:count]), width) for count in range(len(sentences), 0, -1))
    return next((lines for lines in by_count if len(lines) <= most), _wrapped(sentences[0], width))


_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z])")


def _headed(lines: Sequence[str]) -> list[tuple[str, str]]:
    """The lines with their kinds: rows below a heading."""
    return [(text, "row" if place else "head") for place, text in enumerate(lines)]


def _left_out_line(left_out: Sequence[str], width: int) -> str:
    """Names the parts without room, as far as these fit into the line, and counts the others."""
    lines = [_left_out(left_out, named) for named in range(len(left_out), 0, -1)]
    return next((line for line in lines if len(line) <= width), lines[-1])


def _left_out(left_out: Sequence[str], named: int) -> str:
    more = [counted(len(left_out) - named, "other part")] if named < len(left_out) else []
    return f"not shown: {', '.join([*left_out[:named], *more])}; enlarge the terminal"


def _row_kind(window: WatchWindow) -> str:
    """The kind of things that have a row each in the screen's upper part."""
    return "state of users" if window.bands else "host" if window.hosts else "process"


def _hidden(count: int, name: str) -> str:
    """The number of things without room, with their name; empty where all are shown."""
    if count <= 0:
        return ""
    plural = {"category": "categories", "process": "processes", "state of users": "states of users"}
    return f"{count} {name if count == 1 else plural.get(name, name + 's')}"


def _axis_line(window: WatchWindow) -> str:
    """The time of the columns, and the heading of the figures beside them."""
    columns = len(window.busy)
    begin, end = f"{window.start_ns / 1e9:.1f} s", f"{window.end_ns / 1e9:.1f} s"
    return f"{'time':<{LABEL_CHARS}}{begin}{end:>{max(columns - len(begin), 0)}} {'mean':>8}"


def _title_line(window: WatchWindow, context: ScreenContext, width: int) -> str:
    users = f"{people(window.users)}, {window.phase or 'not begun'}, " if window.bands else ""
    if window.bands and not window.users and context.mode == "ended":
        right = f"{people(len(window.bands))}, ended after {duration(window.end_ns)}"
    else:
        right = f"{users}{duration(window.end_ns)} {context.mode}"
    title_width = max(width - len(right) - 1, 8)
    return f"{cut(plain(context.title), title_width):<{title_width}} {right}"


def _user_lines(window: WatchWindow, room: int) -> list[tuple[str, str]]:
    """A band for each user if all have room, else the number of users in each state; without users, the processes."""
    if not window.bands:
        hosts = {host.name: host.busy for host in busiest_first(window.hosts)}
        processes = list((hosts or window.processes).items())[:room]
        return [
            (_series_line(cut(plain(name), LABEL_CHARS - 1), used, 1.0, share), "series") for name, used in processes
        ]
    if len(window.bands) < room:
        bands = [_user_line(f"user {user}", band) for user, band in window.bands.items()]
        return [*bands, (legend(len(window.ready) + LABEL_CHARS + _MEAN_CHARS), "legend")]
    most_users = max(float(sum(window.states.values(), np.zeros(len(window.ready))).max()), 1.0)
    series = _states_in(window)
    rows = [
        (f"{_row_name(state):<{LABEL_CHARS}}{line(list(users / most_users))} {number(float(users[-1])):>8}", "series")
        for state, users in list(series.items())[: room - 1]
    ]
    heading = f"{'users':<{LABEL_CHARS}}{'':<{len(window.ready)}} {'at last':>8}"
    return [(heading, "head"), *rows]


def _user_line(name: str, band: Mapping[str, Floats]) -> tuple[str, str]:
    """A user's band, or the words that the user was not there."""
    signs = _band(band)
    if not signs.strip():
        return f"{name:<{LABEL_CHARS}}(not logged in)", "row"
    return f"{name:<{LABEL_CHARS}}{signs}", "band"


def _row_name(state: str) -> str:
    """The name of a state before a row, where *not known yet* has no room."""
    return state if len(state) < LABEL_CHARS else SHORT_STATE_NAMES[state]


def _states_in(window: WatchWindow) -> dict[str, Floats]:
    """The states in which some user was."""
    return {state: window.states[state] for state in USER_STATES if float(window.states[state].max()) > 0.0}


def _rows_without_room(window: WatchWindow, room: int) -> int:
    """Number of states, or without users of processes, that `_user_lines` leaves out."""
    if not window.bands:
        return len(window.hosts or window.processes) - room
    return 0 if len(window.bands) < room else len(_states_in(window)) - room + 1


def _band(band: Mapping[str, Floats]) -> str:
    """A character for each column: its longest state of an interaction, or if those are short its longest state."""
    signs = []
    for column in range(len(band["running"])):
        shares = {state: float(values[column]) for state, values in band.items()}
        longest = max(shares, key=lambda state: shares[state])
        longest_served = max(USER_STATES[:SERVED_STATES_COUNT], key=lambda state: shares[state])
        state = longest_served if shares[longest_served] > _SHOWN_STATE_SHARE else longest
        signs.append(STATE_SIGNS[state] if shares[state] > 0 else " ")
    return "".join(signs)


def _system_lines(window: WatchWindow, *, roomy: bool) -> list[str]:
    lines = [
        _series_line("busy", window.busy, 1.0, share, mean=window.busy_share),
        _series_line("run queue", window.ready, None, number),
        *_waiter_lines(window),
        _series_line("faults/s", window.faults, None, number),
    ]
    if roomy and not np.all(np.isnan(window.major)) and float(np.nanmax(window.major)) > 0:
        lines.append(_series_line("major/s", window.major, None, number))
    if window.bands:
        lines.append(_series_line("answers/s", window.per_second, None, number))
    lines += _memory_lines(window)[: None if roomy else 1]
    if roomy and window.fault_ns is not None:
        cpu, wait = window.fault_ns
        lines += [
            *_fault_time_lines("fault CPU", window.fault_cpu, cpu),
            *_fault_time_lines("fault wait", window.fault_waits, wait),
        ]
    return lines


def _fault_time_lines(name: str, times: FaultTimes | None, mean_ns: float) -> list[str]:
    """The distribution of fault times: a character for each power of 2, the shortest at the left."""
    if times is None:
        return []
    shortest, longest = map(duration, times.range_ns)
    bars = line(list(times.counts / times.counts.max()))
    return [f"{name:<{LABEL_CHARS}}{bars} {shortest} to {longest}, mean {duration(mean_ns)}"]


def _waiter_lines(window: WatchWindow) -> list[str]:
    """The users who waited longest for a processor, and their shares of all users' waits for one."""
    total_ns = sum(waiter.sum_ns for waiter in window.waiters)
    waiters = [
        f"user {waiter.user} {share(waiter.sum_ns / total_ns)}, longest {duration(waiter.longest_ns)}"
        for waiter in window.waiters[:_SHOWN_WAITERS]
    ]
    return [f"{'CPU waits':<{LABEL_CHARS}}most: {'; '.join(waiters)}"] if waiters else []


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The lines of a text, in which no figure is parted from its unit."""
    joined = with_whole_figures(text, _JOINT)
    return [line.replace(_JOINT, " ") for line in textwrap.wrap(joined, width, subsequent_indent=indent)]


_JOINT = "\u00a0"
"""A space at which no line is broken."""


def _model_lines(expected: Expected | None, width: int) -> list[str]:
    """The figures that a model expects for all commands together and the processors, or why there are none."""
    if expected is None:
        return []
    figures = [
        f"{measure.partition(' ')[0]} {duration(figure['value'])}{_interval(figure)}"
        for measure in ("p50 response", "p90 response")
        for figure in expected["figures"]
        if (figure["command"], figure["measure"]) == (ALL_COMMANDS, measure)
    ]
    figures += [] if expected["busy"] is None else [f"busy {share(expected['busy'])}"]
    figures += [] if expected["ready"] is None else [f"run queue {number(expected['ready'])}"]
    text = f"{'expected':<{LABEL_CHARS}}{', '.join(figures) or plain(expected['note'])}"
    return _wrapped(text, width, indent=" " * LABEL_CHARS)


def _interval(figure: Mapping[str, float]) -> str:
    return f" ({duration(figure['low'])} to {duration(figure['high'])})" if "low" in figure else ""


def _memory_lines(window: WatchWindow) -> list[str]:
    """The holders of memory, and the owners of the pages that were taken: one or two lines."""
    if window.memory is None:
        return []
    holders = [f"{owner} {size(amount)}" for owner, amount in window.memory.resident.items() if amount]
    holders += [f"{name} {size(used)} of {size(capacity)}" for name, (used, capacity) in window.memory.devices.items()]
    losses = [f"{owner}: {number(pages)}" for owner, pages in list(window.memory.taken.items())[:4]]
    taken = [f"{'pages taken':<{LABEL_CHARS}}from {', '.join(losses)}"] if losses else []
    return [f"{'memory':<{LABEL_CHARS}}{', '.join(holders)}", *taken]


def _series_line(
    name: str, values: Floats, top: float | None, format_mean: Callable[[float], str], mean: float | None = None
) -> str:
    """A line of bars with the mean; `mean` where the columns have different weights."""
    measured = values[~np.isnan(values)]
    if not len(measured):
        return f"{name:<{LABEL_CHARS}}{NOT_MEASURED}"
    scale = top or float(measured.max()) or 1.0
    bars = line([0.0 if math.isnan(value) else min(value / scale, 1.0) for value in values])
    return f"{name:<{LABEL_CHARS}}{bars} {format_mean(float(measured.mean()) if mean is None else mean):>8}"


def _command_lines(window: WatchWindow, context: ScreenContext) -> Sequence[str]:
    if not window.bands:
        return _time_lines(window)
    figures = (context.expected or _NO_MODEL)["figures"]
    means = {figure["command"]: figure["value"] for figure in figures if figure["measure"] == "response"}
    head = f"{'mean':>10}{'expected':>10}" if means else ""
    rows = [f"{'command':<{LABEL_CHARS}}{'count':>8}{'p50':>10}{'p90':>10}{'CPU, mean':>10}{head}"]
    for command in window.commands:
        is_slow = context.target_ns is not None and (command.p90_ns or 0.0) > context.target_ns
        name = cut(plain(command.name), LABEL_CHARS - 1)
        p90 = "few" if command.p90_ns is None else duration(command.p90_ns)
        cpu = NOT_MEASURED if command.cpu_ns is None else duration(command.cpu_ns)
        cells = f"{command.count:>8,}{duration(command.p50_ns):>10}{p90:>10}{cpu:>10}"
        rows.append(f"{name:<{LABEL_CHARS}}{cells}{_model_cells(command, means)}{' over' if is_slow else ''}")
    return rows


_NO_MODEL: Expected = {"figures": []}


def _model_cells(command: WindowCommand, means: Mapping[str, float]) -> str:
    """The cells of the mean response time and of the mean that a model expects; empty without a model."""
    expected = duration(means[command.name]) if command.name in means else "–"
    return f"{duration(command.mean_ns):>10}{expected:>10}" if means else ""


def _time_lines(window: WatchWindow) -> list[str]:
    """The categories of the processors' time, the largest first, below a heading; empty where it was not measured."""
    ordered = sorted(window.time.items(), key=lambda pair: pair[1], reverse=True)
    rows = [f"{category_name(name):<{_CATEGORY_CHARS}}{share(part):>10}" for name, part in ordered]
    return [f"{'processor time':<{_CATEGORY_CHARS}}{'share':>10}", *rows] if rows else []


def _own_line(window: WatchWindow) -> str:
    """The quality of the measurement: the lateness of the driver, and the number of lost records."""
    if not window.bands:
        whose = "the hosts'" if window.hosts else "this system's"
        return f"no users: {duration(window.width_ns)} of {whose} own work"
    late = "lateness of lines unknown" if window.lateness_ns is None else _lateness_in_words(window.lateness_ns)
    lost = "nothing lost" if not window.lost else f"{counted(window.lost, 'record').upper()} LOST"
    so_far = "" if window.charged is None else f"; CPU of {number(window.charged)}, provisional"
    return f"{counted(window.answered, 'answer')} in {duration(window.width_ns)}; {late}, {lost}{so_far}"


def _lateness_in_words(lateness_ns: float) -> str:
    return f"p99 of lines' lateness {duration(lateness_ns)}" if lateness_ns else "no line was late"

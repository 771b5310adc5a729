"""The lines of a run that failed, timed out or died, each with its condition and the last screen of its terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.documents.as_csv import frame_csv
from loadgo.documents.as_json import json_document
from loadgo.documents.document import Document, Points
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.notation.figures import duration, number, plain, seconds

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

FAILED_OUTCOMES = ("failed", "timeout", "died")
MOST_LINES = 20
"""Most kinds of lines that a text shows; the first ones, which find a mistake in a script best."""
_MOST_SCREEN_ROWS = 24
_END_CHARS = 32
"""Characters of the screen's end that are shown in quotes, since a pattern must match there."""

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)"
)
"""ECMA-48: a string up to its end, a control sequence, or another escape sequence; each may be cut at the end."""
FAILED_KEYS = "user pass=pass_number line command sent_ns waited_ns outcome exit_status until screen"


@dataclass(frozen=True)
class FailedLine:
    """A line that failed, timed out or died."""

    user: int
    pass_number: int
    line: int
    command: str
    sent_ns: int
    waited_ns: int | None
    """Time from the sending to the end of the line; None if neither an answer nor a screen was recorded."""
    outcome: str
    exit_status: int | None
    until: str | None
    """The sign of the ready system, as scripts write it; None if the screen was not kept."""
    screen: str | None
    """The last output as recorded, with its control characters; None if it was not kept."""


def failed_lines_of(tables: Tables) -> tuple[FailedLine, ...]:
    """The lines of all phases that failed, timed out or died, in the order in which they were sent."""
    outcome = pl.col("outcome").cast(pl.String)
    rows = tables.interactions.with_columns(outcome).filter(outcome.is_in(FAILED_OUTCOMES))
    ended_ns = pl.coalesce("ready_ns", "at_ns").cast(pl.Int64)
    joined = (
        rows.join(tables.screens, on=["user", "sent_ns"], how="left")
        .sort("sent_ns", "user")
        .select(
            pl.col("user", "line", "outcome", "exit_status", "until", "screen"),
            pass_number=pl.col("pass"),
            command=pl.col("command").cast(pl.String),
            sent_ns=pl.col("sent_ns").cast(pl.Int64),
            waited_ns=ended_ns - pl.col("sent_ns").cast(pl.Int64),
        )
    )
    return tuple(FailedLine(**row) for row in joined.iter_rows(named=True))


def failed_report(tables: Tables, format: str = "text", most: int | None = None) -> str | bytes:
    """The failed lines as `format`. Text, HTML and Markdown show at most `most` of them, JSON and CSV all."""
    lines, interactions = failed_lines_of(tables), len(tables.interactions)
    shown = MOST_LINES if most is None else most
    parts = Presentation(
        lambda: _document(lines, interactions, shown),
        lambda: json_document({"failed": lines}, {FailedLine: FAILED_KEYS}),
        {"failed": lambda: frame_of(lines, FAILED_KEYS)},
        csv=lambda: _csv(lines),
        text=lambda _width, _color: failed_text(lines, interactions, shown),
    )
    return parts.report(format)


def _csv(lines: tuple[FailedLine, ...]) -> str:
    """The failed lines as CSV, with screens as a terminal may print them."""
    frame = frame_of(lines, FAILED_KEYS)
    screens = [None if line.screen is None else "\n".join(printable_screen(line.screen)) for line in lines]
    return frame_csv(frame.with_columns(screen=pl.Series(screens, dtype=pl.String)))


def _document(lines: tuple[FailedLine, ...], interactions: int, most: int) -> Document:
    kinds = _kinds(lines)
    items = tuple((_heading(kind), *(row.strip() for row in _screen_rows(kind[0]))) for kind in kinds[:most])
    hidden = () if len(kinds) <= most else (("More", _more(kinds, most)),)
    shown = (Points("", items, verbatim=True),) if items else ()
    return Document("Failed lines", _count(lines, interactions), shown, notes=hidden)


def _count(lines: tuple[FailedLine, ...], interactions: int) -> str:
    if not lines:
        return f"No line failed, timed out or died; {number(interactions)} were sent."
    return f"{number(len(lines))} of {number(interactions)} lines failed, timed out or died, in all phases together."


def _kinds(lines: tuple[FailedLine, ...]) -> list[tuple[FailedLine, ...]]:
    """The lines that ended alike: of one command, in the same way, with the same screen. The first kind is first."""
    kinds: dict[tuple[object, ...], list[FailedLine]] = {}
    for line in lines:
        screen = None if line.screen is None else tuple(printable_screen(line.screen))
        kinds.setdefault((line.command, line.outcome, line.exit_status, line.until, screen), []).append(line)
    return [tuple(kind) for kind in kinds.values()]


def _more(kinds: list[tuple[FailedLine, ...]], shown: int) -> str:
    count = sum(map(len, kinds[shown:]))
    return f"{number(count)} more: --top {len(kinds)} shows all; --format json has them too."


def failed_text(lines: tuple[FailedLine, ...], interactions: int, most: int) -> str:
    """The failed lines of `interactions` as text for a terminal; no character of a screen can control the terminal."""
    head = _count(lines, interactions)
    kinds = _kinds(lines)
    blocks = [head, *("\n".join([_heading(kind), *_screen_rows(kind[0])]) for kind in kinds[:most])]
    if len(kinds) > most:
        blocks.append(_more(kinds, most))
    return "\n\n".join(blocks) + "\n"


def printable_screen(screen: str) -> list[str]:
    """The rows of recorded output as a terminal may print them: without escape sequences, other controls replaced."""
    text = _ESCAPE_SEQUENCE.sub("", screen)
    rows = [plain(row.expandtabs(8)) for row in re.split(r"\r*\n|\r+", text)]
    while rows and not rows[0].strip():
        rows.pop(0)
    return rows


def _heading(kind: tuple[FailedLine, ...]) -> str:
    """Where and how the first line of a kind ended, and how many more ended so."""
    line, others = kind[0], len(kind) - 1
    place = f"{seconds(line.sent_ns / 1e9)}: user {line.user}, pass {line.pass_number}, line {line.line}"
    after = "" if line.waited_ns is None else f" after {duration(line.waited_ns)}"
    condition = f"; it waited for {plain(line.until)}" if line.until else ""
    how = {
        "failed": f"ended with status {line.exit_status}{after}, which the script does not accept",
        "timeout": f"timed out{after}{condition}",
        "died": f"the session ended{after}{condition}",
    }[line.outcome]
    more = f"; {number(others)} more ended so" if others else ""
    return f"{place}, {plain(line.command)}: {how}{more}"


def _screen_rows(line: FailedLine) -> list[str]:
    """The last rows of the screen, and its end in quotes, where a pattern would have had to match."""
    if line.screen is None:
        return ["    its last screen was not kept"]
    rows = printable_screen(line.screen)
    if not rows:
        return ["    it printed nothing"]
    shown = [f"    │ {row}".rstrip() for row in rows[-_MOST_SCREEN_ROWS:]]
    if line.outcome == "failed":
        return shown
    end = next((row for row in reversed(rows) if row), "")[-_END_CHARS:]
    return [*shown, f"    the output ends with “{end}”{' and a new line' if not rows[-1] else ''}"]

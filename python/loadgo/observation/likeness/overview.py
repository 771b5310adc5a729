"""The first tables of a likeness: how many figures of each kind are alike, and which are furthest from the observed."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.comparison.figures import relative_change
from loadgo.documents.document import Points
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, in_words, number
from loadgo.notation.margin import margin_in_words
from loadgo.observation.likeness.answer import counts_in_words, furthest_by_kind
from loadgo.observation.likeness.results import (
    ComparedFigure,
    ComparedMix,
    FiguresOf,
    Likeness,
    Verdict,
)
from loadgo.observation.likeness.stand_in_bytes import MOVED_COLUMNS
from loadgo.observation.likeness.words import (
    VERDICT_WORDS,
    difference_in_words,
    interval_in_words,
    kind_of,
    observed_in_words,
    row_name,
    share_interval_in_words,
    value_in_words,
)

_MOST_ROWS: dict[FiguresOf, int] = {"script": 4, "host": 2}
"""Most rows of the figures that are furthest from the observed ones."""
_NAME_CHARS = 34
_COUNTED: tuple[Verdict, ...] = ("alike", "unclear", "differs", "few")

_Row = ComparedFigure | ComparedMix


def overview_table(likeness: Likeness) -> Table:
    """The number of figures of each kind with each verdict; those of the host stand below those of the script."""
    of_script: list[_Row] = [*(row for row in likeness.figures if row.depends_on == "script"), *likeness.mixes]
    of_host: list[_Row] = [row for row in likeness.figures if row.depends_on == "host"]
    totals = [("all of the script", of_script), *([("all that depend on the host", of_host)] if of_host else [])]
    named = [*_kinds(of_script), *_kinds(of_host), *totals]
    columns = (
        Column("figures of", tuple(name for name, _ in named)),
        *(
            Column(
                {"differs": "differ", "few": "too few"}.get(verdict, verdict),
                tuple(number(sum(row.verdict == verdict for row in rows)) for _, rows in named),
            )
            for verdict in _COUNTED
        ),
    )
    margin = margin_in_words(likeness.margin)
    judged = likeness.judged("script")
    foot = (
        f"alike: within {margin} with the whole 95 % interval; differ: beyond it with the whole interval; unclear: "
        "neither; too few: not judged."
    )
    counts = f"Of the script, {counts_in_words(likeness, judged)}." if likeness.is_unlike else ""
    return Table(
        "What is alike",
        columns,
        total_rows=len(totals),
        name_width=_NAME_CHARS,
        foot="\n".join(filter(None, (counts, foot))),
        id="alike",
    )


def _kinds(rows: Sequence[_Row]) -> list[tuple[str, list[_Row]]]:
    kinds = dict.fromkeys(kind_of(row) for row in rows)
    return [(kind, [row for row in rows if kind_of(row) == kind]) for kind in kinds]


def furthest_table(likeness: Likeness) -> Table | None:
    """The figure of each kind that is furthest from the observed one: those of the script, then those of the host."""
    rows = [
        row
        for depends_on, most_rows in _MOST_ROWS.items()
        for row in furthest_by_kind(likeness.judged(depends_on))[:most_rows]
    ]
    if not rows:
        return None
    columns = (
        Column("figure", tuple(row_name(row) for row in rows), verbatim=True),
        Column("observed", tuple(_observed(row) for row in rows)),
        Column("run", tuple(_in_run(row) for row in rows)),
        Column("difference", tuple(difference_in_words(row) for row in rows)),
        Column("its 95 %", tuple(_interval(row) for row in rows), spare=1, of_previous=True),
        Column("alike", tuple(VERDICT_WORDS[row.verdict] for row in rows), kind="name"),
    )
    return Table(
        "Furthest from what was observed",
        columns,
        name_width=None,
        shown="short",
        foot="The furthest figure of each kind: of the script, and then of those that depend on the host, too.",
        absent={NOT_MEASURED: "a mix has no figure of one side alone"},
    )


def _observed(row: _Row) -> str:
    return NOT_MEASURED if isinstance(row, ComparedMix) else observed_in_words(row)


def _in_run(row: _Row) -> str:
    return NOT_MEASURED if isinstance(row, ComparedMix) else value_in_words(row.measure, row.run)


def _interval(row: _Row) -> str:
    return share_interval_in_words(row.interval) if isinstance(row, ComparedMix) else interval_in_words(row)


def gap_points(likeness: Likeness) -> Points | None:
    """The figures that cannot be compared, in few lines: those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for gap in likeness.not_compared:
        by_reason.setdefault(gap.reason, []).append(gap.figure)
    items = [(f"{in_words(figures)}: {reason}",) for reason, figures in by_reason.items()]
    moved = _moved_in_words(likeness)
    if moved:
        items.append((moved,))
    return Points("What cannot be compared", tuple(items), shown="short", id="gaps") if items else None


def _moved_in_words(likeness: Likeness) -> str:
    """The bytes that the script is to move, of all observed runs together, against those that were observed."""
    changes = []
    for moved in MOVED_COLUMNS:
        rows = [(row.runs, row.observed, row.script) for row in likeness.bytes if row.moved == moved]
        known = [(runs * observed, runs * script) for runs, observed, script in rows if script is not None]
        observed_sum, script_sum = (sum(side) for side in zip(*known, strict=True)) if known else (0.0, 0.0)
        if observed_sum > 0:
            changes.append(f"{moved} {relative_change(script_sum / observed_sum - 1, None)}")
    return (
        f"bytes that the script's stand-ins are to move, against those observed: {in_words(changes)}" if changes else ""
    )

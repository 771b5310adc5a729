"""A comparison in every format: its document with JSON and charts, and its rows as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.comparison.compare import Comparison
from loadgo.comparison.document import comparison_document, comparison_json
from loadgo.comparison.metered_tables import METERED_TITLES
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation

if TYPE_CHECKING:
    import polars as pl

_DIFFERENCE_COLUMNS = (
    "measure=figure.measure a=figure.before b=figure.after change=figure.change change_low=figure.interval.low "
    "change_high=figure.interval.high relative=figure.relative verdict=figure.verdict "
    "a_low=figure.before_interval.low a_high=figure.before_interval.high b_low=figure.after_interval.low "
    "b_high=figure.after_interval.high pairs_needed=figure.pairs_needed"
)


def presentation(comparison: Comparison, *, full: bool = False) -> Presentation:
    """The parts of a comparison. Times in the frames are in nanoseconds. `full`: the text has all tables and notes."""

    def text(width: int | None, color: bool) -> str:
        from loadgo.documents.as_text import text_document

        return text_document(comparison_document(comparison), width=width, color=color, short=not full)

    return Presentation(
        lambda: comparison_document(comparison),
        lambda: comparison_json(comparison),
        {
            "rows": lambda: _rows(comparison),
            "conditions": lambda: frame_of(comparison.conditions, "name before after"),
            "checks": lambda: frame_of(
                ({"side": side, "check": check} for side, check in comparison.checks),
                "side check=check.name verdict=check.verdict text=check.text",
            ),
        },
        main_tables=("A as a prediction", "Response time", "Processor time", "In all", *METERED_TITLES),
        main_charts=("changes-response",),
        text=text,
    )


def _rows(comparison: Comparison) -> pl.DataFrame:
    """Each measure of each row; the rows of kind `whole` have all measures of the whole script or mean interaction.

    The rows of meterings have the kind of what was metered, such as `time` or `primitives`.
    """
    figures = [
        {"row": row.label, "kind": row.kind, "figure": figure}
        for row in comparison.rows.rows
        for figure in row.measures.values()
    ]
    metered = comparison.metered.rows if comparison.metered is not None else ()
    figures += [{"row": row.name, "kind": row.kind, "figure": row.difference} for row in metered]
    figures += [{"row": "all", "kind": "whole", "figure": figure} for figure in comparison.rows.whole.values()]
    return frame_of(figures, f"row kind {_DIFFERENCE_COLUMNS}")

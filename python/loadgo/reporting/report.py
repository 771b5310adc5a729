"""A run's report in one call: its folder to text, HTML, JSON, CSV, Markdown, SVG or PNG."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from loadgo.records.tables import tables

if TYPE_CHECKING:
    from loadgo.measures.meters import By
    from loadgo.measures.vocabulary import Year
    from loadgo.reporting.render import Format


def report(
    run: str | PathLike[str],
    *,
    format: Format = "text",
    tariff: str = "default",
    phases: str = "steady",
    target: float | None = None,
    width: int | None = None,
    chart: str | None = None,
    color: bool = False,
    vocabulary: Year = "today",
    by: By | None = None,
    top: int | None = None,
) -> str | bytes:
    """The report of `run` (its folder, or what `loadgo.run` returned); bytes for `png`, else text.

    `phases` is `steady` or `all`; `target` a response time in seconds that lateness must be small beside; `width` in
    characters and `color` are for `text`; `chart` names the picture of `svg` and `png`, and the one whose data `csv`
    holds. `vocabulary` is the year in whose words total time is told: `1969`, `1973` or `today`; `by` is `command` or
    `user`, for faults and primitives of each; `top` is how many rows a long table has.

    Raises `ValueError` for a choice that there is not, `errors.BadRun` without a run.
    """
    from loadgo.measures.summary import summarize
    from loadgo.reporting.render import render
    from loadgo.reporting.view import View, check_view

    view = View(vocabulary=vocabulary, by=by, top=top)
    check_view(view)
    measured = tables(run)
    summary = summarize(measured, tariff=tariff, phases=phases, target=target, by=by)
    return render(summary, measured, format, view=view, width=width, chart=chart, color=color)

"""A run's report in one call: its folder to text, HTML, JSON, CSV, Markdown, SVG or PNG."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from loadgo.tables import tables

if TYPE_CHECKING:
    from loadgo.report import Format


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
) -> str | bytes:
    """The report of `run` (its folder, or what `loadgo.run` returned); bytes for `png`, else text.

    `phases` is `steady` or `all`; `target` a response time in seconds that lateness must be small beside; `width` in
    characters and `color` are for `text`; `chart` names the picture of `svg` and `png`.

    Raises `ValueError` for a format, tariff, phase or chart that there is not, `errors.BadRun` without a run.
    """
    from loadgo.report import render
    from loadgo.summary import summarize

    measured = tables(run)
    summary = summarize(measured, tariff=tariff, phases=phases, target=target)
    return render(summary, measured, format, width=width, chart=chart, color=color)

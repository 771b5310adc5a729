"""Runs, metering and simulations in every format: their documents with JSON and charts, and frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.errors import BadArgument
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.runs import RecordedRun, find_run
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables, tables
from loadgo.reporting import words
from loadgo.reporting.as_csv import command_frame
from loadgo.reporting.as_json import json_report
from loadgo.reporting.document import report_document
from loadgo.reporting.report import render, reported_summary
from loadgo.reporting.simulation import simulation_document, simulation_json
from loadgo.reporting.view import View
from loadgo.running.run import Run
from loadgo.running.simulation import Simulation

if TYPE_CHECKING:
    import polars as pl

    from loadgo.documents.chart import Chart
    from loadgo.measures.summary import Summary

    class Metered(Protocol):
        """The result of metering."""

        @property
        def folder(self) -> Path | None:
            """The folder of the records."""


COMMANDS_FRAME = "commands"
"""The main table of a run: a row for each command, and one for all."""
_STATION_COLUMNS = (
    "name servers busy=utilisation.value busy_half_width=utilisation.half_width queue=queue.value "
    "queue_half_width=queue.half_width requests=requests.value requests_half_width=requests.half_width "
    "response_s=response_s.value response_half_width_s=response_s.half_width"
)


def presentation(run: Run, **choices: Any) -> Presentation:
    """The parts of a run. The choices are those of `View`, such as `vocabulary`. Its frames have the run's tables."""
    measured = cache(lambda: tables_of_load(tables(run.folder)))
    return _presentation(lambda: run.summary, measured, View(**choices), run.folder)


def recorded_presentation(run: RecordedRun, **choices: Any) -> Presentation:
    """The parts of a recorded run, as those of a `Run`."""
    return _of_folder(find_run(run), "steady", View(**choices))


def metered_presentation(metered: Metered, **choices: Any) -> Presentation:
    """The parts of what was metered, as those of a `Run`, over the whole time."""
    if metered.folder is None:
        raise BadArgument("nothing was recorded, so that there is nothing to show: name a folder with `out`")
    return _of_folder(metered.folder, "all", View(**choices))


def _of_folder(folder: Path, phases: str, view: View) -> Presentation:
    read = cache(lambda: reported_summary(folder, phases=phases))
    return _presentation(lambda: read()[0], lambda: read()[1], view, folder)


def _presentation(
    summary: Callable[[], Summary], measured: Callable[[], Tables], view: View, folder: Path
) -> Presentation:
    """The parts of a run's report, whose tables are read only for charts, JSON, text, and frames of records."""

    def text(width: int | None, color: bool) -> str:
        return str(render(summary(), measured(), "text", view=view, width=width, color=color, run=str(folder)))

    def chart(name: str | None) -> Chart:
        from loadgo.reporting.charts.charts import chart

        return chart(name, summary(), measured())

    return Presentation(
        lambda: report_document(summary(), view, measured=measured()),
        lambda: json_report(summary(), measured(), view),
        {
            COMMANDS_FRAME: lambda: command_frame(summary()),
            **{name: partial(_table, measured, name) for name in COLUMNS_BY_TABLE},
        },
        answer=lambda: words.answer(summary()),
        main_charts=("response", "time"),
        named_chart=chart,
        text=text,
    )


def _table(measured: Callable[[], Tables], name: str) -> pl.DataFrame:
    return measured().frames()[name]


def simulation_presentation(simulation: Simulation) -> Presentation:
    """The parts of a simulation. Times are in seconds; half-widths are of 95 % intervals."""
    classes = (simulation.all, *(simulation.classes if len(simulation.classes) > 1 else ()))
    figures = ("throughput", "mean_s", "p50_s", "p90_s", "p95_s", "p99_s")
    columns = " ".join(f"{name}={name}.value {name}_half_width={name}.half_width" for name in figures)
    shares = ({"category": name, "share": share} for name, share in simulation.time.items())
    return Presentation(
        lambda: simulation_document(simulation),
        lambda: simulation_json(simulation),
        {
            "classes": lambda: frame_of(classes, f"name users {columns}"),
            "stations": lambda: frame_of(simulation.stations, _STATION_COLUMNS),
            "time": lambda: frame_of(shares, "category share=share.value half_width=share.half_width"),
        },
    )

"""The report of a part of a watched run, as a page: for the stretch of time that a viewer chose."""

from __future__ import annotations

from pathlib import Path

from loadgo.errors import BadArgument
from loadgo.measures.summary import summarize
from loadgo.notation.figures import duration
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.following import latest_ns
from loadgo.records.part import part_of
from loadgo.records.tables import tables
from loadgo.reporting.report import render


def part_report(folder: Path, from_ns: int, to_ns: int) -> str:
    """The report of what happened between two instants of the run in `folder`, as HTML. It only reads the folder.

    A part that goes on after the last record ends there. Raises `BadRun` for a run that cannot be read, `BadArgument`
    for a part without length and for one that begins after the last record.
    """
    measured = tables_of_load(tables(folder))
    reach_ns = latest_ns(measured)
    if reach_ns <= from_ns < to_ns:
        raise BadArgument(f"from {duration(from_ns)} on there is nothing: the run has {duration(reach_ns)}")
    part = part_of(measured, from_ns, min(to_ns, reach_ns))
    page = render(summarize(part, phases="all"), part, "html")
    assert isinstance(page, str), "a page is text"
    return page

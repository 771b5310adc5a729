"""The report of a part of a watched run, as a page: for the stretch of time that a viewer chose."""

from __future__ import annotations

from pathlib import Path

from loadgo.measures.summary import summarize
from loadgo.records.part import part_of
from loadgo.records.tables import tables
from loadgo.reporting.report import render


def part_report(folder: Path, from_ns: int, to_ns: int) -> str:
    """The report of what happened between two instants of the run in `folder`, as HTML. It only reads the folder.

    Raises `BadRun` for a run that cannot be read, `BadArgument` for a part without length.
    """
    part = part_of(tables(folder), from_ns, to_ns)
    page = render(summarize(part, phases="all"), part, "html")
    assert isinstance(page, str), "a page is text"
    return page

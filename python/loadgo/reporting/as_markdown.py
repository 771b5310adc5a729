"""The report as Markdown, for an issue or a page."""

from __future__ import annotations

from loadgo.documents.grid import Grid
from loadgo.documents.markdown import escaped
from loadgo.measures.summary import Summary
from loadgo.reporting import words
from loadgo.reporting.tables import grids
from loadgo.reporting.view import View

_WIDTH = 120


def markdown_report(summary: Summary, view: View | None = None) -> str:
    """GitHub's tables; every sign that could mean something is escaped."""
    parts = [f"> **{escaped(warning)}**" for warning in words.warnings(summary)]
    parts += [
        f"**{escaped(words.answer(summary))}**",
        escaped(words.title(summary)) + "  \n" + escaped(words.system(summary)),
    ]
    parts += [escaped(words.scope(summary))]
    parts += [f"### {escaped(grid.title)}\n\n{_table(grid.fitting(_WIDTH))}" for grid in grids(summary, view)]
    parts += ["\n".join(f"- **{label}**: {escaped(line)}" for label, line in words.fine_print(summary, view))]
    return "\n\n".join(parts) + "\n"


def _table(grid: Grid) -> str:
    head = " | ".join(escaped(column.heading) for column in grid.columns)
    rule = " | ".join([":---"] + ["---:"] * (len(grid.columns) - 1))
    return "\n".join(f"| {line} |" for line in [head, rule, *(" | ".join(map(escaped, row)) for row in grid.rows())])

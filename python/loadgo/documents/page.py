"""A page of tables as text, Markdown and HTML: an answer, what it is about, tables, and what to know about them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Literal

from loadgo.documents.grid import Grid
from loadgo.documents.markdown import escaped
from loadgo.errors import BadArgument
from loadgo.notation.figures import plain

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

Format = Literal["text", "html", "json", "md"]
FORMATS: tuple[Format, ...] = ("text", "html", "json", "md")

NARROWEST = 60
_MARKDOWN_WIDTH = 120


@dataclass(frozen=True)
class Picture:
    """A picture made of signs, for a page of text; the HTML page has charts instead."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Its lines, of at most so many signs each."""


@dataclass(frozen=True)
class Page:
    """What there is to show, in words and tables, in no format yet."""

    title: str
    answer: str
    warnings: tuple[str, ...]
    about: tuple[str, ...]
    """A line each: what is shown."""
    grids: tuple[Grid, ...]
    notes: tuple[tuple[str, str], ...]
    """The fine print: label and line; of lines with the same label the first shows it."""
    pictures: tuple[Picture, ...] = ()
    pictured_after: int = 0
    """How many of the tables come before the pictures, or the charts."""


def render_page(
    page: Page, format: Format, charts: Callable[[], Sequence[Chart]] | None, *, width: int | None, color: bool
) -> str:
    """The page as text, Markdown or HTML; `charts` are drawn for HTML alone, `width` and `color` are for text.

    Raises `ValueError` for another format; JSON is of what the page is about, and not of the page.
    """
    if format == "text":
        return text_page(page, width=width, color=color)
    if format == "md":
        return markdown_page(page)
    if format == "html":
        return html_page(page, charts() if charts is not None else ())
    raise BadArgument(f"format {format!r} is none of {', '.join(FORMATS)}")


def text_page(page: Page, *, width: int | None = None, color: bool = False) -> str:
    """The page for a terminal of `width` characters (the present one's by default)."""
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=max(NARROWEST, width or shutil.get_terminal_size((100, 24)).columns),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    from rich.text import Text

    for warning in page.warnings:
        console.print(Text(plain(warning), style="bold red"))
    console.print(Text(plain(page.answer), style="bold"))
    console.print()
    for line in page.about:
        console.print(Text(plain(line), style="dim"))
    parts: list[tuple[str, object]] = [(grid.title, _table(grid.fitting(console.width))) for grid in page.grids]
    parts[page.pictured_after : page.pictured_after] = [
        (one.title, Text("\n".join(map(plain, one.lines(console.width))), no_wrap=True)) for one in page.pictures
    ]
    for title, part in parts:
        console.print()
        console.print(Text(plain(title), style="bold"))
        console.print(part)
    if page.notes:
        console.print()
        console.print(_notes(page))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n") + "\n"


def markdown_page(page: Page) -> str:
    """GitHub's Markdown; every sign that could mean something is escaped."""
    parts = [f"> **{escaped(warning)}**" for warning in page.warnings]
    parts += [f"**{escaped(page.answer)}**", "  \n".join(escaped(line) for line in page.about)]
    tables = [f"### {escaped(grid.title)}\n\n{_markdown_table(grid.fitting(_MARKDOWN_WIDTH))}" for grid in page.grids]
    tables[page.pictured_after : page.pictured_after] = map(_markdown_picture, page.pictures)
    parts += tables
    parts.append("\n".join(f"- **{escaped(label)}**: {escaped(line)}" for label, line in page.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def html_page(page: Page, charts: Sequence[Chart] = ()) -> str:
    """One file that loads nothing, and runs nothing but the code that draws its `charts`."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    from loadgo.documents.html import drawing_scripts, json_in_html, policy, template

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["plain"] = plain
    scripts = drawing_scripts() if charts else []
    return made.from_string(template("page.html")).render(
        page=page,
        charts=charts,
        style=Markup(template("page.css")),
        policy=policy(scripts),
        specs=Markup(json_in_html({chart.name: chart.spec for chart in charts})),
        scripts=[Markup(script) for script in scripts],
    )


def _table(grid: Grid) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for i, column in enumerate(grid.columns):
        if i == 0:
            table.add_column(column.heading, max_width=grid.name_width, no_wrap=True, overflow="ellipsis")
        else:
            table.add_column(column.heading, justify="right", no_wrap=True)
    rows = grid.rows()
    for i, row in enumerate(rows):
        total = i >= len(rows) - grid.total_rows
        cells = (Text(plain(cell), style="bold" if total else "") for cell in row)
        table.add_row(*cells, end_section=bool(grid.total_rows) and i == len(rows) - grid.total_rows - 1)
    return table


def _notes(page: Page) -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    last = ""
    for label, line in page.notes:
        table.add_row("" if label == last else label, Text(plain(line)))
        last = label
    return table


def _markdown_picture(picture: Picture) -> str:
    lines = "\n".join(map(plain, picture.lines(_MARKDOWN_WIDTH)))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", lines)), default=0))
    return f"### {escaped(picture.title)}\n\n{fence}text\n{lines}\n{fence}"


def _markdown_table(grid: Grid) -> str:
    head = " | ".join(escaped(column.heading) for column in grid.columns)
    rule = " | ".join([":---"] + ["---:"] * (len(grid.columns) - 1))
    return "\n".join(f"| {line} |" for line in [head, rule, *(" | ".join(map(escaped, row)) for row in grid.rows())])

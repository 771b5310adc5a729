"""A table without colours has the lines that Rich draws for it, whatever its cells are."""

from __future__ import annotations

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from loadgo.documents.as_text import rich_table
from loadgo.documents.plain_table import plain_table
from loadgo.documents.table import Column, Table
from rich.console import Console

CELLS = st.text(st.sampled_from("ab …–é漢1,.\x1b\t "), max_size=9)
LINES = st.lists(CELLS, max_size=3).map("\n".join)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A table of up to four columns and rows, with lines below some cells."""
    rows = draw(st.integers(0, 4))
    columns = [
        Column(
            draw(st.text("abc d漢", max_size=12)),
            tuple(draw(st.lists(CELLS, min_size=rows, max_size=rows))),
            kind=draw(st.sampled_from(["figure", "words", "name", "mark"])),
            below=tuple(draw(st.lists(LINES, min_size=rows, max_size=rows))) if draw(st.booleans()) else (),
        )
        for _ in range(draw(st.integers(1, 4)))
    ]
    return Table(
        "", tuple(columns), total_rows=draw(st.integers(0, rows)), name_width=draw(st.sampled_from([None, 3, 24]))
    )


def drawn_by_rich(table: Table, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=None, highlight=False, markup=False, emoji=False)
    console.print(rich_table(table), crop=False)
    assert isinstance(console.file, StringIO)
    return stripped(console.file.getvalue().replace("\ue000", " "))


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


@given(tables(), st.sampled_from([20, 60, 100]))
def test_a_plain_table_has_the_lines_of_rich(table: Table, width: int) -> None:
    text = plain_table(table, width)
    if text is not None:
        assert stripped(text + "\n") == drawn_by_rich(table, width)


@given(tables())
def test_a_table_with_filled_columns_that_fits_is_plain(table: Table) -> None:
    has_text = all(column.heading.strip() for column in table.columns)
    assert not has_text or plain_table(table, 200) is not None


def test_a_table_that_is_wider_than_the_page_is_left_to_rich() -> None:
    table = Table("", (Column("name", ("a",)), Column("words", ("some words",), kind="words")))
    assert plain_table(table, 17) is not None
    assert plain_table(table, 16) is None

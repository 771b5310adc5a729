"""A table that leaves out columns says which they are, and the first such table says where all columns are."""

import re

import pytest
from loadgo.documents.as_markdown import markdown_document
from loadgo.documents.as_text import text_document
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table


def table(title: str, *, wide_chars: int, foot: str = "") -> Table:
    """A table of a name, a figure that stays, and two columns that are left out where there is no room."""
    columns = (
        Column("name", ("a",)),
        Column("p90", ("1 ms",)),
        Column("95 %", ("x" * wide_chars,), spare=1, over="mean"),
        Column("failed", ("y" * wide_chars,), spare=1),
    )
    return Table(title, columns, foot=foot)


def text_of(*tables: Table, width: int = 80) -> str:
    """The document's text with each run of spaces as one, since sentences are wrapped."""
    return " ".join(text_document(Document("a document", "It is so.", tables), width=width).split())


def test_a_table_names_the_columns_that_it_leaves_out_and_the_width_that_has_room_for_them() -> None:
    shown = text_of(table("Cut", wide_chars=45))
    assert (
        "Not shown in 80 characters: mean: 95 %, failed. `COLUMNS=107` or `--format html` shows all columns." in shown
    )
    assert "yyy" not in shown
    assert "Not shown" not in text_of(table("Whole", wide_chars=45), width=107)


def test_the_remedy_stands_once_with_room_for_the_widest_table() -> None:
    shown = text_of(table("First", wide_chars=40, foot="1 row is left out."), table("Second", wide_chars=60))
    assert shown.count("shows all columns") == 1
    assert "1 row is left out. Not shown in 80 characters: mean: 95 %, failed. `COLUMNS=137`" in shown
    assert shown.count("Not shown in 80 characters: mean: 95 %, failed.") == 2


def test_no_text_is_asked_for_that_no_terminal_has_room_for() -> None:
    shown = text_of(table("Cut", wide_chars=100))
    assert "COLUMNS" not in shown
    assert "`--format html` shows all columns." in shown


def test_markdown_names_the_columns_that_it_leaves_out() -> None:
    shown = markdown_document(Document("a document", "It is so.", (table("Cut", wide_chars=60),)))
    assert "Not shown in 120 characters: mean: 95 %, failed. `--format html` shows all columns." in shown


def counted_table() -> Table:
    """A table whose counts are folded where there is no room for them."""
    columns = (
        Column("command", ("edit", "all")),
        Column("p90", ("x" * 40, "y" * 40)),
        Column("95 %", ("x" * 40, "y" * 40), spare=1),
        Column("count", ("51 and 75", ""), spare=2, folded=True),
    )
    return Table("Counted", columns, total_rows=1)


@pytest.mark.parametrize("color", [False, True])
def test_a_column_that_is_folded_stands_below_the_names_of_a_narrow_text(color: bool) -> None:
    shown = re.sub("\x1b\\[[0-9;]*m", "", text_document(Document("", "", (counted_table(),)), width=100, color=color))
    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines[1].split() == ["command,", "count", "p90", "95", "%"]
    assert lines[4] == "  51 and 75"
    assert lines[5].strip("─") == ""
    assert lines[6].startswith("all")
    assert "Not shown" not in shown


def test_a_folded_column_is_in_its_own_place_where_there_is_room_and_is_never_left_out() -> None:
    wide = counted_table().fitting(105)
    assert [column.heading for column in wide.columns] == ["command", "p90", "95 %", "count"]
    narrow = counted_table().fitting(60)
    assert [column.heading for column in narrow.columns] == ["command, count", "p90"]
    assert narrow.left_out == ("95 %",)

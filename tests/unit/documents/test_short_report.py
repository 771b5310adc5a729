"""A document holds a full report and a short one; the sections say in which of them they are."""

from loadgo.documents.as_markdown import markdown_document
from loadgo.documents.as_text import text_document
from loadgo.documents.document import Document, Remarks
from loadgo.documents.section import id_of
from loadgo.documents.table import Column, Table


def table(title: str, **place: object) -> Table:
    """A table of three rows and their sum."""
    columns = (Column("name", ("a", "b", "c", "all")), Column("count", ("1", "2", "3", "6"), below=("x", "y", "z", "")))
    return Table(title, columns, total_rows=1, **place)  # type: ignore[arg-type]


DOCUMENT = Document(
    title="a document",
    answer="It is so.",
    sections=(
        table("Both"),
        table("Whole", shown="full"),
        table("Cut", shown="short").with_rows([2, 0], "1 of 3 rows is left out."),
        Remarks(("All of it.",), shown="full"),
    ),
    warnings=("Look out.",),
    notes=(("Note", "long"),),
    short_notes=(("More", "elsewhere"),),
)


def test_each_report_has_its_sections_and_its_notes() -> None:
    full, short = text_document(DOCUMENT, width=80), text_document(DOCUMENT, width=80, short=True)
    for shared in ("Look out.", "It is so.", "Both"):
        assert shared in full
        assert shared in short
    for long in ("Whole", "All of it.", "Note  long"):
        assert long in full
        assert long not in short
    for brief in ("Cut", "1 of 3 rows is left out.", "More  elsewhere"):
        assert brief in short
        assert brief not in full


def test_markdown_is_the_full_report() -> None:
    assert "Whole" in markdown_document(DOCUMENT)
    assert "Cut" not in markdown_document(DOCUMENT)


def test_a_document_without_short_notes_has_all_notes_in_both() -> None:
    plain = Document("a", "b", (table("Both"),), notes=(("Note", "long"),))
    assert text_document(plain, width=80) == text_document(plain, width=80, short=True)


def test_a_cut_table_keeps_the_order_of_its_rows_and_the_total() -> None:
    cut = table("Cut").with_rows([2, 0], "1 row is left out.")
    assert cut.rows() == [("a", "1"), ("c", "3"), ("all", "6")]
    assert cut.columns[1].below == ("x", "z", "")
    assert cut.foot == "1 row is left out."


def test_an_id_is_the_words_of_a_title() -> None:
    assert id_of("Users' time") == "users-time"
    assert id_of("B's charge: A ÷ B (2)") == "bs-charge-a-b-2"

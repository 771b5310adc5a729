"""The words in place of a figure: each is explained below its table and at its cell, in every format."""

from __future__ import annotations

from html import escape

import pytest
from loadgo.documents.absent_words import ABSENT_MEANINGS, with_absent_explained
from loadgo.documents.as_html import html_document
from loadgo.documents.as_markdown import markdown_document
from loadgo.documents.as_notebook import notebook_html
from loadgo.documents.as_text import text_document
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table

TABLE = Table(
    "Response time",
    (
        Column("command", ("edit", "–", "list")),
        Column("p90", ("few", "1.20 s", "never")),
        Column("p90's 95 %", ("–", "1.00 s–never", "–"), of_previous=True),
        Column("mean", ("1.00 s", "1.10 s", "–"), spare=1),
    ),
    absent={"few": "p90 needs 10 answers"},
)


def feet(table: Table) -> list[str]:
    return with_absent_explained(table).foot.split("\n")


def test_each_word_in_a_table_has_its_meaning_below_it() -> None:
    assert feet(TABLE) == [
        "few: p90 needs 10 answers.",
        f"never: {ABSENT_MEANINGS['never']}.",
        f"–: {ABSENT_MEANINGS['–']}; under 95 %, no interval, since there is too little for one.",
    ]


def test_each_meaning_has_a_line_of_its_own_on_a_page_and_in_a_notebook() -> None:
    document = Document(title="t", answer="a.", about=(), sections=(TABLE,))
    for page in (html_document(document), notebook_html(document, ("Response time",), None)):
        assert "\N{REPLACEMENT CHARACTER}" not in page.partition("<script")[0]
        for text in feet(TABLE)[:2]:
            assert f">{escape(text)}</p>" in page


def test_a_word_that_is_not_shown_is_not_explained() -> None:
    narrow = TABLE.fitting(len("command   p90   p90's 95 %") + 6)
    assert feet(narrow)[-1] == "–: no interval, since there is too little for one."
    assert feet(TABLE.with_rows([1], "One row.")) == ["One row.", f"never: {ABSENT_MEANINGS['never']}."]
    assert feet(Table("", (Column("name", ("few", "–")), Column("note", ("few", "–"), verbatim=True)))) == [""]


def test_each_such_cell_has_its_sentence_on_hover() -> None:
    _names, p90, interval, mean = with_absent_explained(TABLE).columns
    assert p90.hints == ("p90 needs 10 answers", "", ABSENT_MEANINGS["never"])
    assert interval.hints[0].startswith("no interval")
    assert interval.hints[1] == ABSENT_MEANINGS["never"]
    assert mean.hints == ("", "", ABSENT_MEANINGS["–"])


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_every_format_explains_them(form: str) -> None:
    document = Document("title", "answer", (TABLE,))
    made = {
        "text": lambda: text_document(document, width=120),
        "md": lambda: markdown_document(document),
        "html": lambda: html_document(document),
    }[form]()
    assert "few: p90 needs 10 answers." in made
    assert "never: so many lines had no answer" in made
    assert "–: not measured or not known, which is not zero" in made
    if form == "html":
        assert 'title="p90 needs 10 answers">few' in made

"""The published documents as data: no number of a document is missing, and what is printed can be printed again."""

import csv
import re
from collections import Counter
from fractions import Fraction

import pytest
from loadgo.published.catalogue import DOCUMENTS_FOLDER, document, documents, is_document, names
from loadgo.published.claims import NumberRange, Reference, evaluate, parse_claim
from loadgo.published.document import Document
from loadgo.published.document_file import parse_document, parse_tolerance
from loadgo.published.number import read_number
from support.places import TESTS

COUNTED = TESTS / "published"
NUMBER = re.compile(
    r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+|\b(?:two|three|four|eight|ten|fifteen|twenty|half|million|a milli|magnitude)\b",
    re.IGNORECASE | re.ASCII,
)
DOCUMENTS = ["ctss-trivial", "csr-rfc-20", "mpl-16", "multics-1969", "rfc-392"]

SMALL = {
    "name": "small",
    "title": "A small table",
    "by": "nobody",
    "dated": "1970",
    "about": "for a test",
    "tables": [
        {
            "name": "costs",
            "title": "Costs",
            "line": 1,
            "unit": "s",
            "columns": [{"name": "a", "label": "A"}, {"name": "b", "label": "B"}],
            "rows": [{"name": "one", "label": "One", "group": "parts", "line": 2, "cells": ["1.0", "12 D270's"]}],
        }
    ],
    "reproduce": [{"cells": "*", "mark": "given", "why": "a test"}],
}


def counted(name: str) -> list[tuple[int, str]]:
    """Line and number of each number in the document's text, as they were counted apart from the published file."""
    lines = (COUNTED / f"{name}.numbers").read_text().splitlines()
    pairs = (line.split(" ", 1) for line in lines if not line.startswith("#"))
    return [(int(line), number.strip().lower()) for line, number in pairs]


def held(told: Document) -> Counter[str]:
    """The numbers in the texts of the document's figures, but for tables that are files of their own."""
    texts = [figure.text for figure in told.figures.values() if figure.line]
    return Counter(number.lower() for text in texts for number in NUMBER.findall(text))


def test_five_documents_are_published() -> None:
    assert sorted(names()) == sorted(DOCUMENTS)
    assert [name for name in (*names(), "rfc392_tables", "mpl-1", "") if is_document(name)] == names()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_number_of_a_document_is_a_figure_or_said_to_be_none(name: str) -> None:
    printed = document(name)
    others = Counter({number.lower(): count for number, count in printed.not_figures.items()})
    assert held(printed) + others == Counter(number for _, number in counted(name))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_figure_stands_near_the_line_that_it_names(name: str) -> None:
    """A passage names its first line; its figures follow within a dozen lines, a table's cells within three."""
    found = counted(name)
    for figure in document(name).figures.values():
        reach = 12 if "/text/" in figure.id else 10
        near = {number for line, number in found if figure.line <= line <= figure.line + reach}
        if figure.line:
            assert {number.lower() for number in NUMBER.findall(figure.text)} <= near, figure.id


def test_the_transfers_are_all_there() -> None:
    told = document("rfc-392")
    with (DOCUMENTS_FOLDER / "rfc392_tables.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 77
    figures = [figure for figure in told.figures.values() if "/table-" in figure.id]
    assert len(figures) == 77 * 6
    printed = [row[field] for row in rows for field in ("clk", "cpu_s", "bytes", "bits_per_s", "us_per_bit", "load5")]
    assert Counter(figure.text for figure in figures) == Counter(printed)


def test_figures_are_counted() -> None:
    assert {told.name: len(told.figures) for told in documents()} == {
        "ctss-trivial": 30,
        "mpl-16": 141,
        "rfc-392": 482,
        "multics-1969": 67,
        "csr-rfc-20": 92,
    }


def test_a_table_keeps_its_rows_columns_and_labels() -> None:
    table = next(table for table in document("mpl-16").tables if table.name == "commands")
    assert [column.label for column in table.columns][:3] == ["Run Time", "Swap Time", "Total Time"]
    assert table.columns[3].over == "MULTICS 3.0.2 5/13/69"
    row = next(row for row in table.rows if row.name == "2-rename")
    assert [cell.text for cell in row.cells] == ["2.1", ".2", "4.4", "1.6", "2.6", "4.2", "rename"]
    assert row.cells[-1].figure is None


@pytest.mark.parametrize(
    ("text", "unit", "low", "high", "half"),
    [
        (".4", "s", "0.4", "0.4", "0.05"),
        ("$1,995.07", "$", "1995.07", "1995.07", "0.005"),
        ("20-30", "ms", "20", "30", "0.5"),
        ("about 600", "ms", "600", "600", "50"),
        ("600 milliseconds", "ms", "600", "600", "0.5"),
        ("four-fold", "times", "4", "4", "0.5"),
        ("02:56", "min:s", "176", "176", "0.5"),
        ("0630 - 1040", "clock time", "390", "640", "0"),
        ("~~16~~ 16", "users", "16", "16", "0.5"),
        ("⁴⁰", "instructions", "40", "40", "0.5"),
        ("one and one half", "pages", "1.5", "1.5", "0.05"),
    ],
)
def test_a_number_is_read_as_it_is_printed(text: str, unit: str, low: str, high: str, half: str) -> None:
    number = read_number(text, unit)
    assert (number.low, number.high, number.low_half) == (Fraction(low), Fraction(high), Fraction(half))


def test_marks_of_a_number_are_read() -> None:
    assert read_number("≤ 15", "users").bound == "at most"
    assert read_number("no more than 10~", "%").bound == "at most"
    assert read_number("more than an order of magnitude", "times").bound == "at least"
    assert read_number("~~20~~", "users").struck
    assert read_number("5/13/69", "date").low - read_number("5/12/69", "date").low == 1
    with pytest.raises(ValueError, match="no number"):
        read_number("1 2 3", "s")


def test_a_number_in_braces_is_the_figure_of_its_cell() -> None:
    rows = [{**SMALL["tables"][0]["rows"][0], "cells": ["1.0", "{12} D270's"]}]  # type: ignore[index]
    parsed = parse_document({**SMALL, "tables": [{**SMALL["tables"][0], "rows": rows}]}, DOCUMENTS_FOLDER)  # type: ignore[dict-item]
    assert parsed.figures["small/costs/one/b"].number.low == 12
    assert parsed.figures["small/costs/one/b"].text == "12 D270's"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"reproduce": [{"cells": "x", "mark": "given", "why": "a test"}]}, "no rule of"),
        ({"reproduce": [{"cells": "*", "mark": "predicted", "why": "a test"}]}, "tolerance"),
        ({"reproduce": [{"cells": "*", "mark": "guessed", "why": "a test"}]}, "none of"),
        ({"relations": [{"name": "n", "says": "s", "claim": "{costs/one/c} = 1"}]}, "has no such figure"),
        ({"relations": [{"name": "n", "says": "s", "claim": "{costs/one/*} = 1"}]}, r"matches 2 figures: a sum"),
        ({"relations": [{"name": "n", "says": "s", "claim": "{costs/one/a} + 1"}]}, "compares nothing"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_in_words(change: dict[str, object], wrong: str) -> None:
    rows = [{**SMALL["tables"][0]["rows"][0], "cells": ["1.0", "2.0"]}]  # type: ignore[index]
    whole = {**SMALL, "tables": [{**SMALL["tables"][0], "rows": rows}]}  # type: ignore[dict-item]
    assert parse_document(whole, DOCUMENTS_FOLDER).figures
    with pytest.raises(ValueError, match=wrong):
        parse_document({**whole, **change}, DOCUMENTS_FOLDER)


def test_a_tolerance_is_read_from_words() -> None:
    assert parse_tolerance("15 %, 0.5 points").relative == pytest.approx(0.15)
    assert parse_tolerance("15 %, 0.5 points").absolute == pytest.approx(0.5)
    assert parse_tolerance("factor 1.5").factor == pytest.approx(1.5)
    with pytest.raises(ValueError, match="no tolerance"):
        parse_tolerance("near enough")


def test_a_claim_is_evaluated_over_intervals() -> None:
    def source(reference: Reference) -> NumberRange:
        return {"a": NumberRange(Fraction(1), Fraction(2)), "b": NumberRange(Fraction(4), Fraction(5))}[reference.cell]

    claim = parse_claim("{b} / {a} - 1 = 2 * ({a} + 3)")
    assert evaluate(claim.left, source) == NumberRange(Fraction(1), Fraction(4))
    assert evaluate(claim.right, source) == NumberRange(Fraction(8), Fraction(10))


@pytest.mark.parametrize("text", ["{a}", "{a} = ", "{a} = (1", "{a} = 1 2", "{a} = b"])
def test_a_claim_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"claim|ends|lacks"):
        parse_claim(text)

"""The check of printed numbers against each other: the documents' misprints come out of the arithmetic."""

import copy
import tomllib
from functools import cache
from typing import Any

import pytest
from loadgo.published.catalogue import DOCUMENTS_FOLDER, document
from loadgo.published.consistency import find_contradictions
from loadgo.published.document_file import parse_document
from loadgo.published.finding import Finding


@cache
def findings(name: str) -> dict[str, Finding]:
    """The findings in a published document by their relations' names."""
    return {finding.relation.name: finding for finding in find_contradictions(document(name))}


def suspects(name: str, relation: str) -> dict[str, str]:
    """The corrections that the check proposes, by figure."""
    return {found.figure.partition("/")[2]: found.text for found in findings(name)[relation].suspects}


def changed(name: str, figure: tuple[str, str, int], text: str) -> tuple[Finding, ...]:
    """The findings in a copy in which the cell (table, row, number of its column) is printed as `text`."""
    told: dict[str, Any] = copy.deepcopy(tomllib.loads((DOCUMENTS_FOLDER / f"{name}.toml").read_text()))
    table, row, column = figure
    rows = next(one["rows"] for one in told["tables"] if one["name"] == table)
    next(one for one in rows if one["name"] == row)["cells"][column] = text
    return find_contradictions(parse_document(told, DOCUMENTS_FOLDER))


def test_the_rename_of_ctss_is_misprinted() -> None:
    found = findings("mpl-16")["CTSS run and swap time"]
    assert found.degree == "contradiction"
    assert suspects("mpl-16", "CTSS run and swap time") == {
        "commands/2-rename/ctss-total": "2.3",
        "commands/1-subtotals/ctss-total": "30.4",
    }
    assert [one.mended for one in found.suspects] == [3, 2]


def test_last_digits_that_do_not_add_up_are_findings_of_a_lesser_degree() -> None:
    assert findings("mpl-16")["Multics non-page and page time"].degree == "last digit"
    assert suspects("mpl-16", "Multics non-page and page time") == {"commands/2-list/multics-total": "1.6"}
    assert findings("mpl-16")["the script's time is said twice"].degree == "last digit"


def test_two_dates_of_one_measurement_contradict_each_other() -> None:
    found = findings("mpl-16")["the date of the measurement on SYSTEM"]
    assert [one.figures for one in found.failures] == [
        ("mpl-16/text/heading-multics-date", "mpl-16/conditions/date/multics")
    ]
    assert len(findings("multics-1969")["one date for all pages"].failures) == 3


def test_a_formula_upside_down_is_read_so_and_a_column_that_is_cut_is_known() -> None:
    found = findings("rfc-392")["the formula for column 4"]
    assert len(found.failures) == 77
    assert found.reading == "the formula is upside down, and the column clock is cut off, not rounded"
    assert [one.figures[0] for one in found.remaining] == ["rfc-392/table-2/33/bits-per-s"]


def test_a_formula_in_other_units_is_read_so() -> None:
    found = findings("rfc-392")["the formula for column 5"]
    assert "factor of 1,000" in found.reading
    assert not found.remaining
    assert "factor of 8" in findings("rfc-392")["the program's use, said twice"].reading


def test_good_and_virtual_time_of_1973_are_not_what_their_notes_say() -> None:
    assert suspects("csr-rfc-20", "good CPU time")["results/cpu-good/6180"] == "3,919"
    assert suspects("csr-rfc-20", "virtual CPU time")["results/cpu-virtual/645"] == "8,528"


def test_meters_of_more_than_all_time_are_found() -> None:
    found = findings("csr-rfc-20")["the meters are of all time"]
    assert [round(one.left, 2) for one in found.failures] == [100.07]


def test_the_program_of_the_calculator_is_not_the_one_of_the_comment() -> None:
    assert set(findings("ctss-trivial")) == {"the program's size"}


@pytest.mark.parametrize(
    ("name", "figure", "text", "relation"),
    [
        ("csr-rfc-20", ("results", "ttm-idle-zero", 0), "2.14%", "idle time"),
        ("csr-rfc-20", ("results", "cpu-total", 1), "4,360 sec", "the total effect"),
        ("mpl-16", ("commands", "1-print", 3), ".9", "Multics non-page and page time"),
        ("ctss-trivial", ("summary", "swap", 0), "154 milliseconds", "an interaction's cost in time"),
    ],
)
def test_a_number_that_is_changed_in_a_copy_makes_a_finding(
    name: str, figure: tuple[str, str, int], text: str, relation: str
) -> None:
    assert relation not in findings(name) or name == "mpl-16"
    before = len(findings(name)[relation].failures) if relation in findings(name) else 0
    after = {finding.relation.name: len(finding.failures) for finding in changed(name, figure, text)}
    assert after[relation] > before


def test_a_misprint_that_is_corrected_in_a_copy_is_no_finding_any_more() -> None:
    after = {finding.relation.name: finding for finding in changed("mpl-16", ("commands", "2-rename", 2), "2.3")}
    assert [one.degree for one in after["CTSS run and swap time"].failures] == ["last digit"]
    assert [one.degree for one in after["sub-totals of the second pass"].failures] == ["last digit"]


def test_what_holds_is_no_finding() -> None:
    found = findings("csr-rfc-20")
    for name in ("idle time", "the total effect", "the price by shift", "total CPU time", "the bulk store's effect"):
        assert name not in found

"""The named causes of figures outside their tolerance, which count while their evidence holds."""

from typing import Any

import pytest
from loadgo.published.catalogue import DOCUMENTS_FOLDER, documents
from loadgo.published.document import Document
from loadgo.published.document_file import parse_document
from loadgo.published.failures import Numbers, is_sure
from loadgo.reproduction import words
from loadgo.reproduction.models.values import ReproducedValue
from loadgo.reproduction.reproduce import ReproducedDocument, Reproduction, judge_document
from support.printed_values import as_printed

WAITED = {
    "kind": "data",
    "rows": ["transfers/one"],
    "columns": ["clock"],
    "says": "it waited for something else",
    "evidence": "{ROW/clock} >= 5 * {ROW/cpu}",
}


def transfer(clock: str = "60", causes: list[dict[str, Any]] | None = None) -> Document:
    """A document with one transfer: `clock` seconds of real time, 10 s of processor time."""
    columns = [{"name": "clock", "label": "clock"}, {"name": "cpu", "label": "runtime"}]
    rows = [{"name": "one", "label": "One", "line": 2, "cells": [clock, "10"]}]
    table = {"name": "transfers", "title": "Transfers", "line": 1, "unit": "s", "columns": columns, "rows": rows}
    content = {
        "name": "made", "title": "Made", "by": "nobody", "dated": "1970", "about": "for a test", "tables": [table],
        "reproduce": [{"cells": "*", "mark": "predicted", "within": "10 %", "why": "a test"}],
        "causes": [WAITED] if causes is None else causes,
    }  # fmt: skip
    return parse_document(content, DOCUMENTS_FOLDER)


def judged(printed: Document, clock: ReproducedValue | float = 30.0, cpu: float = 10.0) -> ReproducedDocument:
    """The document with these figures of ours."""
    value = clock if isinstance(clock, ReproducedValue) else ReproducedValue(clock, "predicted", "a run")
    values = {"clock": value, "cpu": ReproducedValue(cpu, "predicted", "a run")}
    return judge_document(printed, {f"made/transfers/one/{name}": value for name, value in values.items()})


def test_a_figure_outside_for_a_cause_is_outside_and_not_bad() -> None:
    reproduced = judged(transfer())
    clock = reproduced.cells["made/transfers/one/clock"]
    assert (clock.verdict, clock.bad, reproduced.unexplained) == ("outside", False, 0)
    assert clock.cause is not None
    assert not Reproduction((reproduced,), 1, 0.0).bad
    assert words.document_answer(reproduced).startswith(
        "1 of 2 predictions hold (tolerance: 10 %); 1 fails for a named cause (1 data). 2 figures: "
    )
    assert words.explained(reproduced) == [
        ("data: it waited for something else", "transfers/one/clock: printed 60, ours 30.0, tolerance 10 %")
    ]
    assert words.troubles(reproduced) == []


def test_a_cause_whose_evidence_does_not_hold_for_every_rounding_does_not_count() -> None:
    assert judged(transfer("53")).unexplained == 0, "52.5 is 5 times 10.5"
    reproduced = judged(transfer("52"))
    assert reproduced.unexplained == 1, "51.5 is not 5 times 10.5"
    assert words.document_answer(reproduced).startswith(
        "1 of 2 predictions hold (tolerance: 10 %); one (clock) fails. 2 figures: "
    )
    assert Reproduction((reproduced,), 1, 0.0).bad


def test_a_cause_is_for_its_own_cells_and_for_figures_that_are_outside() -> None:
    reproduced = judged(transfer(), clock=60.0, cpu=20.0)
    assert [cell.cause for cell in reproduced.cells.values()] == [None, None]
    assert reproduced.unexplained == 1, "the processor time has no cause"


def test_evidence_may_name_our_figure() -> None:
    cause = {**WAITED, "evidence": "{ROW/clock} - {ROW/clock.ours} <= {ROW/cpu} - {ROW/cpu.ours}"}
    printed = transfer("60", [cause])
    assert judged(printed, clock=53.0, cpu=1.0).cells["made/transfers/one/clock"].cause is not None
    assert judged(printed, clock=53.0, cpu=9.5).cells["made/transfers/one/clock"].cause is None
    missing = judge_document(printed, {"made/transfers/one/clock": ReproducedValue(53.0, "predicted", "a run")})
    assert missing.cells["made/transfers/one/clock"].cause is None, "our other figure is missing"


def test_a_printed_run_that_single_runs_reach_is_judged_neither_way() -> None:
    value = ReproducedValue(30.0, "predicted", "ten runs", interval=(20.0, 40.0), one_run=(0.0, 61.0))
    reproduced = judged(transfer(causes=[]), value)
    assert reproduced.cells["made/transfers/one/clock"].verdict == "one run"
    assert reproduced.unexplained == 0
    assert words.document_answer(reproduced).startswith(
        "1 of 2 predictions hold (tolerance: 10 %); one printed run cannot tell for 1. 2 figures: "
    )
    assert words.untold(reproduced) == [
        "transfers/one/clock: printed 60, ours 30.0, tolerance 10 %; 95 of 100 single runs give 0 to 61.0"
    ]
    narrow = ReproducedValue(30.0, "predicted", "ten runs", interval=(29.0, 31.0), one_run=(25.0, 35.0))
    assert judged(transfer(causes=[]), narrow).cells["made/transfers/one/clock"].verdict == "outside"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "bad luck"}, "kind 'bad luck' of a cause is none of data, missing mechanism"),
        ({"columns": ["cost"]}, "a cause names transfers/one/cost, and the document has no such figure"),
        ({"evidence": "{ROW/clock} = {ROW/cpu}"}, "must be an inequality"),
        ({"evidence": "{ROW/cost} >= 1"}, "a claim names transfers/one/cost"),
        ({"evidence": "{ROW/clock}"}, "compares nothing"),
    ],
)
def test_a_cause_that_makes_no_sense_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transfer(causes=[{**WAITED, **change}])


@pytest.mark.parametrize("told", documents(), ids=lambda told: told.name)
def test_the_evidence_of_a_published_cause_is_in_the_document(told: Document) -> None:
    ours = {key: value.value for key, value in as_printed(told, 0.7).items()}
    for cause in told.causes:
        assert is_sure(cause.evidence, Numbers(told.figures), ours), cause.evidence.text
        assert set(cause.cells) <= set(told.figures)

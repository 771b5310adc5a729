"""Documents reproduced by real runs of the bundled machines."""

from collections.abc import Iterator
from statistics import fmean, median

import pytest
from loadgo.published.catalogue import document
from loadgo.reproduction.models import rfc_392
from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.reproduce import ReproducedDocument, reproduce

CALCULATION = """
name   = "one calculation"
login  = "calculator"
passes = 3
think  = "exponential(8s)"
[[lines]]
as   = "compute"
type = "1 + 1"
"""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="module")
def calculator() -> ReproducedDocument:
    """The desk calculator on CTSS, reproduced."""
    return reproduce("ctss-trivial").documents[0]


def test_the_swap_time_of_the_calculator_comes_from_its_words_and_the_drum(calculator: ReproducedDocument) -> None:
    cell = calculator.cells["ctss-trivial/summary/swap/value"]
    assert cell.ours is not None
    assert (cell.ours.mark, cell.verdict) == ("predicted", "within")
    assert cell.ours.value != 145.0


def test_no_figure_is_missing(calculator: ReproducedDocument) -> None:
    assert not calculator.count("missing", "not predicted")


def test_the_same_figures_come_out_again(calculator: ReproducedDocument) -> None:
    again = reproduce("ctss-trivial").documents[0]
    assert {key: cell.ours for key, cell in again.cells.items()} == {
        key: cell.ours for key, cell in calculator.cells.items()
    }


def test_an_experiment_is_run_once_however_often_it_is_asked_for(lab: Lab) -> None:
    once, again, other = lab.runs(
        [Experiment(CALCULATION, "ctss", 2), Experiment(CALCULATION, "ctss", 2), Experiment(CALCULATION, "ctss", 3)]
    )
    assert once is again
    assert lab.count == 2
    assert (once.users, other.users) == (2, 3)
    assert lab.run(CALCULATION, "ctss", 2) is once


def test_a_run_comes_to_totals_by_line_and_command(lab: Lab) -> None:
    totals = lab.run(CALCULATION, "ctss", 2)
    assert totals.overall.count == 6
    assert totals.commands["compute"].count == 6
    assert sorted(totals.lines) == [(1, 1), (2, 1), (3, 1)]
    assert sum(totals.time_shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert totals.overall.paging_wait_s > 0


def test_what_is_set_changes_the_machine(lab: Lab) -> None:
    plain, fast = lab.runs(
        [
            Experiment(CALCULATION, "ctss", 1),
            Experiment(CALCULATION, "ctss", 1, set=("processors.speed=2",)),
        ]
    )
    assert fast.overall.cpu_s == pytest.approx(plain.overall.cpu_s / 2, rel=1e-6)


@pytest.mark.long
def test_the_wait_for_the_other_host_is_fitted_to_one_table_and_foretells_the_other(lab: Lab) -> None:
    """Table 1's receives set the mean wait; table 2's, unseen, then lie around ours and where single runs do."""
    values = rfc_392.reproduced_values(lab)
    printed = document("rfc-392").figures
    table_1, table_2 = [], []
    for transfer in rfc_392.printed_transfers():
        row = f"rfc-392/{transfer.table}/{transfer.row:02}"
        if transfer.command == "receive":
            clock_s = 8 * transfer.bytes / printed[f"{row}/bits-per-s"].number.middle
            (table_1 if transfer.table == "table-1" else table_2).append((transfer, clock_s, values[f"{row}/clock"]))
    waits_s = [(clock_s - ours.value) / transfer.bytes for transfer, clock_s, ours in table_1]
    assert abs(fmean(waits_s)) < 0.3e-3, "seconds a byte: table 1 is met in the mean"
    assert {ours.mark for _, _, ours in table_1} == {"fitted"}
    assert {ours.mark for _, _, ours in table_2} == {"predicted"}
    assert 1 / 1.5 < median(clock_s / ours.value for _, clock_s, ours in table_2) < 1.5
    ranges = [(clock_s, ours.one_run) for _, clock_s, ours in table_2 if ours.one_run]
    assert len(ranges) == len(table_2)
    assert sum(low <= clock_s <= high for clock_s, (low, high) in ranges) >= 15

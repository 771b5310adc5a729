"""The savings of other ways to move bytes, over rounds of the same transfers, and their table."""

import re

import pytest
from loadgo.transfers.prices import prices
from loadgo.transfers.remedies import savings
from loadgo.transfers.rounds import in_rounds, median_rows
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Transferred
from support.transfer_rows import rounds, row_of


def test_a_saving_is_how_many_times_less_with_an_interval() -> None:
    found = {one.method: one for one in savings(rounds(5))}
    assert found["blocks"].over["bytes"].times == pytest.approx(400)
    assert found["blocks"].over["records"].times == pytest.approx(20)
    assert found["records"].over["bytes"].times == pytest.approx(20)
    assert set(found["bytes"].over) == {"records"}
    interval = found["blocks"].over["bytes"].interval
    assert interval is not None
    assert interval.low <= 400 <= interval.high


def test_what_drifts_from_round_to_round_is_in_both_and_in_no_interval() -> None:
    interval = {one.method: one for one in savings(rounds(6, spread=0.5))}["blocks"].over["bytes"].interval
    assert interval is not None
    assert interval.high / interval.low < 1.001


def test_one_round_has_no_interval_and_the_page_says_how_to_get_one() -> None:
    transferred = Transferred(tuple(rounds(1)), (), False)
    assert savings(transferred.rows)[-1].over["bytes"].interval is None
    page = transferred.report(prices=prices(), width=120)
    assert "What each remedy saves" in page
    assert "--times 5" in page


def test_a_round_that_broke_off_is_left_out() -> None:
    rows = [*rounds(3), row_of(method="blocks", thread_s=9.0, broke_off="it died")]
    saved = {one.method: one for one in savings(rows)}["blocks"]
    assert saved.rounds == 3
    assert saved.over["bytes"].times == pytest.approx(400)


def test_without_the_seeds_own_ways_nothing_is_saved() -> None:
    assert savings([row_of(method="blocks"), row_of(method="splice")]) == []
    assert savings([row_of(method="bytes")]) == []


def test_the_row_in_the_middle_is_shown_and_those_that_broke_off() -> None:
    rows = [row_of(thread_s=cpu_s) for cpu_s in (3.0, 1.0, 2.0)] + [row_of(broke_off="stalled")]
    assert [row.cpu_s for row in median_rows(rows)] == [2.0, 1.0]
    page = Transferred(tuple(rows), (), False).report(prices=prices(), width=100)
    assert "4 rounds" in page
    assert "broke off: stalled" in page


def test_rounds_end_with_an_interrupt() -> None:
    made = [Transferred((row_of(),), ("told",), False), Transferred((row_of(),), ("told",), True)]
    told = in_rounds(9, lambda: made.pop(0))
    assert (len(told.rows), told.notes, told.stopped) == (2, ("told",), True)
    with pytest.raises(ValueError, match="1 or more"):
        in_rounds(0, lambda: made[0])


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_fits_a_terminal(width: int) -> None:
    page = Transferred(tuple(rounds(5)), (), False).report(prices=prices("cloud"), width=width)
    assert "400" in page
    assert "What a gigabyte costs in processor time" in page
    assert max(map(len, page.splitlines())) <= width


def page_of(rows: list[Row]) -> str:
    page = Transferred(tuple(rows), (), False).report(prices=prices("cloud"), width=200)
    return " ".join(page.split())


def test_a_single_round_names_no_cheapest_method() -> None:
    page = page_of(rounds(1))
    assert ", the cheapest," not in page
    assert re.match(
        r"Sending a gigabyte costs \$\S+ \(blocks\) to \$\S+ \(bytes\): processor time at \$[\d.]+ a CPU hour\. ", page
    )
    assert "One round does not tell which method is cheapest for sending: `--times 5` may." in page
    assert "Trust in the data: " in page
    assert "They cannot tell which method is cheapest for sending." in page
    assert "Sending a gigabyte costs $" in page_of([row_of()]), "one method needs no round more"
    assert "cheapest" not in page_of([row_of()])


def test_the_cheapest_method_is_named_if_its_rounds_show_it() -> None:
    assert re.match(
        r"Sending a gigabyte costs \$\S+ with blocks, the cheapest, and \$\S+ with bytes: ", page_of(rounds(3))
    )
    near = [row_of(method="splice", thread_s=0.01 * factor) for factor in (0.9, 1.4, 0.8)]
    assert "Which method is cheapest for sending cannot be told from 3 rounds." in page_of([*rounds(3), *near])
    assert "Trust in the data: " not in page_of(rounds(3))


def test_prices_of_next_to_nothing_are_those_of_a_terabyte() -> None:
    cheap = [row_of(thread_s=thread_s) for thread_s in (1e-4, 2e-4, 3e-4)]
    page = page_of(cheap)
    assert "Sending a terabyte costs $" in page
    assert "The network itself costs $90 a terabyte." in page
    assert "a terabit" in page
    assert "$0.0000" not in page


def test_the_chart_stands_above_the_tables() -> None:
    transferred = Transferred(tuple(rounds(5)), (), False)
    text = transferred.report(prices=prices())
    assert text.index("What a gigabyte costs") < text.index("What the processor time costs")
    assert text.index("What the processor time costs") < text.index("Time and bytes, in the columns of RFC 392")
    page = transferred.report("html", prices=prices())
    assert page.index('id="chart-transfer-methods"') < page.index('<h2 id="time-and-bytes-in-the-columns-of-rfc-392"')

"""Transfers of both directions together: pooled costs, and medians of real over processor time by load."""

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.analysis_document import apart_document
from loadgo.transfers.csv_table import Observed, Table, read_table
from loadgo.transfers.parts import pooled_parts_of
from loadgo.transfers.stretch import FEWEST_BAND_TRANSFERS, median_interval, stretch_by_load
from support.transfer_tables import COLUMNS, PRICES, SEED


def stretched(loads: Sequence[float], stretches: Sequence[float], method: str = "") -> list[Observed]:
    """Transfers, sent and received in turn, whose real time is so many times their processor time."""
    return [
        Observed(f"row {at}", "sr"[at % 2], method, 1000, 2.0, real_s=2.0 * stretch, load=load)
        for at, (load, stretch) in enumerate(zip(loads, stretches, strict=True))
    ]


def test_a_band_has_its_median_whatever_its_longest_transfer_took() -> None:
    stretches = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    (band,) = stretch_by_load(stretched([1.5] * 9, stretches))
    (longer,) = stretch_by_load(stretched([1.5] * 9, [*stretches[:-1], 1e6]))
    assert (band.median, band.middle_half.low, band.middle_half.high) == (5, 3, 7)
    assert (band.interval.low, band.interval.high) == (2, 8)
    assert longer == band


def test_bands_part_all_transfers_at_whole_loads() -> None:
    random = np.random.default_rng(392)
    loads = np.sort(random.uniform(0, 10, 200)).tolist()
    bands = stretch_by_load(stretched(loads, [1 + load for load in loads]))
    assert sum(band.transfers for band in bands) == 200
    assert min(band.transfers for band in bands) >= FEWEST_BAND_TRANSFERS
    for lower, upper in pairwise(bands):
        assert int(lower.highest_load) < int(upper.lowest_load)
        assert lower.median < upper.median


def test_the_last_loads_join_the_band_before_when_they_are_few() -> None:
    (band,) = stretch_by_load(stretched([0.5] * 9 + [7.5] * 3, [1.0] * 9 + [4.0] * 3))
    assert (band.lowest_load, band.highest_load, band.transfers) == (0.5, 7.5, 12)


def test_methods_have_bands_of_their_own_and_few_transfers_none() -> None:
    transfers = stretched([1.0] * 9, [2.0] * 9, "bytes") + stretched([1.0] * 8, [5.0] * 8, "blocks")
    assert [(band.method, band.median) for band in stretch_by_load(transfers)] == [("bytes", 2.0)]


@pytest.mark.parametrize("count", [6, 9, 14, 25, 77])
def test_the_interval_of_a_median_holds_it_in_at_least_95_of_100_samples(count: int) -> None:
    """Long-tailed samples with a known median, 1. By its law at most 5 % miss: here within 3 sigma."""
    samples = np.sort(np.random.default_rng(1972).lognormal(0.0, 1.5, (2000, count)), axis=1)
    intervals = [median_interval(sample) for sample in samples.tolist()]
    missed = sum(not interval.holds(1.0) for interval in intervals) / len(intervals)
    assert missed <= 0.05 + 3 * (0.05 * 0.95 / len(intervals)) ** 0.5


def test_too_few_values_have_no_interval_of_a_median() -> None:
    with pytest.raises(ValueError, match="give at least 6"):
        median_interval([1.0, 2.0, 3.0, 4.0, 5.0])


def test_pooled_parts_are_those_of_both_ends_where_both_cost_the_same() -> None:
    transfers = [
        Observed("", "sr"[at % 2], "", size, 0.1 + 6e-4 * size) for at, size in enumerate(range(100, 50_000, 700))
    ]
    (pooled,) = pooled_parts_of(transfers)
    assert pooled.kind == "sr"
    assert pooled.transfers == len(transfers)
    assert {part.of: part.each_s for part in pooled.parts} == pytest.approx({"transfer": 0.1, "byte": 6e-4})


@pytest.mark.parametrize("directions", ["s", "r", "b"])
def test_transfers_of_one_direction_have_no_pooled_parts(directions: str) -> None:
    assert pooled_parts_of([Observed("", directions, "", 1000 * at, 1.0 * at) for at in range(1, 9)]) == []


def test_the_memos_table_has_one_price_for_both_directions_and_its_stretch_by_load() -> None:
    """All 77 transfers have 80 µs a bit, inside the memo's own 75 to 85; the most loaded band is the most stretched."""
    analysis = taken_apart(read_table(SEED, COLUMNS), PRICES)
    page = apart_document(analysis)
    assert "The median transfer took" in page.answer
    text = analysis.report(width=140)
    pooled = next(line for line in text.splitlines() if line.startswith("sent and received "))
    assert pooled.split()[3:7] == ["77", "4,420,134", "2,831", "80.0"]
    assert sum(band.transfers for band in analysis.stretches) == 76, "the one that the clock, cut to seconds, has at 0"
    assert max(analysis.stretches, key=lambda band: band.median) is analysis.stretches[-1]
    assert "a bit received costs 1.07 times a bit sent" in " ".join(text.split())
    written = json.loads(analysis.report("json"))
    assert [kind["kind"] for kind in written["pooled"]] == ["sr"]
    assert written["stretches"][0]["median"] == analysis.stretches[0].median


def test_ends_that_cost_the_same_have_no_word_of_caution() -> None:
    random = np.random.default_rng(392)
    costs = {1000 * size: size * float(np.exp(0.05 * random.normal())) for size in range(1, 10)}
    transfers = tuple(Observed("", way, "", size, cpu_s) for size, cpu_s in costs.items() for way in "sr")
    text = taken_apart(Table("theirs.csv", transfers, (), ()), PRICES).report(width=140)
    assert "sent and received" in text
    assert "Pooled" not in text

"""The speed of the processors from pieces of the reference work: made-up series whose change of speed is known."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.measures.processor_speed import (
    CHANGE_WARNING_SHARE,
    FEWEST_PIECES,
    ProcessorSpeed,
    speed_clause,
    speed_in,
)
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns

PIECE_NS, LENGTH_NS = 1e6, 60_000_000_000
SERIES, SCATTER = 400, 0.08


def pieces(times: np.ndarray, processors: int = 2) -> pl.DataFrame:
    """Pieces with these times over a minute, on processors in turn."""
    ends = (np.arange(len(times)) + 0.5) * LENGTH_NS / len(times)
    rows = {
        "at_ns": ends.astype(np.int64),
        "span_ns": np.full(len(times), 2_000_000),
        "processor": np.arange(len(times)) % processors,
        "cpu_ns": np.round(times).astype(np.int64),
    }
    return with_columns(pl.DataFrame(rows), COLUMNS_BY_TABLE["processor_speed"])


def speed_of(times: np.ndarray, processors: int = 2) -> ProcessorSpeed:
    """The speed by pieces with these times."""
    speed = speed_in(pieces(times, processors), 0, LENGTH_NS)
    assert speed is not None
    return speed


def scattered(seed: int, later: float = 1.0, count: int = 120) -> np.ndarray:
    """Times whose second half is `later` times as long, each with a scatter that is skewed as that of interrupts is."""
    draws = np.random.default_rng(seed)
    factors = 1 + SCATTER * (draws.exponential(size=count) - 1)
    return PIECE_NS * factors * np.where(np.arange(count) < count / 2, 1.0, later)


def test_a_known_change_of_speed_is_found() -> None:
    speed = speed_of(scattered(1, later=1.2))
    assert speed.later_low < 1.2 < speed.later_high
    assert speed.has_changed
    assert speed.is_large
    assert speed.mean_ns == pytest.approx(1.1 * PIECE_NS, rel=0.03)
    assert speed.pieces == 120


@pytest.mark.parametrize("later", [1.0, 0.9, 1.1])
@pytest.mark.parametrize("count", [24, 120])
def test_intervals_of_changes_hold_the_truth_as_often_as_they_say(later: float, count: int) -> None:
    held = [
        speed.later_low <= later <= speed.later_high
        for speed in (speed_of(scattered(seed, later, count)) for seed in range(SERIES))
    ]
    assert 0.92 <= np.mean(held) <= 0.985


def test_a_slow_change_within_the_halves_is_no_error_of_their_means() -> None:
    drifting = scattered(3) * np.linspace(1.0, 1.3, 120)
    level, moving = speed_of(scattered(3)), speed_of(drifting)
    widths = [np.log(each.later_high / each.later_low) for each in (level, moving)]
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
    assert moving.later_low < np.linspace(1.0, 1.3, 120)[60:].mean() / np.linspace(1.0, 1.3, 120)[:60].mean()


def test_processors_of_other_speeds_are_no_change_and_no_scatter() -> None:
    unequal = scattered(5) * np.where(np.arange(120) % 2, 1.0, 3.0)
    equal, apart = speed_of(scattered(5)), speed_of(unequal)
    assert apart.later_ratio == pytest.approx(equal.later_ratio, rel=0.001)
    assert (apart.slow, apart.fast) == pytest.approx((equal.slow, equal.fast), rel=0.001)
    assert apart.mean_ns == pytest.approx(2 * PIECE_NS, rel=0.03)


def test_each_processor_counts_alike_however_many_pieces_it_had() -> None:
    frame = pieces(np.where(np.arange(120) % 2, 1.0, 3.0) * PIECE_NS)
    fewer = frame.filter((pl.col("processor") == 0) | (pl.int_range(pl.len()) % 3 == 0))
    speed = speed_in(fewer, 0, LENGTH_NS)
    assert speed is not None
    assert speed.mean_ns == pytest.approx(2 * PIECE_NS)


def test_pieces_that_an_interrupt_cut_into_do_not_count() -> None:
    times = scattered(1)
    cut = times.copy()
    cut[[20, 33]] *= 5
    clean, disturbed = speed_of(times), speed_of(cut)
    assert disturbed.later_ratio == pytest.approx(clean.later_ratio, rel=0.01)
    assert disturbed.later_high / disturbed.later_low < 1.1 * clean.later_high / clean.later_low


def test_many_processors_with_a_piece_in_each_half_are_enough() -> None:
    speed = speed_of(scattered(7, later=1.2), processors=60)
    assert speed.later_low < 1.2 < speed.later_high


def test_too_few_pieces_say_nothing() -> None:
    assert speed_in(pieces(scattered(1, count=FEWEST_PIECES - 2)), 0, LENGTH_NS) is None
    assert speed_in(pieces(scattered(1)).clear(), 0, LENGTH_NS) is None
    # Each processor in one half only: no processor can be compared with itself.
    assert speed_in(pieces(scattered(1), processors=120), 0, LENGTH_NS) is None


def test_equal_pieces_have_no_doubt() -> None:
    speed = speed_of(np.full(40, PIECE_NS))
    assert (speed.later_low, speed.later_high) == (1.0, 1.0)
    assert not speed.has_changed
    assert speed.error_ns == 0


def test_a_slower_second_half_is_called_slower_and_its_speed_is_told() -> None:
    slower = replace(speed_of(scattered(1)), later_ratio=1.25, later_low=1.2, later_high=1.3)
    assert speed_clause(slower) == "in its second half they were 20.0 % slower (95 %: 16.7 % to 23.1 %)"
    faster = replace(slower, later_ratio=0.8, later_low=0.75, later_high=0.9)
    assert speed_clause(faster) == "in its second half they were 25.0 % faster (95 %: 11.1 % to 33.3 %)"
    assert faster.is_large
    same = replace(slower, later_ratio=1.01, later_low=0.98, later_high=1.04)
    assert speed_clause(same) == "both halves were equally fast, within 4.0 % (95 %)"
    assert not same.is_large
    small = replace(slower, later_ratio=1 + 0.9 * CHANGE_WARNING_SHARE, later_low=1.01, later_high=1.1)
    assert small.has_changed
    assert not small.is_large

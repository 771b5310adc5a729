"""Rows of several drivers as the tables of one run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from loadgo.records.driver_tables import ClockShift, DriverRows, MergedRows, merged_rows
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns

SECOND = 10**9


def table(name: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    return with_columns(pl.DataFrame(rows) if rows else None, COLUMNS_BY_TABLE[name])


def line(user: int, sent_s: float, *, response_ns: int = 20_000_001, phase: str = "steady") -> dict[str, Any]:
    sent = int(sent_s * SECOND)
    numbers = {"pass": 1, "line": 1, "typing_ns": 3, "think_ns": 5 * SECOND + 7, "bytes_out": 0}
    instants = {"planned_ns": sent - 11, "sent_ns": sent, "first_output_ns": sent + 5, "ready_ns": sent + response_ns}
    return {"user": user, "command": "ls", "outcome": "ok", "phase": phase, **numbers, **instants}


def session(user: int, ready_s: float, ended_s: float) -> dict[str, Any]:
    instants = {"planned_ns": 0, "started_ns": 0, "ready_ns": int(ready_s * SECOND), "ended_ns": int(ended_s * SECOND)}
    return {"user": user, "outcome": "done", **instants}


def driver(
    name: str,
    users: tuple[int, int],
    lines: Sequence[dict[str, Any]],
    *,
    shift: ClockShift | None = None,
    phases: Sequence[tuple[str, float]] = (("warm-up", 1), ("steady", 2), ("ramp-down", 10)),
    bound_ns: int = 0,
    is_lost: bool = False,
    sessions: Sequence[dict[str, Any]] = (),
) -> DriverRows:
    frames = {
        "interactions": table("interactions", lines),
        "sessions": table("sessions", sessions),
        "lost": table("lost", []),
        "screens": table("screens", [{"at_ns": one["ready_ns"], "user": one["user"], "sent_ns": one["sent_ns"],
                                      "until": "mark", "screen": ""} for one in lines[:1]]),
        "phases": table("phases", [{"at_ns": int(at * SECOND), "phase": phase} for phase, at in phases]),
    }  # fmt: skip
    return DriverRows(name, *users, bound_ns, shift or ClockShift.constant(0), frames, is_lost=is_lost)


def phases_of(merged: MergedRows) -> dict[str, float]:
    rows = merged.frames["phases"].select(pl.col("phase").cast(pl.String), pl.col("at_ns") / SECOND).rows()
    return dict(rows)


def test_rows_are_placed_on_the_run_s_clock_and_no_difference_within_a_row_changes() -> None:
    drifting = ClockShift(np.array([0, 10 * SECOND]), np.array([-5 * SECOND, -5 * SECOND + 123_457]))
    lines = [line(3, at, response_ns=7 * SECOND + 13) for at in (6, 7.3, 9.9)]
    merged = merged_rows([driver("ash", (1, 2), [line(1, 4)]), driver("birch", (3, 4), lines, shift=drifting)])
    frame = merged.frames["interactions"]
    assert frame["driver"].cast(pl.String).to_list() == ["ash", *["birch"] * 3]
    birch = frame.filter(pl.col("user") == 3)
    assert birch["sent_ns"][0] == SECOND + int(0.6 * 123_457), "the drift is followed"
    for earlier, later, difference in (
        ("planned_ns", "sent_ns", 11),
        ("sent_ns", "first_output_ns", 5),
        ("sent_ns", "ready_ns", 7 * SECOND + 13),
    ):
        assert (birch[later] - birch[earlier]).to_list() == [difference] * 3
    assert birch["think_ns"].to_list() == [5 * SECOND + 7] * 3
    screen = merged.frames["screens"].filter(pl.col("user") == 3)
    assert screen["sent_ns"].to_list() == birch["sent_ns"].to_list()[:1], "with the user it is the key of the row"


def test_a_shift_of_years_is_exact_to_the_nanosecond() -> None:
    years = 3 * 10**17 + 1
    shift = ClockShift(np.array([0, 4 * SECOND]), np.array([years, years + 8]))
    assert shift.of(np.array([0, SECOND, 3 * SECOND, 9 * SECOND])).tolist() == [years, years + 2, years + 6, years + 8]


def test_the_steady_phase_is_the_overlap_of_all_and_other_rows_have_another_phase() -> None:
    first = driver("ash", (1, 1), [line(1, at) for at in (2.5, 5, 9.5)])
    second = driver(
        "birch",
        (2, 2),
        [line(2, 3, phase="warm-up"), line(2, 5), line(2, 8.5), line(2, 11, phase="ramp-down")],
        phases=(("warm-up", 1), ("steady", 4), ("ramp-down", 9)),
    )
    merged = merged_rows([first, second])
    assert phases_of(merged) == {"warm-up": 1, "steady": 4, "ramp-down": 9}
    frame = merged.frames["interactions"].sort("sent_ns").select("user", "sent_ns", pl.col("phase").cast(pl.String))
    assert [(user, at / SECOND, phase) for user, at, phase in frame.rows()] == [
        (1, 2.5, "warm-up"),
        (2, 3, "warm-up"),
        (1, 5, "steady"),
        (2, 5, "steady"),
        (2, 8.5, "steady"),
        (1, 9.5, "ramp-down"),
        (2, 11, "ramp-down"),
    ]
    assert merged.phases_by_driver["birch"] == {"warm-up": SECOND, "steady": 4 * SECOND, "ramp-down": 9 * SECOND}


def test_the_bounds_of_the_clocks_make_the_steady_phase_shorter() -> None:
    known_badly = driver("birch", (2, 2), [line(2, 2.4)], bound_ns=SECOND // 2)
    merged = merged_rows([driver("ash", (1, 1), [line(1, 2.4)]), known_badly])
    assert phases_of(merged) == {"warm-up": 1, "steady": 2.5, "ramp-down": 9.5}
    assert set(merged.frames["interactions"]["phase"].cast(pl.String)) == {"warm-up"}


@pytest.mark.parametrize(
    "phases", [(("warm-up", 1), ("ramp-down", 3)), (("warm-up", 1), ("steady", 11), ("ramp-down", 12))]
)
def test_without_an_overlap_no_row_is_steady(phases: Sequence[tuple[str, float]]) -> None:
    merged = merged_rows([driver("ash", (1, 1), [line(1, 5)]), driver("birch", (2, 2), [], phases=phases)])
    assert "steady" not in phases_of(merged)
    assert "steady" not in merged.frames["interactions"]["phase"].cast(pl.String).to_list()


def test_a_driver_that_was_lost_before_its_steady_phase_does_not_hinder_that_of_the_others() -> None:
    lost = driver("birch", (2, 2), [], phases=(("warm-up", 1),), is_lost=True)
    merged = merged_rows([driver("ash", (1, 1), [line(1, 5)]), lost])
    assert phases_of(merged) == {"warm-up": 1, "steady": 2, "ramp-down": 10}


def test_rows_of_users_that_a_driver_does_not_have_are_left_out_and_counted() -> None:
    hostile = driver("birch", (2, 2), [line(1, 5), line(2, 5)], sessions=[session(1, 1, 9), session(2, 1, 9)])
    merged = merged_rows([driver("ash", (1, 1), [line(1, 4)]), hostile])
    assert merged.frames["interactions"]["user"].to_list() == [1, 2]
    assert merged.frames["sessions"]["user"].to_list() == [2]
    assert merged.foreign_rows == {"birch": 3}


def test_instants_that_no_clock_reaches_do_not_break_the_tables() -> None:
    wild = line(1, 5) | {"sent_ns": (1 << 64) - 1, "ready_ns": None}
    merged = merged_rows([driver("ash", (1, 1), [line(1, 4), wild], shift=ClockShift.constant(-SECOND))])
    assert merged.frames["interactions"]["sent_ns"].to_list() == [3 * SECOND, 0]

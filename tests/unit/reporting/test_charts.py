"""The frames behind the charts: small for a run of any size, and true to it."""

import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.reporting.charts import charts
from loadgo.reporting.charts.chart_data import (
    MOST_BARS,
    MOST_TIME_BINS,
    MOST_USERS,
    load_over_time,
    response_bins,
    time_by_category,
    user_waits,
)
from support.synthetic import S, Work, closed_loop, interaction, run_of

SMALL = closed_loop(10, 20, [Work("edit", 0.05), Work("compile", 0.4)], think_s=5.0)
LARGE = closed_loop(90, 120, [Work("edit", 0.02)], think_s=5.0)


def test_each_commands_bins_hold_all_of_its_interactions() -> None:
    summary = summarize(SMALL)
    bins = response_bins(summary, SMALL).frame
    for row in summary.commands:
        mine = bins.filter(pl.col("command") == row.name)
        assert mine["count"].sum() == row.response.count
        assert mine["share"].sum() == pytest.approx(1, abs=1e-3)


def test_throughput_over_time_adds_up_to_every_interaction() -> None:
    over = load_over_time(SMALL).frame
    assert len(over) == min(MOST_TIME_BINS, len(SMALL.interactions) // 10), "about ten interactions in a span"
    seconds = over["to_s"] - over["from_s"]
    assert (over["per_second"] * seconds).sum() == pytest.approx(len(SMALL.interactions), abs=1.5)
    assert over["users"].to_numpy().max() == 10


def test_busy_time_is_stacked_above_the_axis_and_idle_time_below_and_together_they_are_all_of_it() -> None:
    by = time_by_category(SMALL, ["user", "system", "softirq", "iowait", "idle"]).frame
    busy = by.filter(pl.col("category").is_in(["user", "system", "softirq"]))
    idle = by.filter(pl.col("category").is_in(["iowait", "idle"]))
    assert (busy["bottom"].to_numpy() >= 0).all()
    assert (idle["bottom"].to_numpy() <= 0).all()
    heights = [
        frame.group_by("from_s").agg(pl.col("top").abs().max()).sort("from_s")["top"].to_numpy()
        for frame in (busy, idle)
    ]
    assert (heights[0] + heights[1]).tolist() == pytest.approx([1.0] * len(heights[0]), abs=1e-3)
    assert [heights[0].max(), heights[1].max()] == [busy["top"].to_numpy().max(), -idle["top"].to_numpy().min()]


def test_a_small_run_shows_every_wait_of_every_user() -> None:
    waits = user_waits(SMALL)
    assert len(waits.frame) == len(SMALL.interactions)
    assert waits.caption.startswith("Every user. A bar is one interaction")


def test_a_large_run_shows_an_even_choice_of_users_and_says_so() -> None:
    waits = user_waits(LARGE)
    assert waits.frame["user"].n_unique() <= MOST_USERS
    assert len(waits.frame) <= MOST_USERS * 120
    assert "One user in 3 of 90." in waits.caption
    assert len(LARGE.interactions) > MOST_BARS


def test_the_shares_of_a_large_run_are_the_time_that_its_users_waited() -> None:
    frame = user_waits(LARGE).frame
    drawn = frame.group_by("user").agg(s=(pl.col("share") * (pl.col("to_s") - pl.col("from_s"))).sum()).sort("user")
    chosen = LARGE.interactions.filter(pl.col("user").is_in(drawn["user"].implode()))
    spent = (
        chosen.group_by("user")
        .agg(s=(pl.col("ready_ns").cast(pl.Int64) - pl.col("sent_ns").cast(pl.Int64)).sum() / S)
        .sort("user")
    )
    assert drawn["s"].to_list() == pytest.approx(spent["s"].to_list(), rel=0.01, abs=0.05)


def test_a_run_without_processor_time_has_no_chart_of_it() -> None:
    from loadgo.reporting.charts.charts import charts

    run = run_of([interaction(user, 2, 1) for user in range(1, 12)])
    assert [chart.name for chart in charts(summarize(run), run)] == ["over-time", "timeline"]


def test_an_axis_of_response_times_has_ticks_within_a_narrow_range() -> None:
    run = run_of([interaction(user, 0, 0.0602 + 0.001 * user) for user in range(1, 9)])
    drawn = charts.chart("response", summarize(run), run)
    axis = drawn.spec["layer"][0]["encoding"]["x"]["axis"]
    rows = [row for rows in drawn.spec["datasets"].values() for row in rows if "from_s" in row]
    low, high = min(row["from_s"] for row in rows), max(row["to_s"] for row in rows)
    assert len([tick for tick in axis["values"] if low <= tick <= high]) >= 2

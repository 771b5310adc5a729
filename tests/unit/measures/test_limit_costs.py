"""Costs of users' own limits: sums over spans, shares, and what was not counted."""

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
from loadgo.measures.limit_costs import limit_costs_of
from loadgo.measures.summary import Summary
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables
from loadgo.reporting.limit_table import limits_sentence, limits_table
from loadgo.reporting.run_words import limits_of_each_in_words


def tables_with(rows: list[dict[str, Any]]) -> Tables:
    columns = COLUMNS_BY_TABLE["user_limits"]
    whole = [{name: row.get(name) for name in columns} for row in rows]
    return cast("Tables", SimpleNamespace(user_limits=pl.DataFrame(whole, schema=columns)))


def summary_with(rows: list[dict[str, Any]], **limit: int) -> Summary:
    run = SimpleNamespace(limit_each=limit)
    return cast("Summary", SimpleNamespace(limit_costs=limit_costs_of(tables_with(rows)), run=run))


SPANS = [
    {"user": 1, "cpu_ns": 10, "periods": 4, "throttled_periods": 1, "throttled_ns": 7, "memory_peak_bytes": 90},
    {"user": 1, "cpu_ns": 20, "periods": 4, "throttled_periods": 3, "throttled_ns": 5, "memory_peak_bytes": 95},
    {"user": 2, "cpu_ns": 1, "periods": 0, "throttled_periods": 0, "throttled_ns": 0, "memory_peak_bytes": 40},
]


def test_spans_are_added_up_and_the_peak_is_the_largest() -> None:
    costs = limit_costs_of(tables_with(SPANS))
    assert costs is not None
    first, second = costs.users
    assert (first.user, first.cpu_ns, first.throttled_ns, first.throttled_share) == (1, 30, 12, 0.5)
    assert second.throttled_share is None
    assert (costs.everybody.user, costs.everybody.cpu_ns, costs.everybody.memory_peak_bytes) == (None, 31, 95)


def test_what_the_kernel_did_not_count_is_no_zero() -> None:
    costs = limit_costs_of(tables_with(SPANS))
    assert costs is not None
    assert costs.users[0].memory_kills is None
    assert costs.everybody.pids_refusals is None


def test_without_limits_for_each_user_there_is_no_table() -> None:
    assert limit_costs_of(tables_with([])) is None
    assert limits_table(summary_with([])) is None


def test_those_who_were_held_back_longest_come_first_and_the_sum_is_last() -> None:
    many = [{"user": user, "cpu_ns": 1, "throttled_ns": user} for user in range(1, 31)]
    table = limits_table(summary_with(many))
    assert table is not None
    names = list(table.columns[0].cells)
    assert names[:2] == ["30", "29"]
    assert (len(names), names[-1]) == (21, "all")
    assert table.foot == "10 of 30 users are left out: those who were held back least."


def test_a_sentence_says_what_the_limits_cost_and_no_more_than_was_counted() -> None:
    assert limits_sentence(summary_with([])) == ""
    assert limits_sentence(summary_with(SPANS, cpus=1)) == (
        "The limits held back 1 of 2 users: the processor quota was used up for 12 ns (50.0 % of the periods with "
        "work)."
    )
    killed = [{"user": 3, "memory_kills": 1, "pids_refusals": 2, "memory_refusals": 5}]
    assert limits_sentence(summary_with(killed)) == (
        "The limits held back 1 of 1 user: memory was reclaimed 5 times, 1 process killed for want of memory and "
        "2 forks refused."
    )
    free = [{"user": 1, "throttled_ns": 0, "memory_kills": 0, "memory_peak_bytes": 6}]
    sure, doubtful = "The limits held nobody back.", "The limits held nobody back, as far as it was counted."
    for limit, sentence in (
        ({"cpus": 1}, sure),
        ({"memory_bytes": 7}, sure),
        ({"memory_bytes": 6}, doubtful),
        ({"pids": 9}, doubtful),
        ({"cpus": 1, "nice": 5}, doubtful),
    ):
        assert limits_sentence(summary_with(free, **limit)) == sentence


def test_the_limits_are_said_in_words() -> None:
    limit = {"cpus": 1, "memory_bytes": 2**30, "swap_bytes": 0, "pids": 200, "nice": 5, "io_bytes_per_s": 2 * 10**7}
    assert limits_of_each_in_words(limit) == (
        "1 processor, memory 1 GiB (1.07 GB), paging 0, 200 processes, nice 5, 20.0 MB/s of each disk"
    )
    assert limits_of_each_in_words({}) == ""
    assert limits_of_each_in_words({"single": [{"users": [1]}]}) == "other limits for some users"

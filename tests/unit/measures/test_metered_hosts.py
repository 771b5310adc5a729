"""Hosts metered side by side: the one that differs is named, and what came upon all of them is no difference."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from loadgo.documents.as_text import text_document
from loadgo.measures.metered_hosts import MeteredHosts
from loadgo.measures.run_warnings import facts_in, facts_of, run_warnings
from loadgo.measures.summary import summarize
from loadgo.records.fleet_tables import tables_of_host, tables_of_load
from loadgo.records.phases import stretch_of
from loadgo.records.tables import Tables
from loadgo.reporting.document import report_document
from loadgo.reporting.words import answer
from support.fleets import metered_fleet
from support.synthetic import closed_loop

BUSY_CEDAR = (0.3, 0.3, 0.8, 0.3)


def hosts_of(tables: Tables) -> MeteredHosts:
    found = summarize(tables, phases="all").metered_hosts
    assert found is not None
    return found


def test_the_host_that_is_busy_is_named_with_the_difference_and_the_program() -> None:
    found = hosts_of(metered_fleet(BUSY_CEDAR))
    assert {row.host for row in found.differences} == {"cedar"}
    busy = next(row for row in found.differences if row.figure == "busy")
    assert busy.low < 0.5 < busy.high
    assert busy.value == pytest.approx(0.8, abs=0.05)
    words = answer(summarize(metered_fleet(BUSY_CEDAR), phases="all"))
    assert "cedar surely differs from the others: its processors were" in words
    assert re.search(r"those of the others 3\S+ % \(4\S+ to 5\S+ percentage points more\)", words), (
        "per cent is no ratio"
    )
    assert "Most processor time there was used by `on-cedar` (" in words


def test_what_comes_upon_all_hosts_at_once_is_no_difference() -> None:
    tables = metered_fleet((0.3, 0.3, 0.3))
    late = pl.col("at_ns") > 30_000_000_000
    busier = pl.when(late & (pl.col("category").cast(pl.String) == "user")).then(3 * pl.col("time_ns"))
    found = hosts_of(replace(tables, time=tables.time.with_columns(time_ns=busier.otherwise(pl.col("time_ns")))))
    assert (found.differences, found.judged) == ((), True)


def test_of_two_hosts_the_busier_one_is_named() -> None:
    assert [row.host for row in hosts_of(metered_fleet((0.2, 0.6))).differences if row.figure == "busy"] == ["birch"]


def test_two_unlike_hosts_among_several_are_both_named_and_the_others_are_not() -> None:
    found = hosts_of(metered_fleet((0.9, 0.3, 0.3, 0.6, 0.3, 0.3)))
    assert list(dict.fromkeys(row.host for row in found.differences)) == ["ash", "damson"]


def test_a_short_metering_says_that_it_cannot_tell() -> None:
    tables = metered_fleet(BUSY_CEDAR, seconds=6)
    assert not hosts_of(tables).judged
    assert "Whether one differs from the others is not known" in answer(summarize(tables, phases="all"))


def test_a_lost_host_is_told_and_not_compared() -> None:
    tables = metered_fleet(BUSY_CEDAR, lost={"cedar": "the agent was lost"})
    found = hosts_of(tables)
    assert found.differences == ()
    assert found.hosts[2].lost is not None
    assert found.hosts[2].busy_share == pytest.approx(0.8, abs=0.1), "its records until then are shown"
    assert "Lost before the end, and not compared: cedar." in answer(summarize(tables, phases="all"))


def test_each_page_warns_of_the_same_lost_host_and_of_no_users() -> None:
    tables = metered_fleet(BUSY_CEDAR, lost={"cedar": "the agent was lost"})
    (warning,) = run_warnings(facts_in(summarize(tables, phases="all")))
    assert run_warnings(facts_of(tables, stretch_of(tables, "all"))) == [warning]
    assert warning.startswith("cedar was lost ")
    assert warning.endswith("the agent was lost. Its figures end there, and it is not compared.")


def test_a_host_without_a_meter_is_compared_in_what_it_has() -> None:
    tables = metered_fleet(BUSY_CEDAR)
    without = tables.queue.filter(pl.col("host").cast(pl.String) != "ash")
    found = hosts_of(replace(tables, queue=without))
    assert found.hosts[0].run_queue is None
    assert ("cedar", "busy") in [(row.host, row.figure) for row in found.differences]


def test_the_figures_of_a_host_are_those_of_its_own_report() -> None:
    tables = metered_fleet(BUSY_CEDAR)
    alone: Any = summarize(tables_of_host(tables, "cedar"), phases="all").total_time
    assert hosts_of(tables).hosts[2].busy_share == alone.busy_share


def test_the_report_has_a_row_for_each_host() -> None:
    tables = metered_fleet(BUSY_CEDAR)
    document = report_document(summarize(tables, phases="all"), measured=tables_of_load(tables))
    lines = text_document(document, width=100).splitlines()
    rows = [line for line in lines if line.startswith(("ash ", "birch ", "cedar ", "damson "))]
    assert len(rows) == 4
    assert [row for row in rows if "busy" in row] == [row for row in rows if row.startswith("cedar")]


def test_a_run_with_users_and_a_metering_of_one_host_have_none() -> None:
    assert summarize(closed_loop(10, 20)).metered_hosts is None
    assert summarize(tables_of_host(metered_fleet(BUSY_CEDAR), "ash"), phases="all").metered_hosts is None

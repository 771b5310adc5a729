"""The network's part of response times: the difference of two times of one line, each by the clock of one host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.measures.meters import BreakdownColumn
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.processor_time_words import breakdown_not_metered
from loadgo.reporting.words import fine_print
from support.synthetic import closed_loop

NETWORK_MS = 40.0


def far_run(users: int = 10, passes: int = 20, *, known: float = 1.0, address: str = "ssh://far") -> Tables:
    """A run on another host whose network takes an exponential time with this mean for each line."""
    run = closed_loop(users, passes)
    lines = run.interactions
    network_ns = np.random.default_rng(5).exponential(NETWORK_MS * 1e6, len(lines)).astype(np.int64)
    there = (pl.col("ready_ns") - pl.col("sent_ns")).alias("response_there_ns")
    measured = pl.int_range(pl.len()) < round(known * len(lines))
    lines = lines.with_columns(pl.when(measured).then(there).cast(pl.UInt64))
    lines = lines.with_columns(ready_ns=pl.col("ready_ns") + pl.Series(network_ns, dtype=pl.UInt64))
    system = {**run.conditions.get("system", {}), "kind": "host", "name": address}
    return replace(run, interactions=lines, conditions={**run.conditions, "system": system})


def line_of(tables: Tables) -> str:
    return dict(fine_print(summarize(tables)))["Network"]


def test_the_interval_of_the_network_holds_what_it_took() -> None:
    network = summarize(far_run()).network
    assert network is not None
    assert network.low_ns is not None
    assert network.high_ns is not None
    assert network.low_ns < NETWORK_MS * 1e6 < network.high_ns
    assert network.network_ns == pytest.approx(network.response_ns - network.there_ns)
    assert network.known == network.answered


def test_the_report_says_what_the_network_took_with_its_interval() -> None:
    words = line_of(far_run())
    assert words.startswith("The network and ssh took 4")
    assert " ms (" in words
    assert "of a mean response" in words
    assert "of the lines" not in words


def test_lines_that_no_shell_has_measured_are_in_no_figure() -> None:
    tables = far_run(known=0.5)
    network = summarize(tables).network
    assert network is not None
    assert network.known < network.answered
    rows = tables.interactions.filter(
        pl.col("response_there_ns").is_not_null(), pl.col("phase").cast(pl.String) == "steady"
    )
    assert network.response_ns == pytest.approx(float((rows["ready_ns"] - rows["sent_ns"]).mean() or 0))  # type: ignore[arg-type]
    assert "of the lines" in line_of(tables)


def test_a_log_in_by_su_has_no_network_in_its_response_times() -> None:
    run = far_run(address="here")
    assert "Network" in dict(fine_print(summarize(logged_in_by(run, "ssh login1"))))
    assert "Network" not in dict(fine_print(summarize(logged_in_by(run, "su - guest"))))


def logged_in_by(run: Tables, login: str) -> Tables:
    """The same run with this command to log in."""
    return replace(run, conditions={**run.conditions, "system": {**run.conditions["system"], "login": login}})


def test_a_shell_that_measures_nothing_makes_it_not_known() -> None:
    tables = far_run(known=0.0)
    assert summarize(tables).network is None
    assert "is not known" in line_of(tables)


def test_few_users_have_a_mean_and_no_interval() -> None:
    network = summarize(far_run(users=3, passes=60)).network
    assert network is not None
    assert network.low_ns is None


def test_a_run_on_this_host_has_no_network() -> None:
    assert "Network" not in dict(fine_print(summarize(closed_loop(10, 20))))


@pytest.mark.parametrize(("by", "said"), [("command", "by command are counted"), ("user", "or `--sudo`")])
def test_a_breakdown_that_another_host_does_not_have_is_told_with_the_reason(by: BreakdownColumn, said: str) -> None:
    tables = replace(far_run(), conditions={**far_run().conditions, "meters": {"tier": "none", "exact": []}})
    assert said in breakdown_not_metered(summarize(tables, by=by))

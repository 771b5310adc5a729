"""The report of a metered command: its times are sums over all its processes and threads."""

import dataclasses

import polars as pl
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.report import render
from loadgo.reporting.view import View
from support.synthetic_meters import metered_host

SUMS = "waits are sums over all its processes and threads. Several run or wait at once, so a sum can be longer"
TIMES = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns", "cpu_user_ns", "cpu_system_ns")


def report_text(tables: Tables, *, full: bool) -> str:
    """The report of `tables` as words with single spaces."""
    content = render(summarize(tables), tables, "text", view=View(full=full), width=100, run="runs/a-run")
    return " ".join(str(content).split())


def test_times_of_a_command_that_are_longer_than_it_took_are_said_to_be_sums() -> None:
    run = metered_host()
    command = run.interactions.head(1).with_columns(command=pl.lit("make", pl.Categorical))
    changes = {"kind": "meter", "name": "make", "load": {}, "meters": {"tier": "cheap"}}
    (took_ns,) = command.select(pl.col("ready_ns") - pl.col("sent_ns")).to_series()
    short = command.with_columns(pl.lit(took_ns // 9, pl.UInt64).alias(name) for name in TIMES)
    long = short.with_columns(ready_wait_ns=pl.lit(3 * took_ns, pl.UInt64))
    for full in (True, False):
        for interactions, is_said in ((long, True), (short, False)):
            metered = dataclasses.replace(run, interactions=interactions, conditions=run.conditions | changes)
            assert (SUMS in report_text(metered, full=full)) is is_said

"""The hosts of a run on several: response by host, which is surely slower, and hosts that were lost."""

import dataclasses

import polars as pl
import pytest
from loadgo.documents.as_text import text_document
from loadgo.errors import BadArgument
from loadgo.measures.audit import Loss
from loadgo.measures.run_warnings import facts_in, run_warnings
from loadgo.measures.summary import summarize
from loadgo.records.fleet_tables import tables_of_host, tables_of_load
from loadgo.records.tables import Tables
from loadgo.reporting.document import report_document
from loadgo.reporting.host_table import hosts_line
from loadgo.reporting.words import answer
from support.fleets import fleet_run, meter_frames
from support.synthetic import closed_loop, frame

SLOW_CEDAR = (1.0, 1.0, 3.0, 1.0)


def full_report(tables: Tables) -> str:
    document = report_document(summarize(tables), measured=tables_of_load(tables))
    return " ".join(text_document(document, width=200).split())


def test_the_slow_host_is_found_and_the_others_are_not_called_slow() -> None:
    summary = summarize(fleet_run(SLOW_CEDAR))
    assert [host.name for host in summary.hosts if host.verdict == "slower"] == ["cedar"]
    cedar = summary.hosts[2]
    assert cedar.ratio is not None
    assert cedar.ratio_low is not None
    assert 1 < cedar.ratio_low < cedar.ratio < (cedar.ratio_high or 0)
    assert "cedar is surely slower than the others: its p90 is" in hosts_line(summary)
    assert "cedar is surely slower than the others: its p90 is" in answer(summary)


def test_the_figures_of_a_host_are_those_of_its_rows_alone() -> None:
    tables = fleet_run(SLOW_CEDAR)
    summary = summarize(tables)
    alone = summarize(tables_of_host(tables, "cedar"))
    cedar = summary.hosts[2]
    assert (cedar.first_user, cedar.last_user, cedar.users) == (21, 30, 10)
    assert cedar.response.count == alone.everything.response.count
    assert cedar.response.quantile("p90").value_ns == alone.everything.response.quantile("p90").value_ns
    assert cedar.usage == alone.everything.usage
    assert alone.total_time is not None
    assert cedar.busy_share == alone.total_time.busy_share


def test_quantiles_of_the_fleet_are_of_all_rows_together_and_not_of_the_hosts_quantiles() -> None:
    tables = fleet_run(SLOW_CEDAR)
    summary = summarize(tables)
    steady = tables.interactions.filter(pl.col("phase").cast(pl.String) == "steady")
    values = (steady["ready_ns"] - steady["sent_ns"]).cast(pl.Float64)
    assert summary.everything.response.quantile("p90").value_ns == values.quantile(0.9, "linear")


def test_like_hosts_are_not_told_apart() -> None:
    summary = summarize(fleet_run((1.0, 1.0, 1.0)))
    assert {host.verdict for host in summary.hosts} == {"not known"}
    assert "No host is surely slower than the others" in hosts_line(summary)


def test_no_interval_is_shorter_than_the_median_of_the_hosts() -> None:
    """A host that was calm by chance would be called faster, by a short time and a short interval."""
    hosts = summarize(fleet_run((1.0,) * 5, seed=3)).hosts
    known = [(host.ratio or 0.0, host.ratio_low or 0.0, host.ratio_high or 0.0) for host in hosts]
    assert all(low > 0 for _, low, _ in known)
    down, up = [low / ratio for ratio, low, _ in known], [high / ratio for ratio, _, high in known]
    assert down.count(max(down)) >= 3, "half of the hosts and one have the median's, or reach further"
    assert up.count(min(up)) >= 3


def test_a_short_run_says_that_it_cannot_tell() -> None:
    summary = summarize(fleet_run((1.0, 3.0), users=2, passes=2))
    assert "Whether a host is slower than the others is not known" in hosts_line(summary)


def test_a_long_run_with_few_users_a_host_cannot_tell_either() -> None:
    summary = summarize(fleet_run((1.0, 3.0), users=4, passes=60))
    assert all(host.ratio is not None and host.ratio_low is None for host in summary.hosts)
    assert {host.verdict for host in summary.hosts} == {"not known"}


def test_a_run_on_one_host_has_no_hosts() -> None:
    summary = summarize(closed_loop(10, 20))
    assert summary.hosts == ()
    assert hosts_line(summary) == ""


def test_meters_of_several_hosts_are_in_no_figure_of_the_fleet_and_in_those_of_each_host() -> None:
    tables = fleet_run((1.0, 1.0))
    assert all(frame.is_empty() for frame in meter_frames(tables_of_load(tables)).values())
    assert summarize(tables).total_time is None
    birch = summarize(tables_of_host(tables, "birch"))
    assert birch.run.system["name"] == "ssh://birch"
    assert birch.run.users == 10
    assert birch.total_time is not None
    assert birch.total_time.processors == ("0", "1")
    assert "loadgo report RUN --host NAME" in full_report(tables)


def test_a_host_that_the_run_does_not_have_is_an_error_that_names_those_it_has() -> None:
    with pytest.raises(BadArgument, match="these are: ash, birch"):
        tables_of_host(fleet_run((1.0, 1.0)), "oak")
    with pytest.raises(BadArgument, match="the run is of one host"):
        tables_of_host(closed_loop(4, 4), "oak")


def with_lost_users(tables: Tables) -> Tables:
    """The run with a row of `lost` for each user of birch."""
    rows = [
        {"at_ns": 12, "user": user, "what": "session", "count": 1, "reason": "birch is lost"} for user in range(11, 21)
    ]
    lost = frame(rows, "lost").with_columns(pl.lit("birch").cast(pl.Categorical).alias("host"))
    return dataclasses.replace(tables, lost=lost)


def test_a_lost_host_makes_the_run_invalid() -> None:
    tables = with_lost_users(fleet_run((1.0, 1.0), lost={"birch": "the agent was lost."}))
    summary = summarize(tables)
    (warning,) = run_warnings(facts_in(summary))
    assert warning.startswith("INVALID: birch was lost 12.0 s after the run's beginning: the agent was lost. Its users")
    assert "--without-lost 1" in warning
    assert summary.losses == (Loss("session", "birch is lost", 10),)
    assert "INVALID: birch was lost" in full_report(tables)
    assert report_document(summary).answer.startswith(
        "The figures are not valid. 20 users; not everyone was well served: birch was lost; p90 "
    )


def test_a_run_that_may_do_without_the_lost_host_counts_and_says_so() -> None:
    tables = with_lost_users(fleet_run((1.0, 1.0), lost={"birch": "the agent was lost."}, without_lost=1))
    summary = summarize(tables)
    (warning,) = run_warnings(facts_in(summary))
    assert not warning.startswith("INVALID")
    assert "The run counts without it" in warning
    assert summary.losses == (Loss("session", "birch is lost", 10, tolerated=True),)
    assert all(host.ratio is None for host in summary.hosts), "one host is left, and none to compare it with"
    assert "every line was answered" not in report_document(summary).answer


def test_the_short_report_of_many_hosts_has_the_slowest() -> None:
    summary = summarize(fleet_run((1.0,) * 5 + (3.0,), users=3, passes=8))
    many = dataclasses.replace(summary, hosts=summary.hosts[:5] * 4 + summary.hosts[5:])
    short = text_document(report_document(many), width=200, short=True)
    assert "fir" in short
    assert "9 of 21 hosts are left out: those with the shortest p90." in short


def test_the_busiest_host_is_named_and_warned_of() -> None:
    tables = fleet_run((1.0, 1.0))
    others = pl.when(pl.col("host").cast(pl.String) == "birch").then(pl.col("time_ns") // 2).otherwise(pl.lit(0))
    is_idle = pl.col("category").cast(pl.String) == "idle"
    time = tables.time.with_columns(moved=pl.when(is_idle).then(others).otherwise(0).cast(pl.UInt64))
    busy = time.filter(pl.col("moved") > 0).with_columns(
        category=pl.lit("user").cast(pl.Categorical), time_ns=pl.col("moved")
    )
    idle = time.with_columns(time_ns=pl.col("time_ns") - pl.col("moved"))
    moved = dataclasses.replace(tables, time=pl.concat([idle, busy]).drop("moved"))
    summary = summarize(moved)
    assert summary.other_work is not None
    assert (summary.other_work.host, summary.other_work.level) == ("birch", "busy")
    (warning,) = [text for text in run_warnings(facts_in(summary)) if "busy with other things" in text]
    assert warning.startswith("birch was busy with other things: ")
    assert warning.endswith("`loadgo meter --on ssh://birch --for 10s` shows the programs.")
    quiet = summarize(tables).other_work
    assert quiet is None or quiet.level != "busy"

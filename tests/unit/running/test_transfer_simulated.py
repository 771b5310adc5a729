"""Remote jobs on a simulated machine: the same table of transfers as beside users of a host, with estimates named."""

import math
from dataclasses import replace
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.records.tables import Tables
from loadgo.running import bundled
from loadgo.running.remote_jobs import ESTIMATED_COLUMNS, TRANSFER_COLUMNS, remote_jobs, simulated_transfers
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.csv_cells import KNOWN_COLUMNS
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.prices import prices
from support.far_end import waiting
from support.remote_transfers import TRANSFERS

SCRIPT = """
lines = [
    "loadgo-rjs submit a.deck --to x",
    "loadgo-rjs serve",
    { repeat = 2, lines = ["date", "/usr/bin/loadgo-rjs print a.job"] },
    { choose = [{ type = "loadgo-rjs store wave", as = "s", weight = 2 }, "echo 'loadgo-rjs store x'", "it's off"] },
]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of three users on TENEX."""
    folder = tmp_path_factory.mktemp("tenex") / "run"
    run = loadgo.run("remote-jobs", on="tenex", users=3, out=folder)
    assert run.notes == ()
    return folder


def test_a_simulated_run_has_a_row_of_each_job_as_one_on_a_host_has(ran: Path) -> None:
    rows = pl.read_csv(ran / "transfers.csv")
    assert sorted(zip(rows["job"], rows["bytes"], strict=True)) == sorted([*TRANSFERS.values()] * 3)
    assert dict(rows.group_by("direction").len().iter_rows()) == {"s": 12, "r": 9}
    assert set(rows["method"]) == {"records"}
    assert set(rows["message"]) == {1000}
    assert set(rows["messages"] * 1000 - rows["bytes"] < 1000) == {True}


def test_its_names_are_those_of_a_batch_hosts_table(tmp_path: Path) -> None:
    with waiting(rows=tmp_path / "rows.csv"):
        pass
    names = (tmp_path / "rows.csv").read_text().strip().split(",")
    assert names == [name for name in TRANSFER_COLUMNS if name != "estimated"]
    assert set(TRANSFER_COLUMNS) - set(KNOWN_COLUMNS) == {"job", "load_1min"}


def test_its_times_are_those_of_whole_lines_and_named_as_estimates(ran: Path) -> None:
    rows = pl.read_csv(ran / "transfers.csv")
    lines = loadgo.tables(ran).interactions.filter(pl.col("command").cast(pl.String).is_in([*TRANSFERS]))
    assert rows["real_s"].to_list() == pytest.approx(((lines["ready_ns"] - lines["sent_ns"]) / 1e9).to_list())
    assert rows["cpu_s"].to_list() == pytest.approx(((lines["cpu_user_ns"] + lines["cpu_system_ns"]) / 1e9).to_list())
    assert rows["faults"].to_list() == (lines["faults_minor"] + lines["faults_major"]).to_list()
    assert set(rows["estimated"]) == {ESTIMATED_COLUMNS}
    assert set(ESTIMATED_COLUMNS.split()) <= set(TRANSFER_COLUMNS)


def test_it_is_taken_apart_at_the_memos_costs_and_says_what_is_estimated(ran: Path) -> None:
    table = read_table(ran / "transfers.csv")
    assert table.contradictions == table.left_out == table.remarks == ()
    parts = taken_apart(table, prices("tenex-1972", "arpanet-1970"))
    for kind in parts.kinds:
        assert 600e-6 <= {part.of: part.each_s for part in kind.parts}["byte"] <= 700e-6
    assert "Estimated faults, real_s, cpu_s" in " ".join(parts.report(width=100).split())


def test_jobs_are_found_in_groups_and_choices_by_the_lines_number() -> None:
    assert remote_jobs(SCRIPT) == {1: "submit", 4: "print", 5: "store"}
    assert remote_jobs(bundled.find_script("typical-user").text) == {}


def test_a_load_average_follows_what_wants_the_processors(ran: Path) -> None:
    run_tables = loadgo.tables(ran)
    spans, span_ns = range(1, 601), 10**9
    times = {"at_ns": [at * span_ns for at in spans], "span_ns": [span_ns] * len(spans)}
    queue = pl.DataFrame({**times, "queue": "processors", "measure": "ready", "value": 2.0})
    busy = pl.DataFrame({**times, "processor": 0, "category": "user", "time_ns": span_ns})
    idle = busy.with_columns(pl.lit("idle zero").alias("category"))
    one = run_tables.interactions.filter(pl.col("command").cast(pl.String) == "store wave").head(1)
    one = one.with_columns(pl.lit(600 * span_ns, dtype=pl.UInt64).alias("ready_ns"))
    made = replace(run_tables, interactions=one, queue=queue, time=pl.concat([busy, idle]))
    (row,) = rows_of(made, (ran / "machine.toml").read_text())
    assert row["load"] == pytest.approx(3 * (1 - math.exp(-2)))
    assert row["load_1min"] == pytest.approx(3 * (1 - math.exp(-10)))


def rows_of(told: Tables, machine: str) -> list[dict[str, object]]:
    """The rows of the remote jobs of `told`."""
    text = simulated_transfers(told, remote_jobs(bundled.find_script("remote-jobs").text), machine)
    return [] if text is None else pl.read_csv(text.encode()).to_dicts()


def test_what_did_not_come_over_and_bytes_that_are_drawn_are_no_rows(ran: Path) -> None:
    told, machine = loadgo.tables(ran), (ran / "machine.toml").read_text()
    late = pl.when(pl.col("user") == 1).then(pl.lit("timeout")).otherwise(pl.lit("ok")).alias("outcome")
    assert len(rows_of(replace(told, interactions=told.interactions.with_columns(late)), machine)) == 14
    drawn = machine.replace("network_bytes = 473489", 'network_bytes = "exponential(473489)"')
    assert "store" not in {row["job"] for row in rows_of(told, drawn)}


def test_a_machine_that_moves_no_bytes_says_why_there_is_no_table(tmp_path: Path) -> None:
    run = loadgo.run("remote-jobs", on="ctss", passes=1, out=tmp_path / "run")
    assert "there is no transfers.csv" in run.notes[0]
    assert not (tmp_path / "run" / "transfers.csv").exists()


def test_a_script_without_jobs_has_no_table(tmp_path: Path) -> None:
    run = loadgo.run("light", on="tenex", passes=1, out=tmp_path / "run")
    assert run.notes == ()
    assert not (tmp_path / "run" / "transfers.csv").exists()

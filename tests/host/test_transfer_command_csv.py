"""The rows of commands in CSV: the names of transfers between two ends, and what `--read` makes of them."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.charts import apart_charts
from loadgo.transfers.command_csv import COMMAND_CSV_COLUMNS, header, row
from loadgo.transfers.csv_cells import KNOWN_COLUMNS
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.grid import grid_csv
from support.command_transfers import PRICES, PYTHON, a_kind, a_run, made_of
from support.outside import NEEDS_FULL_DEVICE, NEEDS_ROOT, Bench
from support.socket_programs import BOTH_ENDS


def test_its_names_are_those_of_transfers_between_two_ends() -> None:
    between = [name for name in grid_csv([]).strip().split(",") if name in KNOWN_COLUMNS]
    assert [name for name in COMMAND_CSV_COLUMNS if name in KNOWN_COLUMNS] == between


def test_a_row_is_read_as_it_was_told_and_more_than_one_processor_is_no_contradiction(tmp_path: Path) -> None:
    made = made_of(a_run(1900, 600), a_kind("TCP, network", 500, 1500), a_kind("Unix", 9, 9), soft_s=0.25)
    (tmp_path / "rows.csv").write_text(header() + row(made))
    table = read_table(tmp_path / "rows.csv")
    (one,) = table.transfers
    assert (one.direction, one.method, one.bytes, one.cpu_s, one.real_s) == ("b", "fetch", 2000, made.cpu_s, 1.0)
    assert (one.messages, one.faults, one.message, one.load) == (5, 1, None, 0.5)
    assert one.cpu_s > 1.0
    assert table.contradictions == table.left_out == ()


def test_bytes_that_are_not_known_are_left_empty_and_the_row_out(tmp_path: Path) -> None:
    known, unknown = made_of(a_run(1, 1), a_kind("TCP, network", 5, 5)), replace(made_of(a_run(1, 1)), kinds=None)
    (tmp_path / "rows.csv").write_text(header() + row(known) + row(unknown))
    table = read_table(tmp_path / "rows.csv")
    assert len(table.transfers) == 1
    assert table.left_out == ("row 2: no bytes",)


def test_commands_of_several_sizes_are_taken_apart_both_ways_together(tmp_path: Path) -> None:
    runs = [made_of(a_run(10 + size // 1000, 0), a_kind("TCP, network", size, 0)) for size in range(1000, 90_000, 4000)]
    (tmp_path / "rows.csv").write_text(header() + "".join(map(row, runs)))
    apart = taken_apart(read_table(tmp_path / "rows.csv"), PRICES)
    (kind,) = apart.kinds
    assert {part.of: part.each_s for part in kind.parts} == pytest.approx({"transfer": 0.01, "byte": 1e-6})
    told = " ".join(apart.report(width=120).split())
    assert "Moving (sent and received) a gigabyte costs $" in told
    assert "fetch both ways: a byte" in told
    shapes = {str(chart.spec) for chart in apart_charts(apart)}
    assert all("both ways" in shape for shape in shapes)


@NEEDS_ROOT
def test_each_run_adds_its_row_to_the_table(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    bench = Bench(tmp_path)
    for size in ("1000", "70000"):
        bench.typed("transfer", "--csv", "rows.csv", "--", *PYTHON, BOTH_ENDS, size, "0")
    table = read_table(tmp_path / "rows.csv")
    name = Path(sys.executable).name
    assert [(one.method, one.bytes) for one in table.transfers] == [(name, 2000), (name, 140000)]
    assert "both ways" in bench.typed("transfer", "--read", "rows.csv").stdout


@NEEDS_FULL_DEVICE
def test_a_table_that_takes_no_row_is_told_after_the_answer(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    result = Bench(tmp_path).typed("transfer", "--csv", "/dev/full", "--", "true", status=2)
    assert "`true` used" in result.stderr
    assert "/dev/full" in result.stderr
    assert "No space left" in result.stderr


@NEEDS_ROOT
def test_a_row_goes_to_the_standard_output_behind_the_command_s_own(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    bench = Bench(tmp_path)
    result = bench.loadgo("transfer", "--csv", "-", "--", "echo", "hello")
    lines = result.stdout.splitlines()
    assert (lines[0], lines[1] + "\n", len(lines)) == ("hello", header(), 3)
    mixed = bench.typed("transfer", "--csv", "-", "--format", "json", "--", "echo", "hello", status=2)
    assert "would mix" in mixed.stderr

"""Tables of transfers as others write them: signs between cells, units, and files that are no tables."""

import io
import os
import re
from pathlib import Path

import pytest
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.csv_table import Table, read_table
from loadgo.transfers.prices import prices
from support.places import PROJECT

PRINTED = PROJECT / "python" / "loadgo" / "data" / "published" / "rfc392_tables.csv"


def read(folder: Path, content: str | bytes, **columns: str) -> Table:
    """The table of a file with this content."""
    place = folder / "table.csv"
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(place, columns)


def test_semicolons_part_cells_and_commas_decimals(tmp_path: Path) -> None:
    table = read(tmp_path, "bytes;direction;cpu_s\n1000;s;1,5\n2000;r;0,25\n")
    assert [one.cpu_s for one in table.transfers] == [1.5, 0.25]


def test_a_figure_that_may_mean_two_is_left_out(tmp_path: Path) -> None:
    table = read(tmp_path, "bytes;direction;cpu_s\n1000;s;1\n1.000,5;s;1\n")
    assert [one.bytes for one in table.transfers] == [1000]
    assert "may mean two numbers" in table.left_out[0]


def test_a_comma_before_decimals_is_not_taken_for_thousands(tmp_path: Path) -> None:
    table = read(tmp_path, 'bytes,direction,cpu_s\n"1,000",s,1\n1000,s,"1,5"\n')
    assert [one.bytes for one in table.transfers] == [1000]
    assert "a comma stands before three digits" in table.left_out[0]


def test_tabulators_and_a_mark_of_the_byte_order_are_read(tmp_path: Path) -> None:
    table = read(tmp_path, b"\xef\xbb\xbfbytes\tdirection\tcpu_s\r\n1000\tsent\t1\r\n")
    assert [(one.bytes, one.direction) for one in table.transfers] == [(1000, "s")]


def test_units_are_named_behind_a_colon(tmp_path: Path) -> None:
    table = read(
        tmp_path,
        "sent KiB,way,runtime,clock,rate\n1,s,8,16,512\n",
        bytes="sent KiB:KiB",
        direction="way",
        cpu_s="runtime:ms",
        real_s="clock:ms",
        bits_per_s="rate:kbit/s",
    )
    (one,) = table.transfers
    assert (one.bytes, one.cpu_s, one.real_s) == (1024, 0.008, 0.016)
    assert not table.contradictions


def test_a_name_with_a_colon_of_its_own_is_a_name(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "bytes,direction,cpu:ms\n1000,s,3\n", cpu_s="cpu:ms").transfers
    assert one.cpu_s == 3


def test_clock_times_are_read_as_the_seed_prints_them() -> None:
    by_clock = read_table(PRINTED, {"real_s": "clk", "direction": "dir"})
    by_seconds = read_table(PRINTED, {"real_s": "clk_s", "direction": "dir"})
    assert [one.real_s for one in by_clock.transfers] == [one.real_s for one in by_seconds.transfers]
    assert by_clock.transfers[1].real_s == 176


@pytest.mark.parametrize(
    ("factor", "unit", "remedy"), [(1e3, "milliseconds", "cpu_s=NAME:ms"), (1e6, "microseconds", "cpu_s=NAME:us")]
)
def test_times_in_another_unit_are_noticed(tmp_path: Path, factor: float, unit: str, remedy: str) -> None:
    rows = [f"{size},s,{factor * 600e-6 * size:.6g},75\n" for size in (1000, 5000, 20000)]
    table = read(tmp_path, "bytes,direction,cpu_s,us_per_bit\n" + "".join(rows))
    (remark,) = table.remarks
    assert unit in remark
    assert remedy in remark
    assert remark in taken_apart(table, prices()).report(width=200)


@pytest.mark.parametrize(
    ("content", "columns", "told"),
    [
        (b"", {}, "is empty"),
        (b"\n\n\n", {}, "is empty"),
        (b"1000,5,3\n2000,6,4\n", {}, "figures in its first line"),
        ("bytes,direction,cpu_s\nüü,s,1\n".encode("latin-1"), {}, r"not UTF-8 \(line 2\)"),
        ("bytes,direction,cpu_s\n1,s,1\n".encode("utf-16"), {}, "UTF-16"),
        (os.urandom(64) + b"\0" * 64, {}, "no text at all"),
        (b"bytes,direction,cpu_s,cpu_s\n1,s,1,1\n", {}, "more than one column cpu_s"),
        (b'bytes,direction,cpu_s\n"' + b"1" * 200_000 + b"\n", {}, "no table of cells"),
        (b"bytes,direction,cpu_s\n1,s,1\n", {"cpu_s": "cpu_s:weeks"}, "units of cpu_s are s, ms, us, ns"),
        (b"bytes,direction,cpu_s\n1,s,1\n", {"direction": "direction:ms"}, "direction has no unit"),
        (b"bytes,direction,cpu_s\n-5,s,1\n", {}, "0 or more"),
        (b"bytes,direction,cpu_s\n5,s,nan\n", {}, "0 or more"),
        (b"bytes,direction,cpu_s\n5,s,inf\n", {}, "0 or more"),
        (b"bytes,direction,cpu_s\n5\n", {}, "no direction, cpu_s"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_words(
    tmp_path: Path, content: bytes, columns: dict[str, str], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        read(tmp_path, content, **columns)


def test_a_file_that_is_not_there_or_a_folder_is_told_by_its_name(tmp_path: Path) -> None:
    for place in (tmp_path / "nothing.csv", tmp_path):
        with pytest.raises(OSError, match=str(place)):
            read_table(place)


def test_of_many_rows_that_are_wrong_some_are_named_and_the_others_counted(tmp_path: Path) -> None:
    content = "bytes,direction,cpu_s\n1000,s,1\n" + "many,s,1\n" * 5000
    page = taken_apart(read(tmp_path, content), prices()).report(width=120)
    assert page.count("is left out: bytes 'many' is no number.") == 12
    assert "Of table.csv, row 2 is left out: " in page
    assert "4,988 more rows are left out." in page


def test_a_row_that_contradicts_itself_is_named_with_its_table(tmp_path: Path) -> None:
    content = "bytes,direction,cpu_s,real_s\n1000,s,9,1\n1000,s,1,9\n"
    page = taken_apart(read(tmp_path, content), prices()).report(width=120)
    assert page.startswith("table.csv contradicts itself in row 1: 9 s of processor time in 1 s of real time.\n")
    assert not re.search("^[a-z]+ {2,}[a-z]", page.partition("Prices ")[2], re.M), "labels begin with a capital"


def test_a_table_of_very_many_rows_is_taken_apart(tmp_path: Path) -> None:
    """More rows than are drawn one by one: they are drawn in groups."""
    out = io.StringIO()
    out.write("bytes,direction,cpu_s,messages,real_s,load\n")
    for at in range(6000):
        size, messages = 1000 + 137 * (at % 211), 1 + at % 7
        out.write(f"{size},s,{1e-3 + 1e-6 * size + 2e-4 * messages:.7f},{messages},9,{at % 5}\n")
    parts = taken_apart(read(tmp_path, out.getvalue()), prices())
    each = {part.of: part.each_s for part in parts.kinds[0].parts}
    assert each == pytest.approx({"transfer": 1e-3, "message": 2e-4, "byte": 1e-6}, rel=1e-2)

"""Reads a table of transfers in CSV by the names of its columns, and finds rows that contradict themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from loadgo.errors import BadArgument
from loadgo.transfers.csv_cells import (
    REQUIRED_COLUMNS,
    TEXT_COLUMNS,
    ColumnPosition,
    cells_of,
    detect_separator,
    lines_of,
    locate_columns,
    number,
)

THIS_HOST = "this host"
"""The name of a table whose rows were measured on this host."""

_SLIGHT_SHARE = 0.01
"""A contradiction below this share is a note and no warning. Chosen by hand."""
_SENDS = ("s", "send", "sends", "sent")
_RECEIVES = ("r", "receive", "receives", "received")
_BOTH = ("b", "both")
_THOUSANDTHS = {-3: "thousands of seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}


@dataclass(frozen=True, slots=True)
class Observed:
    """A transfer of a table. Figures are None if the table does not have them."""

    place: str
    """The row in the file: `row 33 of table 2`."""
    direction: str
    """`s` (sent), `r` (received), or `b` if both directions share one processor time, as in a program."""
    method: str
    """Empty if the table has no methods."""
    bytes: int
    cpu_s: float
    real_s: float | None = None
    messages: int | None = None
    faults: int | None = None
    load: float | None = None
    message: int | None = None
    """Largest number of bytes in a call."""

    @property
    def bits(self) -> int:
        """Number of bits of the file."""
        return 8 * self.bytes


@dataclass(frozen=True)
class Table:
    """The transfers of a file that can be read, and remarks about rows that are inconsistent or left out."""

    name: str
    transfers: tuple[Observed, ...]
    contradictions: tuple[str, ...]
    """Printed figures that do not follow from the others of their row, each with its row. The rows are not left out."""
    left_out: tuple[str, ...]
    """Rows that cannot be read, and why."""
    remarks: tuple[str, ...] = ()
    """Remarks about all rows, such as figures that seem to have another unit."""
    slight: tuple[str, ...] = ()
    """Contradictions of less than 1 %, such as wrong rounding."""
    estimated: tuple[str, ...] = ()
    """The columns that the table calls estimates in at least one row."""


def read_table(path: str | Path, columns: Mapping[str, str] | None = None) -> Table:
    """Reads the table in the CSV file `path`.

    `columns` has the file's name for a column of `KNOWN_COLUMNS` if it differs, and after a colon its unit if that
    differs: `runtime:ms`.

    Raises `ValueError` for a file that is no table, lacks a required column, or has no readable row. Raises `OSError`
    for a missing file.
    """
    text = _text(path)
    sign = detect_separator(text.partition("\n")[0])
    lines = lines_of(str(path), text, sign)
    names = next(lines, None)
    if names is None:
        raise BadArgument(f"{path} is empty: a table has a line of names, and a line a transfer")
    where = locate_columns(str(path), [name.strip() for name in names], dict(columns or {}))
    transfers: list[Observed] = []
    wrong: list[str] = []
    slight: list[str] = []
    left_out: list[str] = []
    counts: dict[str, int] = {}
    factors: dict[str, list[float]] = {}
    estimated: dict[str, None] = {}
    for line in lines:
        place = _place(_cell(line, where.get("table")), counts)
        try:
            cells = cells_of(line, where, sign)
            transfers.append(_observed(cells, place))
            for found in contradictions(cells):
                (slight if found.is_slight else wrong).append(f"{place}: {found.text}")
            _compare(cells, transfers[-1], factors)
            estimated |= dict.fromkeys(cells.get("estimated", "").split())
        except ValueError as mistake:
            left_out.append(f"{place}: {mistake}")
    if not transfers:
        raise BadArgument(f"{path} has no row that can be read" + (f": {left_out[0]}" if left_out else ""))
    remarks = tuple(_units(factors))
    return Table(
        Path(path).name, tuple(transfers), tuple(wrong), tuple(left_out), remarks, tuple(slight), tuple(estimated)
    )


def _cell(line: list[str], position: ColumnPosition | None) -> str:
    return line[position.at].strip() if position is not None and position.at < len(line) else ""


def _text(path: str | Path) -> str:
    content = Path(path).read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:4096]:
        raise BadArgument(f"{path} is UTF-16, or no text at all: write the table as CSV in UTF-8")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as why:
        line = content[: why.start].count(b"\n") + 1
        raise BadArgument(f"{path} is not UTF-8 (line {line}): write the table as CSV in UTF-8") from None


def _compare(cells: Mapping[str, str], row: Observed, factors: dict[str, list[float]]) -> None:
    """Adds the factors by which the row's times are too large according to its other figures."""
    if "us_per_bit" in cells and row.bits and row.cpu_s and (printed := float(number(cells, "us_per_bit"))):
        factors.setdefault("cpu_s", []).append(1e6 * row.cpu_s / row.bits / printed)
    if "bits_per_s" in cells and row.bits and row.real_s and (printed := float(number(cells, "bits_per_s"))):
        factors.setdefault("real_s", []).append(row.real_s * printed / row.bits)


def _units(factors: Mapping[str, list[float]]) -> list[str]:
    """A remark for each time whose figures have another unit in most rows."""
    remarks = []
    for key, row_factors in factors.items():
        powers = math.log10(median(row_factors))
        power = 3 * round(powers / 3)
        if power in _THOUSANDTHS and abs(powers - power) < 0.1:
            unit = {3: "ms", 6: "us", 9: "ns"}.get(power)
            remedy = f": say so with --columns {key}=NAME:{unit}" if unit else ""
            remarks.append(f"{key} seems to be in {_THOUSANDTHS[power]}, by the other columns{remedy}")
    return remarks


def _place(table: str, counts: dict[str, int]) -> str:
    counts[table] = counts.get(table, 0) + 1
    return f"row {counts[table]} of table {table}" if table else f"row {counts[table]}"


def _observed(cells: Mapping[str, str], place: str) -> Observed:
    absent = [key for key in REQUIRED_COLUMNS if key not in cells]
    if absent:
        raise BadArgument(f"no {', '.join(absent)}")
    numbers = {key: float(number(cells, key)) for key in cells if key not in TEXT_COLUMNS}
    integers = {key: int(numbers[key]) for key in ("bytes", "message", "messages", "faults") if key in numbers}
    broken = next((key for key, value in integers.items() if numbers[key] != value), None)
    if broken is not None:
        raise BadArgument(f"{cells[broken]} {broken} are no whole number")
    return Observed(
        place=place,
        direction=_direction(cells["direction"]),
        method=cells.get("method", ""),
        bytes=integers["bytes"],
        cpu_s=numbers["cpu_s"],
        real_s=numbers.get("real_s"),
        messages=integers.get("messages"),
        faults=integers.get("faults"),
        load=numbers.get("load"),
        message=integers.get("message"),
    )


def _direction(text: str) -> str:
    if text.lower() in _SENDS:
        return "s"
    if text.lower() in _RECEIVES:
        return "r"
    if text.lower() in _BOTH:
        return "b"
    raise BadArgument(f"direction {text!r} is neither s (sent) nor r (received), nor b (both together)")


class Contradiction(NamedTuple):
    """A printed figure that does not follow from the others of its row."""

    text: str
    off: float
    """The relative distance of the printed figure from the nearest that would follow."""

    @property
    def is_slight(self) -> bool:
        """Whether it is as small as an error of rounding."""
        return self.off < _SLIGHT_SHARE


def contradictions(cells: Mapping[str, str]) -> list[Contradiction]:
    """Contradictions between the figures of a row, whose cells are named by `KNOWN_COLUMNS`.

    A printed figure may be off by one unit of its last place, whether it was rounded or truncated. Bits per second are
    bits over real time: RFC 392 printed this formula inverted. A row of both directions may be of several processes,
    which can use more processor time than real time.
    """
    bits = 8 * float(number(cells, "bytes"))
    cpu = _spread(cells, "cpu_s")
    sentences = []
    if "real_s" in cells:
        real = _spread(cells, "real_s")
        if cpu[0] > real[1] and cells.get("direction", "").lower() not in _BOTH:
            text = f"{cells['cpu_s']} s of processor time in {cells['real_s']} s of real time"
            sentences.append(Contradiction(text, cpu[0] / real[1] - 1 if real[1] else math.inf))
        if "bits_per_s" in cells:
            least, most = (bits / time_s if time_s else math.inf for time_s in reversed(real))
            if off := _distance(_spread(cells, "bits_per_s"), (least, most)):
                expected = f"{least:.5g} to {most:.5g} from its bytes and real time"
                sentences.append(Contradiction(f"{cells['bits_per_s']} bits a second printed, {expected}", off))
    if "us_per_bit" in cells and bits:
        found = (1e6 * cpu[0] / bits, 1e6 * cpu[1] / bits)
        if off := _distance(_spread(cells, "us_per_bit"), found):
            ours = 1e6 * float(number(cells, "cpu_s")) / bits
            text = f"{cells['us_per_bit']} µs a bit printed, {ours:.2f} from its processor time and bytes"
            sentences.append(Contradiction(text, off))
    return sentences


def _distance(printed: tuple[float, float], found: tuple[float, float]) -> float:
    """The relative distance between two intervals; 0 if they meet."""
    if found[1] < printed[0]:
        return printed[0] / found[1] - 1 if found[1] else math.inf
    if found[0] > printed[1]:
        return found[0] / printed[1] - 1 if printed[1] else math.inf
    return 0.0


def _spread(cells: Mapping[str, str], key: str) -> tuple[float, float]:
    """The interval that a printed number stands for: one unit of its last place more or less."""
    printed = number(cells, key)
    exponent = printed.as_tuple().exponent
    unit = 10.0 ** (exponent if isinstance(exponent, int) else 0)
    return max(0.0, float(printed) - unit), float(printed) + unit

"""The cells of a CSV table from elsewhere: their separator, the meaning of the columns, and numbers with units."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from loadgo.errors import BadArgument
from loadgo.notation.units import TIME_NS, UNIT_BYTES

REQUIRED_COLUMNS = ("bytes", "direction", "cpu_s")
TEXT_COLUMNS = ("direction", "method", "table", "estimated")
KNOWN_COLUMNS = (
    *REQUIRED_COLUMNS, "real_s", "bits_per_s", "us_per_bit", "load", "message", "messages", "faults",
    "method", "table", "estimated",
)  # fmt: skip
TIME_COLUMNS = ("cpu_s", "real_s")
_LARGEST_POWER = Decimal(10) ** 18
_TIME_UNITS = {unit: round(math.log10(TIME_NS[unit] / TIME_NS["s"])) for unit in ("s", "ms", "us", "ns")}
_RATE_UNITS = {"bit/s": 0, "kbit/s": 3, "Mbit/s": 6, "Gbit/s": 9}
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class ColumnPosition:
    """The index of a column, and the unit of its figures."""

    at: int
    unit: str = ""


def detect_separator(first_line: str) -> str:
    """The separator of the cells: a comma, a semicolon or a tab, whichever is most frequent in the first line."""
    return max((",", ";", "\t"), key=first_line.count)


def lines_of(path: str, text: str, sign: str) -> Iterator[list[str]]:
    """The lines that are not empty, as cells. Raises `ValueError` if the text is no table."""
    try:
        for line in csv.reader(io.StringIO(text), delimiter=sign):
            if any(cell.strip() for cell in line):
                yield line
    except csv.Error as why:
        raise BadArgument(f"{path} is no table of cells: {why}") from None


def locate_columns(path: str, names: Sequence[str], columns: Mapping[str, str]) -> dict[str, ColumnPosition]:
    """Finds the position of each of `KNOWN_COLUMNS`. `columns` has the file's names: `NAME`, or `NAME:UNIT`.

    Raises `ValueError` for names and units that do not exist, and for figures in the first line.
    """
    if sum(_is_figure(name) for name in names) * 2 > len(names):
        example = ",".join(REQUIRED_COLUMNS)
        raise BadArgument(f"{path} has figures in its first line: put a line of names above it, such as {example}")
    unknown = [key for key in columns if key not in KNOWN_COLUMNS]
    if unknown:
        raise BadArgument(f"`columns`: there is no {', '.join(unknown)}; these are: {', '.join(KNOWN_COLUMNS)}").about(
            "columns"
        )
    headings = {key: _heading(key, columns.get(key, key), names) for key in KNOWN_COLUMNS}
    missing = [headings[key][0] for key in columns if headings[key][0] not in names]
    if missing:
        raise BadArgument(f"{path} has no column {', '.join(missing)}: it has {_several(names)}")
    present = {key: (name, unit) for key, (name, unit) in headings.items() if name in names}
    twice = [name for name, _ in present.values() if list(names).count(name) > 1]
    if twice:
        raise BadArgument(f"{path} has more than one column {twice[0]}: give each a name of its own")
    lacking = [key for key in REQUIRED_COLUMNS if key not in present]
    if lacking:
        told = ",".join(f"{key}=NAME" for key in lacking)
        raise BadArgument(
            f"{path}: say which column is {', '.join(lacking)}, with `columns={told}`; it has {_several(names)}"
        ).about("columns")
    return {key: ColumnPosition(list(names).index(name), unit) for key, (name, unit) in present.items()}


def cells_of(line: Sequence[str], where: Mapping[str, ColumnPosition], sign: str) -> dict[str, str]:
    """The cells of a line by `KNOWN_COLUMNS`, figures in our units. Raises `ValueError` for a wrong figure."""
    cells = {
        key: cell for key, position in where.items() if position.at < len(line) and (cell := line[position.at].strip())
    }
    if sign == ";":
        cells |= {key: _point(key, cell) for key, cell in cells.items() if key not in TEXT_COLUMNS and "," in cell}
    scaled = {key: _scaled(key, cell, where[key].unit) for key, cell in cells.items() if where[key].unit}
    return {**cells, **scaled}


def number(cells: Mapping[str, str], key: str) -> Decimal:
    """A figure, exactly as written. Raises `ValueError` for a text that is no number of 0 or more."""
    text = cells[key]
    figure = _decimal(key, text)
    if not figure.is_finite() or figure < 0 or figure > _LARGEST_POWER or 0 < figure < 1 / _LARGEST_POWER:
        raise BadArgument(f"{key} {text!r} is no number of 0 or more, up to {_LARGEST_POWER:.0e}")
    return figure


def _decimal(key: str, text: str) -> Decimal:
    if "," in text:
        if not _THOUSANDS.fullmatch(text):
            raise BadArgument(
                f"{key} {text!r} is no number: a comma stands before three digits, a point before decimals"
            )
        text = text.replace(",", "")
    if key in TIME_COLUMNS and (clock := _CLOCK.fullmatch(text)):
        hours, minutes, seconds = clock.groups()
        return 3600 * Decimal(hours or 0) + 60 * Decimal(minutes) + Decimal(seconds)
    try:
        return Decimal(text)
    except InvalidOperation:
        raise BadArgument(f"{key} {text!r} is no number") from None


def _point(key: str, text: str) -> str:
    """A figure of a table with semicolons, in which the comma is a decimal point."""
    if "." in text or text.count(",") > 1:
        raise BadArgument(f"{key} {text!r} may mean two numbers: write it without signs between thousands")
    return text.replace(",", ".")


def _scaled(key: str, text: str, unit: str) -> str:
    figure = _decimal(key, text)
    if key == "bytes":
        return str((figure * UNIT_BYTES[unit]).normalize().to_integral_value()) if figure.is_finite() else text
    power = _TIME_UNITS[unit] + (6 if key == "us_per_bit" else 0) if unit in _TIME_UNITS else _RATE_UNITS[unit]
    return str(figure.scaleb(power)) if figure.is_finite() else text


def _heading(key: str, text: str, names: Sequence[str]) -> tuple[str, str]:
    """The column's name in the file, and the unit after a colon, unless the colon is part of the name."""
    name, colon, unit = text.rpartition(":")
    if text in names or not colon:
        return text, ""
    units = units_of(key)
    if unit not in units:
        phrase = f"units of {key} are {', '.join(units)}" if units else f"{key} has no unit"
        raise BadArgument(f"`columns={key}={text}`: {phrase}, and there is no column of that name").about("columns")
    return name, unit


def units_of(key: str) -> tuple[str, ...]:
    """The units that a column's figures may have."""
    if key in (*TIME_COLUMNS, "us_per_bit"):
        return tuple(_TIME_UNITS)
    return tuple(UNIT_BYTES) if key == "bytes" else tuple(_RATE_UNITS) if key == "bits_per_s" else ()


def _is_figure(text: str) -> bool:
    try:
        return Decimal(text.replace(",", ".")).is_finite()
    except InvalidOperation:
        return False


def _several(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")

"""The cells of somebody else's table: which sign parts them, which column is which, and numbers in their units."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from loadgo.errors import BadArgument
from loadgo.notation.units import TIME_S

NEEDED = ("bytes", "direction", "cpu_s")
TEXTS = ("direction", "method", "table", "estimated")
KNOWN = (
    *NEEDED, "real_s", "bits_per_s", "us_per_bit", "load", "message", "messages", "faults",
    "method", "table", "estimated",
)  # fmt: skip
TIMES = ("cpu_s", "real_s")
_MOST = Decimal(10) ** 18
_TIME_UNITS = {unit: round(math.log10(TIME_S[unit])) for unit in ("s", "ms", "us", "ns")}
_BYTE_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_RATE_UNITS = {"bit/s": 0, "kbit/s": 3, "Mbit/s": 6, "Gbit/s": 9}
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Place:
    """Where a column stands, and in which unit its figures are."""

    at: int
    unit: str = ""


def parting_sign(first_line: str) -> str:
    """The sign between the cells: a comma, a semicolon or a tabulator, whichever the line of names has most of."""
    return max((",", ";", "\t"), key=first_line.count)


def lines_of(path: str, text: str, sign: str) -> Iterator[list[str]]:
    """The lines with something in them, as cells; raises `ValueError` where they are no table."""
    try:
        for line in csv.reader(io.StringIO(text), delimiter=sign):
            if any(cell.strip() for cell in line):
                yield line
    except csv.Error as why:
        raise BadArgument(f"{path} is no table of cells: {why}") from None


def places(path: str, names: Sequence[str], columns: Mapping[str, str]) -> dict[str, Place]:
    """Where each column of `KNOWN` is, `columns` saying what the file calls it: `NAME`, or `NAME:UNIT`.

    Raises `ValueError` for names and units that are not there, and for a first line of figures.
    """
    if sum(_is_figure(name) for name in names) * 2 > len(names):
        raise BadArgument(f"{path} has figures in its first line: put a line of names above it, such as {_header()}")
    unknown = [key for key in columns if key not in KNOWN]
    if unknown:
        raise BadArgument(f"`columns`: there is no {', '.join(unknown)}; these are: {', '.join(KNOWN)}").about(
            "columns"
        )
    asked = {key: _named(key, columns.get(key, key), names) for key in KNOWN}
    missing = [asked[key][0] for key in columns if asked[key][0] not in names]
    if missing:
        raise BadArgument(f"{path} has no column {', '.join(missing)}: it has {_several(names)}")
    there = {key: (name, unit) for key, (name, unit) in asked.items() if name in names}
    twice = [name for name, _ in there.values() if list(names).count(name) > 1]
    if twice:
        raise BadArgument(f"{path} has more than one column {twice[0]}: give each a name of its own")
    lacking = [key for key in NEEDED if key not in there]
    if lacking:
        told = ",".join(f"{key}=NAME" for key in lacking)
        raise BadArgument(
            f"{path}: say which column is {', '.join(lacking)}, with `columns={told}`; it has {_several(names)}"
        ).about("columns")
    return {key: Place(list(names).index(name), unit) for key, (name, unit) in there.items()}


def cells_of(line: Sequence[str], where: Mapping[str, Place], sign: str) -> dict[str, str]:
    """The cells of a line by the names of `KNOWN`, figures in our units; raises `ValueError` for what is no figure."""
    found = {key: cell for key, place in where.items() if place.at < len(line) and (cell := line[place.at].strip())}
    if sign == ";":
        found |= {key: _point(key, cell) for key, cell in found.items() if key not in TEXTS and "," in cell}
    scaled = {key: _scaled(key, cell, where[key].unit) for key, cell in found.items() if where[key].unit}
    return {**found, **scaled}


def number(cells: Mapping[str, str], key: str) -> Decimal:
    """A figure, exactly as it is written; raises `ValueError` for what is no number of 0 or more."""
    text = cells[key]
    found = _decimal(key, text)
    if not found.is_finite() or found < 0 or found > _MOST or 0 < found < 1 / _MOST:
        raise BadArgument(f"{key} {text!r} is no number of 0 or more, up to {_MOST:.0e}")
    return found


def _decimal(key: str, text: str) -> Decimal:
    if "," in text:
        if not _THOUSANDS.fullmatch(text):
            raise BadArgument(
                f"{key} {text!r} is no number: a comma stands before three digits, a point before decimals"
            )
        text = text.replace(",", "")
    if key in TIMES and (clock := _CLOCK.fullmatch(text)):
        hours, minutes, seconds = clock.groups()
        return 3600 * Decimal(hours or 0) + 60 * Decimal(minutes) + Decimal(seconds)
    try:
        return Decimal(text)
    except InvalidOperation:
        raise BadArgument(f"{key} {text!r} is no number") from None


def _point(key: str, text: str) -> str:
    """A figure between semicolons, where the comma stands before decimals."""
    if "." in text or text.count(",") > 1:
        raise BadArgument(f"{key} {text!r} may mean two numbers: write it without signs between thousands")
    return text.replace(",", ".")


def _scaled(key: str, text: str, unit: str) -> str:
    found = _decimal(key, text)
    if key == "bytes":
        return str((found * _BYTE_UNITS[unit]).normalize().to_integral_value()) if found.is_finite() else text
    power = _TIME_UNITS[unit] + (6 if key == "us_per_bit" else 0) if unit in _TIME_UNITS else _RATE_UNITS[unit]
    return str(found.scaleb(power)) if found.is_finite() else text


def _named(key: str, asked: str, names: Sequence[str]) -> tuple[str, str]:
    """The column's name and its unit, which stands behind a colon unless that is the name's own."""
    name, colon, unit = asked.rpartition(":")
    if asked in names or not colon:
        return asked, ""
    units = units_of(key)
    if unit not in units:
        told = f"units of {key} are {', '.join(units)}" if units else f"{key} has no unit"
        raise BadArgument(f"`columns={key}={asked}`: {told}, and there is no column of that name").about("columns")
    return name, unit


def units_of(key: str) -> tuple[str, ...]:
    """The units that figures of a column may be in."""
    if key in (*TIMES, "us_per_bit"):
        return tuple(_TIME_UNITS)
    return tuple(_BYTE_UNITS) if key == "bytes" else tuple(_RATE_UNITS) if key == "bits_per_s" else ()


def _is_figure(text: str) -> bool:
    try:
        return Decimal(text.replace(",", ".")).is_finite()
    except InvalidOperation:
        return False


def _several(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _header() -> str:
    return ",".join(NEEDED)

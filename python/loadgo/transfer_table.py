"""Reads a table of transfers in CSV by naming its columns; rows that contradict themselves are named."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

NEEDED = ("bytes", "direction", "cpu_s")
KNOWN = (*NEEDED, "real_s", "bits_per_s", "us_per_bit", "load", "messages", "faults", "method", "table")
_MOST = Decimal(10) ** 18
_TEXTS = ("direction", "method", "table")
_SENDS = ("s", "send", "sends", "sent")
_RECEIVES = ("r", "receive", "receives", "received")


@dataclass(frozen=True)
class Observed:
    """A transfer as somebody measured it; None where the table does not say."""

    place: str
    """`row 33 of table 2`: where the file has it."""
    direction: str
    """`s` or `r`."""
    method: str
    """Empty where the table has none."""
    bytes: int
    cpu_s: float
    real_s: float | None = None
    messages: int | None = None
    faults: int | None = None
    load: float | None = None

    @property
    def bits(self) -> int:
        """Bits of the file."""
        return 8 * self.bytes


@dataclass(frozen=True)
class Table:
    """The transfers of a file that hold together, and what is said of those that do not."""

    name: str
    transfers: tuple[Observed, ...]
    contradictions: tuple[str, ...]
    """Of rows that are left in: printed figures that do not follow from the others, each with its place."""
    left_out: tuple[str, ...]
    """Rows that cannot be read, and why."""


def read_table(path: str | Path, columns: Mapping[str, str] | None = None) -> Table:
    """The table in the CSV file `path`; `columns` says what the file calls a column of `KNOWN` where it is not that.

    Raises `ValueError` in words for a file that is none, lacks a column that is needed, or has no row that can be read.
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8: write the table as CSV in UTF-8") from None
    lines = list(csv.reader(io.StringIO(text)))
    if not lines:
        raise ValueError(f"{path} is empty: a table has a line of names, and a line a transfer")
    places = _places(str(path), [cell.strip() for cell in lines[0]], dict(columns or {}))
    found: list[Observed] = []
    wrong: list[str] = []
    left_out: list[str] = []
    counts: dict[str, int] = {}
    for line in (line for line in lines[1:] if any(cell.strip() for cell in line)):
        cells = {key: line[at].strip() for key, at in places.items() if at < len(line) and line[at].strip()}
        place = _place(cells.get("table", ""), counts)
        try:
            found.append(_observed(cells, place))
            wrong += [f"{place}: {told}" for told in contradictions(cells)]
        except ValueError as mistake:
            left_out.append(f"{place}: {mistake}")
    if not found:
        raise ValueError(f"{path} has no row that can be read" + (f": {left_out[0]}" if left_out else ""))
    return Table(name, tuple(found), tuple(wrong), tuple(left_out))


def _places(path: str, names: Sequence[str], columns: dict[str, str]) -> dict[str, int]:
    unknown = [key for key in columns if key not in KNOWN]
    if unknown:
        raise ValueError(f"--columns: there is no {', '.join(unknown)}; these are: {', '.join(KNOWN)}")
    missing = [asked for asked in columns.values() if asked not in names]
    if missing:
        raise ValueError(f"{path} has no column {', '.join(missing)}: it has {', '.join(names)}")
    places = {key: names.index(columns.get(key, key)) for key in KNOWN if columns.get(key, key) in names}
    lacking = [key for key in NEEDED if key not in places]
    if lacking:
        told = ",".join(f"{key}=NAME" for key in lacking)
        raise ValueError(
            f"{path}: say which column is {', '.join(lacking)}, with --columns {told}; it has {', '.join(names)}"
        )
    return places


def _place(table: str, counts: dict[str, int]) -> str:
    counts[table] = counts.get(table, 0) + 1
    return f"row {counts[table]} of table {table}" if table else f"row {counts[table]}"


def _observed(cells: Mapping[str, str], place: str) -> Observed:
    absent = [key for key in NEEDED if key not in cells]
    if absent:
        raise ValueError(f"no {', '.join(absent)}")
    numbers = {key: float(_number(cells, key)) for key in cells if key not in _TEXTS}
    whole = {key: int(numbers[key]) for key in ("bytes", "messages", "faults") if key in numbers}
    if numbers["bytes"] != whole["bytes"]:
        raise ValueError(f"{cells['bytes']} bytes are no whole number")
    return Observed(
        place=place,
        direction=_direction(cells["direction"]),
        method=cells.get("method", ""),
        bytes=whole["bytes"],
        cpu_s=numbers["cpu_s"],
        real_s=numbers.get("real_s"),
        messages=whole.get("messages"),
        faults=whole.get("faults"),
        load=numbers.get("load"),
    )


def _direction(text: str) -> str:
    if text.lower() in _SENDS:
        return "s"
    if text.lower() in _RECEIVES:
        return "r"
    raise ValueError(f"direction {text!r} is neither s (sent) nor r (received)")


def _number(cells: Mapping[str, str], key: str) -> Decimal:
    try:
        number = Decimal(cells[key].replace(",", ""))
    except InvalidOperation:
        raise ValueError(f"{key} {cells[key]!r} is no number") from None
    if not number.is_finite() or number < 0 or number > _MOST or 0 < number < 1 / _MOST:
        raise ValueError(f"{key} {cells[key]!r} is no number of 0 or more, up to {_MOST:.0e}")
    return number


def contradictions(cells: Mapping[str, str]) -> list[str]:
    """What a row's figures say against each other; its cells by the names of `KNOWN`.

    A printed figure may be off by one unit of its last place, whether it was rounded or cut. The formulas are the
    right way up: bits a second are bits over real time, which RFC 392 printed upside down.
    """
    bits = 8 * float(_number(cells, "bytes"))
    cpu = _spread(cells, "cpu_s")
    found = []
    if "real_s" in cells:
        real = _spread(cells, "real_s")
        if cpu[0] > real[1]:
            found.append(f"{cells['cpu_s']} s of processor time in {cells['real_s']} s of real time")
        if "bits_per_s" in cells:
            found += _apart(cells, "bits_per_s", bits, real, 1.0, "real time")
    if "us_per_bit" in cells and bits:
        low, high = _spread(cells, "us_per_bit")
        if 1e6 * cpu[1] / bits < low or 1e6 * cpu[0] / bits > high:
            ours = 1e6 * float(_number(cells, "cpu_s")) / bits
            found.append(f"{cells['us_per_bit']} us a bit printed, {ours:.2f} from its processor time and bytes")
    return found


def _apart(
    cells: Mapping[str, str], key: str, bits: float, over: tuple[float, float], factor: float, what: str
) -> list[str]:
    low, high = _spread(cells, key)
    least = factor * bits / over[1] if over[1] else math.inf
    most = factor * bits / over[0] if over[0] else math.inf
    if most < low or least > high:
        return [f"{cells[key]} bits a second printed, {least:.5g} to {most:.5g} from its bytes and {what}"]
    return []


def _spread(cells: Mapping[str, str], key: str) -> tuple[float, float]:
    """What a printed number may stand for: one unit of its last place more or less."""
    number = _number(cells, key)
    exponent = number.as_tuple().exponent
    unit = 10.0 ** (exponent if isinstance(exponent, int) else 0)
    return max(0.0, float(number) - unit), float(number) + unit

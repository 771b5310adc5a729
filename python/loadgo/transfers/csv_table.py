"""Reads a table of transfers in CSV by naming its columns; rows that contradict themselves are named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from loadgo.errors import BadArgument
from loadgo.transfers.csv_cells import NEEDED, TEXTS, Place, cells_of, lines_of, number, parting_sign, places

THIS_HOST = "this host"
"""What a table of rows that were made here is called."""

_SENDS = ("s", "send", "sends", "sent")
_RECEIVES = ("r", "receive", "receives", "received")
_BOTH = ("b", "both")
_THOUSANDTHS = {-3: "thousands of seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}


@dataclass(frozen=True, slots=True)
class Observed:
    """A transfer as somebody measured it; None where the table does not say."""

    place: str
    """`row 33 of table 2`: where the file has it."""
    direction: str
    """`s`, `r`; `b` where what was sent and received share one processor time, as a program's does."""
    method: str
    """Empty where the table has none."""
    bytes: int
    cpu_s: float
    real_s: float | None = None
    messages: int | None = None
    faults: int | None = None
    load: float | None = None
    message: int | None = None
    """The most bytes of a call."""

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
    remarks: tuple[str, ...] = ()
    """What all rows together look like: figures in another unit than they should be."""
    estimated: tuple[str, ...] = ()
    """The columns that the table itself calls estimates, in one of its rows at least."""


def read_table(path: str | Path, columns: Mapping[str, str] | None = None) -> Table:
    """The table in the CSV file `path`; `columns` says what the file calls a column of `KNOWN` where it is not that,
    and its unit behind a colon where it is another: `runtime:ms`.

    Raises `ValueError` in words for a file that is none, lacks a column that is needed, or has no row that can be read;
    `OSError` for one that is not there.
    """
    text = _text(path)
    sign = parting_sign(text.partition("\n")[0])
    lines = lines_of(str(path), text, sign)
    names = next(lines, None)
    if names is None:
        raise BadArgument(f"{path} is empty: a table has a line of names, and a line a transfer")
    where = places(str(path), [name.strip() for name in names], dict(columns or {}))
    found: list[Observed] = []
    wrong: list[str] = []
    left_out: list[str] = []
    counts: dict[str, int] = {}
    factors: dict[str, list[float]] = {}
    estimated: dict[str, None] = {}
    for line in lines:
        place = _place(_cell(line, where.get("table")), counts)
        try:
            cells = cells_of(line, where, sign)
            found.append(_observed(cells, place))
            wrong += [f"{place}: {told}" for told in contradictions(cells)]
            _compare(cells, found[-1], factors)
            estimated |= dict.fromkeys(cells.get("estimated", "").split())
        except ValueError as mistake:
            left_out.append(f"{place}: {mistake}")
    if not found:
        raise BadArgument(f"{path} has no row that can be read" + (f": {left_out[0]}" if left_out else ""))
    remarks = tuple(_units(factors))
    return Table(Path(path).name, tuple(found), tuple(wrong), tuple(left_out), remarks, tuple(estimated))


def _cell(line: list[str], place: Place | None) -> str:
    return line[place.at].strip() if place is not None and place.at < len(line) else ""


def _text(path: str | Path) -> str:
    content = Path(path).read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:4096]:
        raise BadArgument(f"{path} is UTF-16, or no text at all: write the table as CSV in UTF-8")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as why:
        line = content[: why.start].count(b"\n") + 1
        raise BadArgument(f"{path} is not UTF-8 (line {line}): write the table as CSV in UTF-8") from None


def _compare(cells: Mapping[str, str], one: Observed, factors: dict[str, list[float]]) -> None:
    """Adds how many times too great the row's times are, by its other figures."""
    if "us_per_bit" in cells and one.bits and one.cpu_s and (printed := float(number(cells, "us_per_bit"))):
        factors.setdefault("cpu_s", []).append(1e6 * one.cpu_s / one.bits / printed)
    if "bits_per_s" in cells and one.bits and one.real_s and (printed := float(number(cells, "bits_per_s"))):
        factors.setdefault("real_s", []).append(one.real_s * printed / one.bits)


def _units(factors: Mapping[str, list[float]]) -> list[str]:
    """A remark on each time that is in another unit, as most rows have it."""
    found = []
    for key, told in factors.items():
        powers = math.log10(median(told))
        power = 3 * round(powers / 3)
        if power in _THOUSANDTHS and abs(powers - power) < 0.1:
            unit = {3: "ms", 6: "us", 9: "ns"}.get(power)
            remedy = f": say so with --columns {key}=NAME:{unit}" if unit else ""
            found.append(f"{key} seems to be in {_THOUSANDTHS[power]}, by the other columns{remedy}")
    return found


def _place(table: str, counts: dict[str, int]) -> str:
    counts[table] = counts.get(table, 0) + 1
    return f"row {counts[table]} of table {table}" if table else f"row {counts[table]}"


def _observed(cells: Mapping[str, str], place: str) -> Observed:
    absent = [key for key in NEEDED if key not in cells]
    if absent:
        raise BadArgument(f"no {', '.join(absent)}")
    numbers = {key: float(number(cells, key)) for key in cells if key not in TEXTS}
    whole = {key: int(numbers[key]) for key in ("bytes", "message", "messages", "faults") if key in numbers}
    broken = next((key for key, value in whole.items() if numbers[key] != value), None)
    if broken is not None:
        raise BadArgument(f"{cells[broken]} {broken} are no whole number")
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
        message=whole.get("message"),
    )


def _direction(text: str) -> str:
    if text.lower() in _SENDS:
        return "s"
    if text.lower() in _RECEIVES:
        return "r"
    if text.lower() in _BOTH:
        return "b"
    raise BadArgument(f"direction {text!r} is neither s (sent) nor r (received), nor b (both together)")


def contradictions(cells: Mapping[str, str]) -> list[str]:
    """What a row's figures say against each other; its cells by the names of `KNOWN`.

    A printed figure may be off by one unit of its last place, whether it was rounded or cut. The formulas are the
    right way up: bits a second are bits over real time, which RFC 392 printed upside down. Where both ways share a
    row, several processes may, which can use more than the real time.
    """
    bits = 8 * float(number(cells, "bytes"))
    cpu = _spread(cells, "cpu_s")
    found = []
    if "real_s" in cells:
        real = _spread(cells, "real_s")
        if cpu[0] > real[1] and cells.get("direction", "").lower() not in _BOTH:
            found.append(f"{cells['cpu_s']} s of processor time in {cells['real_s']} s of real time")
        if "bits_per_s" in cells:
            found += _apart(cells, "bits_per_s", bits, real, 1.0, "real time")
    if "us_per_bit" in cells and bits:
        low, high = _spread(cells, "us_per_bit")
        if 1e6 * cpu[1] / bits < low or 1e6 * cpu[0] / bits > high:
            ours = 1e6 * float(number(cells, "cpu_s")) / bits
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
    printed = number(cells, key)
    exponent = printed.as_tuple().exponent
    unit = 10.0 ** (exponent if isinstance(exponent, int) else 0)
    return max(0.0, float(printed) - unit), float(printed) + unit

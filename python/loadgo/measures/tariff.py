"""A tariff: what is charged for, and its prices, from a bundled file, one's own, or a machine's.

Tariffs are TOML files, bundled in `tariffs/` or one's own; `docs/cost.md` names the keys. A price that is not from a
printed source names itself an assumption.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument

PRICES = {
    "cpu_hour": "a CPU hour",
    "paging_wait_hour": "an hour of paging wait",
    "connect_hour": "an hour logged in",
    "memory_gigabyte_hour": "a gigabyte of memory for an hour",
    "gigabyte_out": "a gigabyte of output",
    "gigabyte_in": "a gigabyte of input",
    "machine_hour": "an hour of the whole machine",
}
"""What may be charged for: the keys of a tariff, and what each is the price of. A gigabyte is 10⁹ bytes."""

MOST_PRICE = 1e15
"""Nobody charges more, in any currency; and sums of such prices are still numbers."""

_TOLD = ("title", "source", "assumption", "currency")
_KEYS = (*_TOLD, *PRICES, "shifts")


@dataclass(frozen=True)
class Tariff:
    """The prices of one shift; 0 is not charged for."""

    name: str
    title: str
    source: str
    assumption: bool
    """True when nobody ever charged this price."""
    currency: str
    shift: str
    """`1`, `2`, `3`; empty where there is one price for all."""
    cpu_hour: float
    paging_wait_hour: float = 0.0
    """Charged by systems on which a program that waits for its swap holds the machine; else 0."""
    connect_hour: float = 0.0
    """For a user who is logged in, whatever he does."""
    memory_gigabyte_hour: float = 0.0
    gigabyte_out: float = 0.0
    gigabyte_in: float = 0.0
    machine_hour: float = 0.0
    """The rent of the whole machine: whoever is there shares it."""

    @property
    def label(self) -> str:
        """The name, and the shift where there are shifts."""
        return f"{self.name}, shift {self.shift}" if self.shift else self.name

    def prices(self) -> dict[str, float]:
        """What is charged for, by the keys of `PRICES`."""
        return {key: price for key in PRICES if (price := getattr(self, key))}

    def in_words(self) -> str:
        """All prices in a line: `$508 a CPU hour + $2 an hour logged in`."""
        told = self.prices()
        names = dict(PRICES)
        if told.get("cpu_hour") and told.get("cpu_hour") == told.get("paging_wait_hour"):
            names["cpu_hour"] += " and hour of paging wait"
            del told["paging_wait_hour"]
        words = [f"{self.currency}{price_words(price)} {names[key]}" for key, price in told.items()]
        return " + ".join(words) or "nothing is charged for"


def price_words(price: float) -> str:
    """A price as it would be printed: `508`, `474.60`, `0.0003`."""
    if price == round(price):
        return f"{price:,.0f}"
    return f"{price:,.2f}" if math.isclose(price, round(price, 2)) else f"{price:,.10g}"


def bundled_tariffs() -> list[str]:
    """The names of the bundled tariffs."""
    files = resources.files("loadgo").joinpath("data", "tariffs").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in files if entry.name.endswith(".toml"))


def tariff_text(name: str) -> str:
    """The file of a bundled tariff, to begin one's own with; raises `ValueError` with the names there are."""
    if name not in bundled_tariffs():
        raise BadArgument(f"tariff {name}: is not bundled; these are: {', '.join(bundled_tariffs())}")
    return resources.files("loadgo").joinpath("data", "tariffs", f"{name}.toml").read_text(encoding="utf-8")


def listed() -> list[list[str]]:
    """The rows of a list of the bundled tariffs: name, title, prices, source."""
    every = [load_shifts(name) for name in bundled_tariffs()]
    return [[one[0].name, one[0].title, shifts_in_words(one), one[0].source] for one in every]


def shifts_in_words(shifts: Sequence[Tariff]) -> str:
    """The prices of a tariff's shifts in a line."""
    return ", ".join(f"shift {one.shift}: {one.in_words()}" if one.shift else one.in_words() for one in shifts)


def load_tariff(asked: str = "default") -> Tariff:
    """The tariff `NAME`, `NAME:SHIFT` or `FILE.toml[:SHIFT]`; the first shift where none is named.

    Raises `ValueError` in words for an unknown name or shift, or a file that is no tariff.
    """
    return load_shifts(asked)[0]


def load_shifts(asked: str = "default") -> tuple[Tariff, ...]:
    """The tariff `asked` for on each of its shifts, or on the one that is named; raises what `load_tariff` does."""
    name, shift = _split(asked)
    text = _read(name)
    try:
        return _shifts(Path(name).stem, tomllib.loads(text), shift, text)
    except tomllib.TOMLDecodeError as mistake:
        raise BadArgument(f"tariff {name}: {mistake}") from mistake
    except ValueError as mistake:
        raise BadArgument(f"tariff {name}{mistake}") from mistake


def tariff_on(asked: str, system: Mapping[str, Any]) -> Tariff:
    """The tariff `asked` for, of a run on `system` (as `run.toml` has it).

    `default` is the machine's own prices where it has any, else the bundled default; `machine` and `machine:SHIFT` are
    the machine's own. Raises `ValueError` as `load_tariff` does, and where there are no prices of the machine's own.
    """
    return shifts_on(asked, system)[0]


def shifts_on(asked: str, system: Mapping[str, Any]) -> tuple[Tariff, ...]:
    """As `tariff_on`, on each shift where none is named."""
    name, _, shift = asked.partition(":")
    own = system.get("tariff", {})
    if name != "machine" and (asked != "default" or not own):
        return load_shifts(asked)
    if not own:
        raise BadArgument(f"tariff {asked}: the system has no prices of its own; name a tariff")
    told = {"source": f"the machine {system.get('name', '')}", "title": system.get("title", ""), **own}
    try:
        return _shifts("machine", told, shift, "")
    except ValueError as mistake:
        raise BadArgument(f"tariff {asked}{mistake}") from mistake


def _split(asked: str) -> tuple[str, str]:
    if ".toml" not in asked:
        name, _, shift = asked.partition(":")
        return name, shift
    stem, ending, rest = asked.rpartition(".toml")
    return stem + ending, rest.removeprefix(":")


def _read(name: str) -> str:
    if not name.endswith(".toml"):
        if name not in bundled_tariffs():
            known = ", ".join(bundled_tariffs())
            raise BadArgument(f"tariff {name}: is not bundled; these are: {known}, or name a file.toml")
        return tariff_text(name)
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError as refusal:
        raise BadArgument(f"tariff {name}: cannot be read: {refusal.strerror}") from refusal
    except UnicodeDecodeError as refusal:
        raise BadArgument(f"tariff {name}: is no text in UTF-8") from refusal


def _shifts(name: str, told: dict[str, Any], shift: str, text: str) -> tuple[Tariff, ...]:
    """Every shift of the file `text`, or `shift` alone; raises `ValueError` with the place first."""
    _known(told, _KEYS, text)
    shifts = told.get("shifts", {})
    if not isinstance(shifts, dict):
        raise _wrong(text, "shifts", "[shifts] must be a table of prices, such as 1 = 505.0")
    if not shifts:
        if shift:
            raise ValueError(": has one price for all shifts")
        return (_tariff(name, told, "", text),)
    if shift and shift not in shifts:
        raise ValueError(f": has no shift {shift}; it has {', '.join(shifts)}")
    every = {key: _tariff(name, told | _prices_of(key, value, text), key, text) for key, value in shifts.items()}
    return (every[shift],) if shift else tuple(every.values())


def _prices_of(shift: str, value: object, text: str) -> dict[str, Any]:
    """A shift is the price of a CPU hour, or a table of prices that stand for those of all shifts."""
    if not isinstance(value, dict):
        return {"cpu_hour": _price(value, shift, text)}
    _known(value, tuple(PRICES), text)
    return value


def _tariff(name: str, told: Mapping[str, Any], shift: str, text: str) -> Tariff:
    if not str(told.get("source", "")).strip():
        raise ValueError(": 'source' is missing: say where the prices are from")
    for key in ("title", "source", "currency"):
        if not isinstance(told.get(key, ""), str):
            raise _wrong(text, key, f"{key} must be a text, not {told[key]!r}")
    if not isinstance(told.get("assumption", False), bool):
        raise _wrong(text, "assumption", f"assumption must be true or false, not {told['assumption']!r}")
    prices = {key: _price(told[key], key, text) for key in PRICES if key in told}
    if not prices:
        raise ValueError(f": 'cpu_hour' is missing, and so is every other price: {', '.join(PRICES)}")
    return Tariff(
        name=name,
        title=told.get("title", name),
        source=told["source"],
        assumption=told.get("assumption", False),
        currency=told.get("currency", "$"),
        shift=shift,
        **({"cpu_hour": 0.0} | prices),
    )


def _known(told: Mapping[str, Any], keys: tuple[str, ...], text: str) -> None:
    for key in told:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(keys)}"
            raise _wrong(text, key, f"{key} is no key of a tariff; {meant}")


def _price(value: object, key: str, text: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_PRICE:
        example = f"write one, such as {key} = 0.05"
        raise _wrong(text, key, f"{key} must be a price from 0 to {MOST_PRICE:.0e}, not {value!r}: {example}")
    return float(value)


def _wrong(text: str, key: str, says: str) -> ValueError:
    """The mistake with the line of its key, where that is found."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.search(rf"(^|[\s{{,\[.\"']){re.escape(key)}[\"']?\s*(=|\])", line.partition("#")[0]):
            return ValueError(f", line {number}: {says}")
    return ValueError(f": {says}")

"""Tariffs: lists of prices, from a bundled file, a user's file, or a machine file.

Tariffs are TOML files; `docs/cost.md` describes the keys. A tariff whose prices are not from a printed source is marked
as an assumption.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, BadRun
from loadgo.notation.figures import price_of
from loadgo.notation.file_shapes import FLAG_SHAPE, any_shape, map_shape, number_shape, table_shape, text_shape
from loadgo.notation.toml_text import meant_instead, toml_table

PRICE_LABELS = {
    "cpu_hour": "a CPU hour",
    "paging_wait_hour": "an hour of page wait",
    "connect_hour": "an hour logged in",
    "memory_gigabyte_hour": "a gigabyte of memory for an hour",
    "gigabyte_out": "a gigabyte of output",
    "gigabyte_in": "a gigabyte of input",
    "machine_hour": "an hour of the whole machine",
}
"""The keys of prices in a tariff, each with the item that it prices. A gigabyte is 10⁹ bytes."""

MOST_PRICE = 1e15
"""Largest price, in any currency. Sums of such prices are still finite numbers."""

COUNTED_AT_LOW_PRICES = 1_000_000
"""Number of interactions whose cost is shown at low prices."""
_LOW_PRICE = 1e-3
"""Prices are low if a second costs less than this, and so does a megabyte of output or input."""

_PRICE = number_shape(0, MOST_PRICE)
_PRICE_KEYS = dict.fromkeys(PRICE_LABELS, _PRICE)
_TARIFF_KEYS = {
    "title": text_shape("words"),
    "source": text_shape("words", r"\S"),
    "assumption": FLAG_SHAPE,
    "currency": text_shape("words"),
    **_PRICE_KEYS,
    "shifts": map_shape(any_shape(_PRICE, table_shape(_PRICE_KEYS))),
}
_PRICED_SHIFTS = {"shifts": map_shape(any_shape(_PRICE, table_shape(_PRICE_KEYS, minProperties=1)), fewest=1)}
TARIFF_SHAPE = table_shape(
    _TARIFF_KEYS,
    ["source"],
    anyOf=[*({"required": [key]} for key in PRICE_LABELS), {"required": ["shifts"], "properties": _PRICED_SHIFTS}],
)
"""The shape of a tariff's file: there is a price for each shift."""


@dataclass(frozen=True)
class Tariff:
    """The prices of one shift; an item with the price 0 is free."""

    name: str
    title: str
    source: str
    assumption: bool
    """True when the prices are not from a printed source."""
    currency: str
    shift: str
    """Name of the shift, such as `1`; empty in a tariff without shifts."""
    cpu_hour: float
    paging_wait_hour: float = 0.0
    """Charged by systems on which a program holds the machine while it waits for its swap."""
    connect_hour: float = 0.0
    """Charged for each hour that a user is logged in."""
    memory_gigabyte_hour: float = 0.0
    gigabyte_out: float = 0.0
    gigabyte_in: float = 0.0
    machine_hour: float = 0.0
    """The rent of the whole machine, which all users share."""

    @property
    def label(self) -> str:
        """The name, with the shift in a tariff that has shifts."""
        return f"{self.name}, shift {self.shift}" if self.shift else self.name

    def prices(self) -> dict[str, float]:
        """The prices that are not 0, by the keys of `PRICE_LABELS`."""
        return {key: amount for key in PRICE_LABELS if (amount := getattr(self, key))}

    @property
    def counted(self) -> int:
        """Number of interactions, or of runs of a command, whose cost is shown: 1, or a million at low prices.

        It follows from the prices alone, so that all costs at a tariff are of the same number.
        """
        amounts = {"gigabyte_out": 1000, "gigabyte_in": 1000}
        dearest = max((price / amounts.get(key, 3600) for key, price in self.prices().items()), default=0.0)
        return COUNTED_AT_LOW_PRICES if 0.0 < dearest < _LOW_PRICE else 1

    def in_words(self) -> str:
        """All prices in a line, such as `$508 a CPU hour + $2 an hour logged in`."""
        prices = self.prices()
        names = dict(PRICE_LABELS)
        if prices.get("cpu_hour") and prices.get("cpu_hour") == prices.get("paging_wait_hour"):
            names["cpu_hour"] += " and hour of page wait"
            del prices["paging_wait_hour"]
        terms = [f"{price_of(amount, self.currency)} {names[key]}" for key, amount in prices.items()]
        return " + ".join(terms) or "nothing is charged for"


def bundled_tariffs() -> list[str]:
    """The names of the bundled tariffs."""
    return sorted(_bundled_texts())


def tariff_text(name: str) -> str:
    """The text of a bundled tariff's file. An unknown name raises `ValueError` with the names of all."""
    if name not in _bundled_texts():
        raise BadArgument(f"tariff {name}: is not bundled; these are: {', '.join(bundled_tariffs())}")
    return _bundled_texts()[name]


@cache
def _bundled_texts() -> dict[str, str]:
    """The text of each bundled tariff's file by name, read once: a laboratory prices a thousand runs."""
    files = resources.files("loadgo").joinpath("data", "tariffs").iterdir()
    texts = {entry.name: entry.read_text(encoding="utf-8") for entry in files if entry.name.endswith(".toml")}
    return {name.removesuffix(".toml"): text for name, text in texts.items()}


def tariff_list_rows() -> list[list[str]]:
    """The rows of a list of the bundled tariffs: name, title, prices, source."""
    tariffs = [load_shifts(name) for name in bundled_tariffs()]
    return [[shifts[0].name, shifts[0].title, shifts_in_words(shifts), shifts[0].source] for shifts in tariffs]


def shifts_in_words(shifts: Sequence[Tariff]) -> str:
    """The prices of a tariff's shifts, in a line."""
    words = [(f"shift {tariff.shift}: " if tariff.shift else "") + tariff.in_words() for tariff in shifts]
    return ", ".join(words)


def load_tariff(spec: str = "default") -> Tariff:
    """The tariff `NAME`, `NAME:SHIFT` or `FILE.toml[:SHIFT]`; its first shift if `spec` names none.

    An unknown name or shift, or a file that is no tariff, raises `ValueError`.
    """
    return load_shifts(spec)[0]


def load_shifts(spec: str = "default") -> tuple[Tariff, ...]:
    """The tariffs of all shifts of `spec`, or of the shift that it names. Raises `ValueError` as `load_tariff` does."""
    name, shift = _split_shift(spec)
    text = _read_tariff(name)
    try:
        return _parse_shifts(Path(name).stem, toml_table(text), shift, text)
    except tomllib.TOMLDecodeError as mistake:
        raise BadArgument(f"tariff {name}: {mistake}") from mistake
    except ValueError as mistake:
        raise BadArgument(f"tariff {name}{mistake}") from mistake


def tariff_on(spec: str, system: Mapping[str, Any]) -> Tariff:
    """The tariff `spec` for a run on `system`, a table of `run.toml`.

    `machine` and `machine:SHIFT` are the prices of the machine file. `default` is these prices if the machine has any,
    else the bundled default. Raises `ValueError` as `load_tariff` does, and for a machine without prices.
    """
    return shifts_on(spec, system)[0]


def shifts_on(spec: str, system: Mapping[str, Any]) -> tuple[Tariff, ...]:
    """The tariffs of all shifts of `spec`, or of the shift that it names, for a run on `system` as in `tariff_on`."""
    name, _, shift = spec.partition(":")
    machine_prices = system.get("tariff", {})
    if name != "machine" and (spec != "default" or not machine_prices):
        return load_shifts(spec)
    if not machine_prices:
        raise BadArgument(f"tariff {spec}: the system has no prices of its own; name a tariff")
    document = {"source": f"the machine {system.get('name', '')}", "title": system.get("title", ""), **machine_prices}
    try:
        whole = _parse_shifts("machine", document, "", "")
    except ValueError as mistake:
        raise BadRun(f"run.toml has prices of the machine that are damaged{mistake}") from mistake
    try:
        return _parse_shifts("machine", document, shift, "") if shift else whole
    except ValueError as mistake:
        raise BadArgument(f"tariff {spec}{mistake}") from mistake


def _split_shift(spec: str) -> tuple[str, str]:
    if ".toml" not in spec:
        name, _, shift = spec.partition(":")
        return name, shift
    stem, ending, suffix = spec.rpartition(".toml")
    return stem + ending, suffix.removeprefix(":")


def _read_tariff(name: str) -> str:
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
        raise BadArgument(f"tariff {name}: is not text in UTF-8") from refusal


def _parse_shifts(name: str, document: dict[str, Any], shift: str, text: str) -> tuple[Tariff, ...]:
    """The tariffs of all shifts of the file `text`, or of `shift`. A mistake raises `ValueError` with its line."""
    _check_keys(document, tuple(_TARIFF_KEYS), text)
    for key in document.keys() & PRICE_LABELS.keys():
        _parse_price(document[key], key, text)
    shifts = document.get("shifts", {})
    if not isinstance(shifts, dict):
        raise _mistake_at(text, "shifts", "[shifts] must be a table of prices, such as 1 = 505.0")
    if not shifts:
        if shift:
            raise ValueError(": has one price for all shifts")
        return (_parse_tariff(name, document, "", text),)
    if shift and shift not in shifts:
        raise ValueError(f": has no shift {shift}; it has {', '.join(shifts)}")
    tariffs = {
        key: _parse_tariff(name, document | _shift_prices(key, value, text), key, text) for key, value in shifts.items()
    }
    return (tariffs[shift],) if shift else tuple(tariffs.values())


def _shift_prices(shift: str, value: object, text: str) -> dict[str, Any]:
    """The prices of a shift, which is the price of a CPU hour, or a table that replaces prices of all shifts."""
    if not isinstance(value, dict):
        return {"cpu_hour": _parse_price(value, shift, text)}
    _check_keys(value, tuple(_PRICE_KEYS), text)
    return value


def _parse_tariff(name: str, document: Mapping[str, Any], shift: str, text: str) -> Tariff:
    if not str(document.get("source", "")).strip():
        raise ValueError(": 'source' is missing: name the source of the prices")
    for key in ("title", "source", "currency"):
        if not isinstance(document.get(key, ""), str):
            raise _mistake_at(text, key, f"{key} must be a text, not {document[key]!r}")
    if not isinstance(document.get("assumption", False), bool):
        raise _mistake_at(text, "assumption", f"assumption must be true or false, not {document['assumption']!r}")
    prices = {key: _parse_price(document[key], key, text) for key in PRICE_LABELS if key in document}
    if not prices:
        raise ValueError(f": there is no price; prices are {', '.join(PRICE_LABELS)}")
    return Tariff(
        name=name,
        title=document.get("title", name),
        source=document["source"],
        assumption=document.get("assumption", False),
        currency=document.get("currency", "$"),
        shift=shift,
        **({"cpu_hour": 0.0} | prices),
    )


def _check_keys(document: Mapping[str, Any], keys: tuple[str, ...], text: str) -> None:
    for key in document:
        if key not in keys:
            raise _mistake_at(text, key, f"{key} is no key of a tariff; {meant_instead(key, keys)}")


def _parse_price(value: object, key: str, text: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_PRICE:
        example = f"write one, such as {key} = 0.05"
        raise _mistake_at(text, key, f"{key} must be a price from 0 to {MOST_PRICE:,.0f}, not {value!r}: {example}")
    return float(value)


def _mistake_at(text: str, key: str, says: str) -> ValueError:
    """The mistake `says` with the line of its key, if the text has the key."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.search(rf"(^|[\s{{,\[.\"']){re.escape(key)}[\"']?\s*(=|\])", line.partition("#")[0]):
            return ValueError(f", line {number}: {says}")
    return ValueError(f": {says}")

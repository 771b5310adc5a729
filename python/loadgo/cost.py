"""What interactions cost at a tariff: a price for an hour of processor time and, where it was charged, of swapping.

Tariffs are TOML files, bundled in `tariffs/` or one's own. A price that is not from a printed source names itself an
assumption.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loadgo.classes import Classes
    from loadgo.usage import Usage

_HOUR_NS = 3.6e12


@dataclass(frozen=True)
class Tariff:
    """The prices of one shift."""

    name: str
    title: str
    source: str
    assumption: bool
    """True when nobody ever charged this price."""
    currency: str
    shift: str
    """`1`, `2`, `3`; empty where there is one price for all."""
    cpu_hour: float
    paging_wait_hour: float
    """Charged by systems on which a program that waits for its swap holds the machine; else 0."""


@dataclass(frozen=True)
class Cost:
    """A run's cost at a tariff; None where the processor time is not measured."""

    tariff: Tariff
    interaction: float | None
    """The mean cost of an interaction."""
    user_hour: float | None
    """The cost of an hour of one user's time."""


def bundled_tariffs() -> list[str]:
    """The names of the bundled tariffs."""
    files = resources.files("loadgo").joinpath("tariffs").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in files if entry.name.endswith(".toml"))


def load_tariff(asked: str = "default") -> Tariff:
    """The tariff `NAME`, `NAME:SHIFT` or `FILE.toml[:SHIFT]`; shift 1 where none is named.

    Raises `ValueError` in words for an unknown name or shift, or a file that is no tariff.
    """
    name, _, shift = asked.partition(":") if ".toml" not in asked else _split_path(asked)
    try:
        return _tariff(Path(name).stem, tomllib.loads(_read(name)), shift)
    except tomllib.TOMLDecodeError as mistake:
        raise ValueError(f"tariff {name}: {mistake}") from mistake
    except (KeyError, TypeError, ValueError) as mistake:
        if isinstance(mistake, KeyError):
            raise ValueError(f"tariff {name}: {mistake.args[0]!r} is missing") from mistake
        raise ValueError(f"tariff {name}: {mistake}") from mistake


def tariff_on(asked: str, system: Mapping[str, Any]) -> Tariff:
    """The tariff `asked` for, of a run on `system` (as `run.toml` has it).

    `default` is the machine's own prices where it has any, else the bundled default; `machine` and `machine:SHIFT` are
    the machine's own. Raises `ValueError` as `load_tariff` does, and where there are no prices of the machine's own.
    """
    name, _, shift = asked.partition(":")
    own = system.get("tariff", {})
    if name != "machine" and (asked != "default" or not own):
        return load_tariff(asked)
    if not own:
        raise ValueError(f"tariff {asked}: the system has no prices of its own; name a tariff")
    told = {"source": f"the machine {system.get('name', '')}", "title": system.get("title", ""), **own}
    try:
        return _tariff("machine", told, shift)
    except ValueError as mistake:
        raise ValueError(f"tariff {asked}: {mistake}") from mistake


def interaction_cost(usage: Usage, tariff: Tariff) -> float | None:
    """The mean cost of an interaction, in the tariff's currency; None when its processor time, or a wait that is
    charged, is not measured.
    """
    if usage.cpu_ns is None:
        return None
    cost = usage.cpu_ns * tariff.cpu_hour
    if tariff.paging_wait_hour:
        if usage.paging_wait_ns is None:
            return None
        cost += usage.paging_wait_ns * tariff.paging_wait_hour
    return cost / _HOUR_NS


def cost_of(usage: Usage, count: int, classes: Classes, tariff: Tariff) -> Cost:
    """The cost of a mean interaction, and of a user's hour, which is `count` of them over the users' time."""
    each = interaction_cost(usage, tariff)
    hours = classes.total_ns / _HOUR_NS
    return Cost(tariff=tariff, interaction=each, user_hour=None if each is None or not hours else each * count / hours)


def _split_path(asked: str) -> tuple[str, str, str]:
    stem, ending, rest = asked.partition(".toml")
    return stem + ending, ":", rest.removeprefix(":")


def _read(name: str) -> str:
    if name.endswith(".toml"):
        try:
            return Path(name).read_text(encoding="utf-8")
        except OSError as refusal:
            raise ValueError(f"cannot be read: {refusal.strerror}") from refusal
    if name not in bundled_tariffs():
        raise ValueError(f"is not bundled; these are: {', '.join(bundled_tariffs())}, or name a file.toml")
    return resources.files("loadgo").joinpath("tariffs", f"{name}.toml").read_text(encoding="utf-8")


def _tariff(name: str, told: dict[str, object], shift: str) -> Tariff:
    shifts = told.get("shifts", {})
    if not isinstance(shifts, dict):
        raise ValueError("[shifts] must be a table of prices, such as 1 = 505.0")
    if shifts:
        shift = shift or next(iter(shifts))
        if shift not in shifts:
            raise ValueError(f"has no shift {shift}; it has {', '.join(shifts)}")
    elif shift:
        raise ValueError("has one price for all shifts")
    price = _price(shifts[shift] if shifts else told["cpu_hour"], "cpu_hour")
    return Tariff(
        name=name,
        title=str(told.get("title", name)),
        source=str(told["source"]),
        assumption=bool(told.get("assumption", False)),
        currency=str(told.get("currency", "$")),
        shift=shift,
        cpu_hour=price,
        paging_wait_hour=_price(told.get("paging_wait_hour", 0.0), "paging_wait_hour"),
    )


def _price(value: object, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError(f"{key} must be a price of 0 or more, not {value!r}")
    return float(value)

"""Figures out of the files of the bundled machines, for arithmetic on them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from loadgo.errors import BadArgument
from loadgo.notation.laws import read_law


@cache
def told(machine: str) -> dict[str, Any]:
    """What the file of a bundled machine says, laid over what the machine says that it is `like`."""
    text = (resources.files("loadgo") / "data" / "machines" / f"{machine}.toml").read_text(encoding="utf-8")
    own = tomllib.loads(text)
    return _laid_over(told(own["like"]), own) if "like" in own else own


def number(machine: str, key: str) -> float:
    """The number at a dotted `key`; times in seconds. Raises `KeyError` for what is not there."""
    found: Any = told(machine)
    for part in key.split("."):
        found = found[part]
    if isinstance(found, str):
        law = read_law(found)
        if law.name != "fixed" or not law.timed:
            raise BadArgument(f"{key} of {machine} is {found!r}: no plain time")
        return law.mean / 1e9
    return float(found)


def priced(machine: str, processor_s: float) -> float:
    """What so much processor time costs by the machine's tariff."""
    return number(machine, "tariff.cpu_hour") * processor_s / 3600


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = dict(below)
    for key, value in above.items():
        old = both.get(key)
        both[key] = _laid_over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both

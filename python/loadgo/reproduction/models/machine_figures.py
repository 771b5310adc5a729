"""Figures from the files of the bundled machines, for arithmetic on them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from loadgo.errors import BadArgument
from loadgo.notation.laws import read_law


@cache
def machine_toml(machine: str) -> dict[str, Any]:
    """The file of a bundled machine, merged with the file that it is `like`."""
    text = (resources.files("loadgo") / "data" / "machines" / f"{machine}.toml").read_text(encoding="utf-8")
    own = tomllib.loads(text)
    return _merged(machine_toml(own["like"]), own) if "like" in own else own


def machine_number(machine: str, key: str) -> float:
    """The number at a dotted `key`; a time is in seconds. Raises `KeyError` for a missing key."""
    node: Any = machine_toml(machine)
    for name in key.split("."):
        node = node[name]
    if isinstance(node, str):
        law = read_law(node)
        if law.name != "fixed" or not law.timed:
            raise BadArgument(f"{key} of {machine} is {node!r}, which is not a fixed time")
        return law.mean / 1e9
    return float(node)


def processor_price(machine: str, processor_s: float) -> float:
    """The price of `processor_s` seconds of processor time, by the machine's tariff."""
    return machine_number(machine, "tariff.cpu_hour") * processor_s / 3600


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged

"""Dotted keys of TOML files: `commands."a.out".cpu` names three tables and values, one inside the other."""

from __future__ import annotations

import tomllib

import tomlkit


def dotted(*names: str) -> str:
    """The dotted key of `names`; a name that holds other signs than letters, digits, _ and - is quoted."""
    return ".".join(tomlkit.key(name).as_string() for name in names)


def parts_of(key: str) -> list[str]:
    """The names in a dotted key. Raises `ValueError` for a text that is no key of TOML."""
    names: list[str] = []
    inside = tomllib.loads(f"{key} = 0")
    while isinstance(inside, dict):
        if len(inside) != 1:
            raise ValueError(f"{key!r} is no dotted key")
        (name, inside), *_ = inside.items()
        names.append(name)
    return names

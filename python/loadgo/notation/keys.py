"""Dotted keys of TOML files, such as `commands."a.out".cpu`, which names a value inside two tables."""

from __future__ import annotations

import tomllib


def dotted(*names: str) -> str:
    """The dotted key of `names`. A name with characters other than letters, digits, _ and - is quoted."""
    import tomlkit

    return ".".join(tomlkit.key(name).as_string() for name in names)


def parts_of(key: str) -> list[str]:
    """The names in a dotted key. Raises `ValueError` for a text that is not a key of TOML."""
    names: list[str] = []
    table = tomllib.loads(f"{key} = 0")
    while isinstance(table, dict):
        if len(table) != 1:
            raise ValueError(f"{key!r} is no dotted key")
        (name, table), *_ = table.items()
        names.append(name)
    return names

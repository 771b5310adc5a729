"""Reading of a machine file by the simulator, with values set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.notation.toml_text import toml_table
from loadgo.records.conditions import MACHINE_FILE


def parsed_machine(text: str, set: Sequence[str] = ()) -> dict[str, Any]:
    """Reads a machine file's text with the values `set` (KEY=VALUE): title, processors, stores, merged text and more.

    Raises `errors.Mistake` for a mistake in the text, `ValueError` for one in `set`.
    """
    return _loadgo.parse_machine(text, list(set))


def fit_warnings_in(folder: Path) -> tuple[str, ...]:
    """The reasons to doubt the fit of the machine that a run was simulated on; empty without such a machine."""
    try:
        text = (folder / MACHINE_FILE).read_text(encoding="utf-8")
        return fit_warnings(text)
    except (OSError, ValueError):
        return ()


def fit_warnings(text: str) -> tuple[str, ...]:
    """The reasons to doubt the fit of the machine in a merged `text`; empty if it was not fitted, or fits well."""
    fit = toml_table(text).get("fit", {}) if "[fit]" in text else {}
    return tuple(f"The machine's fit is doubtful: {warning}." for warning in fit.get("warnings", ()))

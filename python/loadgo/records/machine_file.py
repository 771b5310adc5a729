"""Reading of a machine file by the simulator, with values set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loadgo import _loadgo


def parsed_machine(text: str, set: Sequence[str] = ()) -> dict[str, Any]:
    """Reads a machine file's text with the values `set` (KEY=VALUE): title, processors, stores, merged text and more.

    Raises `errors.Mistake` for a mistake in the text, `ValueError` for one in `set`.
    """
    return _loadgo.parse_machine(text, list(set))

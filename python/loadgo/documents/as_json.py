"""Values made fit for JSON, which has no NaN and no infinity."""

from __future__ import annotations

import math


def finite(value: object) -> object:
    """Returns the value with None in place of each number that is not finite."""
    if isinstance(value, dict):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

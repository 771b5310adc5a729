"""The line of a document on whether to believe its answer."""

from __future__ import annotations

_TRUST_LABEL = "Trust"
"""The word before the line."""
DATA_TRUST = "in the data: "
"""The beginning of a trust that speaks of the data alone, since they cannot tell the answer or a part of it."""


def trust_line(trust: str) -> str:
    """The line with its label; empty if it is empty."""
    if trust.startswith(DATA_TRUST):
        return f"{_TRUST_LABEL} {trust}"
    return f"{_TRUST_LABEL}: {trust}" if trust else ""

"""The methods of transfers as a list, in every format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loadgo.documents.listing import Listing, listing_presentation
from loadgo.documents.presentation import Presentation

_KEYS = ("method", "message_bytes", "why_not_here")


def method_presentation(message_bytes: Mapping[str, int], why_not: Mapping[str, str]) -> Presentation:
    """The parts of the list: each method with its bytes a call, and the reason why this host does not have it."""
    records = tuple(
        {"method": name, "message_bytes": size, "why_not_here": why_not.get(name)}
        for name, size in message_bytes.items()
    )
    rows = tuple((name, f"{size:,}", why_not.get(name, "")) for name, size in message_bytes.items())
    headings = ("method", "bytes a call", "why not here")
    listed = Listing("methods", headings, rows, _KEYS, records, figures=frozenset({1}))
    return replace(listing_presentation(listed), text=lambda _width, _color: "".join(map(_line, rows)))


def _line(row: tuple[str, str, str]) -> str:
    name, size, reason = row
    return f"{name:10} {size:>9} bytes a call{f'; not here: {reason}' if reason else ''}\n"

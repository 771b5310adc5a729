"""The methods of transfers as a list, in every format."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shutil import get_terminal_size

from loadgo.documents.listing import Listing, listing_presentation
from loadgo.documents.presentation import Presentation

_PAGE_CHARS = 100
_INDENT_SPACES = " " * 11
_KEYS = ("method", "message_bytes", "why_not_here")


def method_presentation(message_bytes: Mapping[str, int], why_not: Mapping[str, str]) -> Presentation:
    """The parts of the list: each method, its bytes a call, whether this host has it, and if not, the reason."""
    records = tuple(
        {"method": name, "message_bytes": size, "why_not_here": why_not.get(name)}
        for name, size in message_bytes.items()
    )
    rows = tuple(
        (name, f"{size:,}", "no" if name in why_not else "yes", why_not.get(name, ""))
        for name, size in message_bytes.items()
    )
    headings = ("method", "bytes a call", "on this host", "if not, the reason")
    listed = Listing("methods", headings, rows, _KEYS, records, figures=frozenset({1}))
    return replace(listing_presentation(listed), text=lambda width, _color: _text(rows, width))


def _text(rows: Sequence[tuple[str, str, str, str]], width: int | None) -> str:
    """A line for each method; below it, wrapped, why this host does not have it."""
    chars = width or get_terminal_size((_PAGE_CHARS, 24)).columns
    lines = []
    for name, size, _, reason in rows:
        lines.append(f"{name:10} {size:>9} byte{'' if size == '1' else 's'} a call")
        why = f"not here: {reason}" if reason else ""
        lines += textwrap.wrap(why, chars, initial_indent=_INDENT_SPACES, subsequent_indent=_INDENT_SPACES)
    return "\n".join([*lines, ""])

"""Two simulated machines as one and its changes, by the tables of their files: every choice of them is a machine.

A change is all that differs in one table (`[processors]`, `[memory]`, all of `[storage.*]`). A store that only one of
the two has is on every machine in between: nobody asks for it who was not told to. Tables that cannot be changed
without each other are one change.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from loadgo.attribution.results import Change
from loadgo.errors import BadArgument, LoadgoError
from loadgo.records.machine_file import parsed_machine
from loadgo.running.machines import find

STORAGE = "storage"
_NO_CHANGE = ("", "fit", "[load]")
"""What no user of a script meets: the title and source, where figures are from, users of the machine's own."""
_HEADING = re.compile(r"^\[(.+)\]$", re.MULTILINE)

Sections = dict[str, str]
"""A machine's file by its tables' headings; empty is what stands before them."""


@dataclass(frozen=True)
class Between:
    """Two machines, and the tables that differ, in groups: each is a change."""

    before: str
    """The machine's whole text."""
    after: str
    groups: tuple[tuple[str, ...], ...]

    def changes(self) -> tuple[Change, ...]:
        """The groups as changes: what each is called, and the values that differ."""
        told = [tomllib.loads(text) for text in (self.before, self.after)]
        return tuple(
            Change(", ".join(tables), tuple(said for table in tables for said in _said(told[0], told[1], table)))
            for tables in self.groups
        )

    def text(self, choice: int) -> str:
        """The machine with the chosen changes: bit i says that change i is made."""
        if choice == 0:
            return self.before
        if choice == (1 << len(self.groups)) - 1:
            return self.after
        chosen = {table for bit, tables in enumerate(self.groups) if choice >> bit & 1 for table in tables}
        return _mixed(_sections(self.before), _sections(self.after), chosen)

    def joined(self, places: Sequence[int]) -> Between:
        """The same with the groups at these places as one, the last."""
        kept = [tables for place, tables in enumerate(self.groups) if place not in places]
        return Between(self.before, self.after, (*kept, tuple(t for place in places for t in self.groups[place])))


def between(on: str, to: str, set: Sequence[str]) -> Between:
    """What is between two machines (names or files), with `set` over both.

    Raises `ValueError` when nothing differs, or a machine in between cannot be; `errors.Mistake` for a file's mistake.
    """
    before, after = (str(parsed_machine(find(name).text, set)["text"]) for name in (on, to))
    own = _sections(before), _sections(after)
    tables = list(dict.fromkeys(_table(heading) for sections in own for heading in sections))
    groups = tuple((table,) for table in tables if table not in _NO_CHANGE and _differs(*own, table))
    if not groups:
        raise BadArgument(f"nothing differs between {on} and {to}: there is no change to take apart")
    return _possible(Between(before, after, groups))


def _possible(asked: Between) -> Between:
    """With groups joined until every machine in between can be: each time the two that most of the failures part."""
    while failing := [choice for choice in range(1 << len(asked.groups)) if not _can_be(asked.text(choice))]:
        pairs = list(combinations(range(len(asked.groups)), 2))
        parted = [sum((choice >> i ^ choice >> j) & 1 for choice in failing) for i, j in pairs]
        if not pairs:
            raise BadArgument("the two machines have nothing in common that could be changed on its own")
        asked = asked.joined(pairs[parted.index(max(parted))])
    return asked


def _can_be(text: str) -> bool:
    try:
        parsed_machine(text)
    except (ValueError, LoadgoError):
        return False
    return True


def _sections(text: str) -> Sections:
    parts = _HEADING.split(text)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _table(heading: str) -> str:
    return heading.partition(".")[0]


def _differs(before: Sections, after: Sections, table: str) -> bool:
    """Whether the table differs; of the stores only those that both have."""
    own = [heading for heading in {**before, **after} if _table(heading) == table]
    if table == STORAGE:
        own = [heading for heading in own if heading in before and heading in after]
    return any(before.get(heading, "").strip() != after.get(heading, "").strip() for heading in own)


def _mixed(before: Sections, after: Sections, chosen: set[str]) -> str:
    """The tables that are chosen from the machine after, all others from that before."""
    found = [before[""]]
    for heading in [name for name in {**before, **after} if name]:
        table = _table(heading)
        if table in _NO_CHANGE:
            continue
        text = (after if table in chosen else before).get(heading)
        if text is None and table == STORAGE:
            text = before.get(heading, after.get(heading))
        if text is not None:
            found.append(f"[{heading}]{text}")
    return "".join(found)


def _said(before: Mapping[str, Any], after: Mapping[str, Any], table: str) -> Iterator[str]:
    """The values of a table that differ: `memory.frames 256 → 96`."""
    own: list[Mapping[str, Any]] = [told.get(table, {}) for told in (before, after)]
    if table == STORAGE:
        own = [{name: store for name, store in one.items() if all(name in both for both in own)} for one in own]
    flat = [dict(_values(told, table)) for told in own]
    for name in dict.fromkeys([*flat[0], *flat[1]]):
        values = [told.get(name, "none") for told in flat]
        if values[0] != values[1]:
            yield f"{name} {values[0]} → {values[1]}"


def _values(told: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(told, Mapping):
        for key, value in told.items():
            yield from _values(value, f"{name}.{key}")
    else:
        yield name, str(told)

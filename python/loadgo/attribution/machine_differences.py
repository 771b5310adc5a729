"""The differences between two simulated machines, by the tables of their files. Every combination is a machine.

A change is all that differs in one table (`[processors]`, `[memory]`, all of `[storage.*]`). A store that only one of
the two machines has belongs to every combination, where nothing uses it unless a route names it. Tables that cannot be
changed without each other are one change.
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

STORAGE_TABLE = "storage"
_IGNORED_TABLES = ("", "fit", "[load]")
"""Tables without effect on a script's users: title and source, origins of values, the machine's own users."""
_HEADING = re.compile(r"^\[(.+)\]$", re.MULTILINE)

Sections = dict[str, str]
"""The text of a machine file by table heading. The text before the first heading has an empty one."""


@dataclass(frozen=True)
class MachineDifferences:
    """Two machines, and the tables that differ, in groups. Each group is a change."""

    before: str
    """The complete text of the machine file."""
    after: str
    groups: tuple[tuple[str, ...], ...]

    def changes(self) -> tuple[Change, ...]:
        """The groups as changes, each with a name and the values that differ."""
        before, after = (tomllib.loads(text) for text in (self.before, self.after))
        return tuple(
            Change(", ".join(tables), tuple(text for table in tables for text in _differing(before, after, table)))
            for tables in self.groups
        )

    def text(self, choice: int) -> str:
        """The text of the machine with the chosen changes: bit i of `choice` says whether change i is made."""
        if choice == 0:
            return self.before
        if choice == (1 << len(self.groups)) - 1:
            return self.after
        chosen = {table for bit, tables in enumerate(self.groups) if choice >> bit & 1 for table in tables}
        return _mixed(_sections(self.before), _sections(self.after), chosen)

    def joined(self, indices: Sequence[int]) -> MachineDifferences:
        """The same differences with the groups at `indices` as one group, the last."""
        others = [tables for index, tables in enumerate(self.groups) if index not in indices]
        joined = tuple(table for index in indices for table in self.groups[index])
        return MachineDifferences(self.before, self.after, (*others, joined))


def between(on: str, to: str, set: Sequence[str]) -> MachineDifferences:
    """The differences between two machines (names or files), after `set` has changed values of both.

    Raises `ValueError` if nothing differs or the changes cannot be separated, `errors.Mistake` for a file's mistake.
    """
    before, after = (str(parsed_machine(find(name).text, set)["text"]) for name in (on, to))
    both = _sections(before), _sections(after)
    tables = list(dict.fromkeys(_table(heading) for sections in both for heading in sections))
    groups = tuple((table,) for table in tables if table not in _IGNORED_TABLES and _differs(*both, table))
    if not groups:
        raise BadArgument(f"nothing differs between {on} and {to}: there is no change to take apart")
    return _with_valid_machines(MachineDifferences(before, after, groups))


def _with_valid_machines(differences: MachineDifferences) -> MachineDifferences:
    """Joins groups until every combination is a valid machine.

    Each round joins the two groups that invalid machines separate most often: one is changed, and the other is not.
    """
    while invalid := [
        choice for choice in range(1 << len(differences.groups)) if not _is_valid(differences.text(choice))
    ]:
        pairs = list(combinations(range(len(differences.groups)), 2))
        separated = [sum((choice >> i ^ choice >> j) & 1 for choice in invalid) for i, j in pairs]
        if not pairs:
            raise BadArgument("the two machines have nothing in common that could be changed on its own")
        differences = differences.joined(pairs[separated.index(max(separated))])
    return differences


def _is_valid(text: str) -> bool:
    try:
        parsed_machine(text)
    except (ValueError, LoadgoError):
        return False
    return True


def _sections(text: str) -> Sections:
    first, *alternating = _HEADING.split(text)
    return {"": first, **dict(zip(alternating[::2], alternating[1::2], strict=True))}


def _table(heading: str) -> str:
    return heading.partition(".")[0]


def _differs(before: Sections, after: Sections, table: str) -> bool:
    """Whether a table differs. Only stores that both machines have are compared."""
    headings = [heading for heading in {**before, **after} if _table(heading) == table]
    if table == STORAGE_TABLE:
        headings = [heading for heading in headings if heading in before and heading in after]
    return any(before.get(heading, "").strip() != after.get(heading, "").strip() for heading in headings)


def _mixed(before: Sections, after: Sections, chosen: set[str]) -> str:
    """A machine file with the chosen tables from `after`, and all others from `before`."""
    texts = [before[""]]
    for heading in [name for name in {**before, **after} if name]:
        table = _table(heading)
        if table in _IGNORED_TABLES:
            continue
        text = (after if table in chosen else before).get(heading)
        if text is None and table == STORAGE_TABLE:
            text = before.get(heading, after.get(heading))
        if text is not None:
            texts.append(f"[{heading}]{text}")
    return "".join(texts)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any], table: str) -> Iterator[str]:
    """The values of a table that differ: `memory.frames 256 → 96`."""
    contents: list[Mapping[str, Any]] = [machine.get(table, {}) for machine in (before, after)]
    if table == STORAGE_TABLE:
        common = contents[0].keys() & contents[1].keys()
        contents = [{name: store for name, store in content.items() if name in common} for content in contents]
    flat = [dict(_values(content, table)) for content in contents]
    for name in dict.fromkeys([*flat[0], *flat[1]]):
        values = [by_name.get(name, "none") for by_name in flat]
        if values[0] != values[1]:
            yield f"{name} {values[0]} → {values[1]}"


def _values(content: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from _values(value, f"{name}.{key}")
    else:
        yield name, str(content)

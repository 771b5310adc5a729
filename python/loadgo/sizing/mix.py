"""Users of several classes in one load: heavy, ordinary and light ones, each class with a script of its own.

The scripts become one, in which every user takes one of them on logging in, by its weight, and stays with it. Who takes
which is the user's own draw, and the same on any system: so it is looked up beforehand on a machine that takes no time,
and a trial takes that one of many seeds with which the classes are as near to their weights as they can be.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomlkit

from loadgo.errors import BadArgument
from loadgo.running import bundled
from loadgo.running.prepared import line_count, parse_script_file, run_machine
from loadgo.sizing.curve import Class

MOST_LINES = 900_000
"""A pass holds no more: a class repeats its script as often as this lets it."""
SEEDS = 10
"""So many seeds are looked at for one trial."""

_WHOLE = {"login": "sh", "logout": "exit", "typing": None}
"""What is of the whole session, and must be the same in all scripts; and what it is when a script says nothing."""
_OF_GROUP = ("think", "until", "silence", "timeout", "status")
_MACHINE = 'title = "no time"\nsource = "none"\n[commands."*"]\ncpu = "0s"\n'


@dataclass(frozen=True)
class Mix:
    """Classes of users, and the one script that they all are logged in with."""

    classes: tuple[Class, ...]
    source: bundled.Source
    first_lines: tuple[int, ...]
    """The number of the first line of each class in that script."""


def mix_of(asked: str) -> Mix:
    """The mix `heavy.toml=1,ordinary.toml=3`: scripts, by bundled name or path, with weights in whole users.

    Raises `ValueError` for what is no mix, and for scripts that cannot be in one session; `errors.Mistake` for a script
    with a mistake.
    """
    parts = [part.strip() for part in asked.split(",") if part.strip()]
    if len(parts) < 2:
        raise BadArgument(f"mix {asked!r}: write at least two scripts with their weights, such as heavy.toml=1,light=6")
    found = [_part(part) for part in parts]
    classes = tuple(Class(source.path.stem, weight) for source, weight in found)
    if len({one.name for one in classes}) < len(classes):
        raise BadArgument(f"mix {asked!r}: two scripts have the same name")
    scripts = [tomllib.loads(source.text) for source, _ in found]
    text = _joined(scripts, [one.name for one in classes], [one.weight for one in classes])
    lines = [line_count(source.text) for source, _ in found]
    source = bundled.Source(requested=asked, path=Path("mix.toml"), text=text)
    return Mix(classes, source, tuple(1 + sum(lines[:place]) for place in range(len(lines))))


def seed_near(mix: Mix, users: int, seed: int) -> tuple[int, tuple[str, ...]]:
    """Of the seeds that belong to `seed`, that whose classes are nearest to their weights; and each user's class, from
    the first user on.
    """
    seeds = range(SEEDS * seed, SEEDS * (seed + 1))
    taken = {one: _taken(mix, _power(users), one)[:users] for one in seeds}
    whole = sum(one.weight for one in mix.classes)

    def off(one: int) -> float:
        counts = [taken[one].count(each.name) for each in mix.classes]
        shares = [users * each.weight / whole for each in mix.classes]
        return sum((count - share) ** 2 / share for count, share in zip(counts, shares, strict=True))

    best = min(seeds, key=off)
    return best, taken[best]


def _part(text: str) -> tuple[bundled.Source, int]:
    name, equals, weight = text.rpartition("=")
    if not equals or not weight.strip().isdigit() or not 1 <= int(weight) <= 1_000_000:
        raise BadArgument(f"mix: {text!r} is no script with its weight in whole users, such as heavy.toml=1")
    source = bundled.find_script(name.strip())
    parse_script_file(source)
    return source, int(weight)


def _joined(scripts: Sequence[Mapping[str, Any]], names: Sequence[str], weights: Sequence[int]) -> str:
    """The one script, as TOML."""
    whole: dict[str, Any] = {"name": "mix of " + ", ".join(names)}
    for key, usual in _WHOLE.items():
        told = {json.dumps(script.get(key, usual)) for script in scripts}
        if len(told) > 1:
            raise BadArgument(f"mix: the scripts differ in `{key}`, which is of a whole session: make it the same")
        if scripts[0].get(key, usual) is not None:
            whole[key] = scripts[0].get(key, usual)
    needs = list(dict.fromkeys(need for script in scripts for need in script.get("needs", [])))
    alternatives = [_class(script, weight) for script, weight in zip(scripts, weights, strict=True)]
    whole |= {"needs": needs, "lines": [{"choose": alternatives}]}
    for table in ("files", "env", "words"):
        whole[table] = _union(table, scripts)
    return tomlkit.dumps({key: value for key, value in whole.items() if value not in ({}, [])})


def _class(script: Mapping[str, Any], weight: int) -> dict[str, Any]:
    """A group that types the script again and again."""
    lines = line_count(tomlkit.dumps(script))
    inner = {key: script[key] for key in _OF_GROUP if key in script}
    inner.setdefault("think", "none")
    return {"weight": weight, "lines": [{"repeat": MOST_LINES // (lines * 100), **inner, "lines": script["lines"]}]}


def _union(table: str, scripts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for script in scripts:
        for key, value in script.get(table, {}).items():
            if found.setdefault(key, value) != value:
                raise BadArgument(f"mix: {key!r} under [{table}] is not the same in all scripts: give it another name")
    return found


def _power(users: int) -> int:
    """The power of two that is enough, so that few different numbers are looked up."""
    return 1 << max(users - 1, 15).bit_length()


@cache
def _taken(mix: Mix, users: int, seed: int) -> tuple[str, ...]:
    """The class of each user with this seed, from a run without thinking on a machine that takes no time."""
    from loadgo.records.tables import read_table

    options: dict[str, Any] = {
        "script": "mix",
        "command": [],
        "machine": "no time",
        "machine_text": _MACHINE,
        "set": [],
        "log_ins_at_once": None,
        "users": users,
        "passes": None,
        "duration_s": None,
        "warm_up_s": None,
        "until": "interactions=1",
        "arrivals_per_second": None,
        "seed": seed,
        "think": "none",
    }
    with tempfile.TemporaryDirectory(prefix="loadgo-mix-") as folder:
        run_machine(mix.source.text, options, f"{folder}/run", lambda _: True)
        rows = read_table(Path(folder) / "run", "interactions").sort("user", "sent_ns").group_by("user").first()
    first = dict(rows.select("user", "line").rows())
    names = [one.name for one in mix.classes]
    return tuple(_class_of(first[user], mix.first_lines, names) for user in sorted(first))


def _class_of(line: int, first_lines: Sequence[int], names: Sequence[str]) -> str:
    return next(name for start, name in reversed(list(zip(first_lines, names, strict=True))) if line >= start)

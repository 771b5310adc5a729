"""Mixes of users: several classes of users in one load, each with its own script.

The scripts are joined to one script. At log-in, each user draws one of them by weight and keeps it. The draws depend on
the seed alone, so a machine whose commands take no time shows them before a trial. Of several seeds, the trial uses the
one whose numbers of users are nearest to the weights.
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
from loadgo.sizing.curve import MixClass

MOST_PASS_LINES = 900_000
"""Most lines of a pass, below the parser's limit: a class repeats its script as often as this limit permits."""
CLASS_SEEDS_TRIED = 40
"""Most seeds of which a trial uses the one whose classes are nearest to their weights."""

_SESSION_DEFAULTS = {"login": "sh", "logout": "exit", "typing": None}
"""Keys of a session with their defaults. All scripts must have the same values."""
_GROUP_KEYS = ("think", "until", "silence", "settle", "timeout", "status")
_EMPTY_MACHINE_TOML = 'title = "no time"\nsource = "none"\n[commands."*"]\ncpu = "0s"\n'


@dataclass(frozen=True)
class UserMix:
    """Classes of users, and the script that joins their scripts."""

    classes: tuple[MixClass, ...]
    source: bundled.Source
    first_lines: tuple[int, ...]
    """The number of the first line of each class in `source`."""


def parse_mix(text: str, typing: float | str | None = None) -> UserMix:
    """Parses a mix such as `heavy.toml=1,ordinary.toml=3`: scripts, by bundled name or path, with integer weights.

    With `typing`, the rate of all users, the scripts may differ in theirs.

    A text that is not a mix, and scripts that cannot share a session, raise `ValueError`. A mistake in a script raises
    `errors.Mistake`.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) < 2:
        raise BadArgument(f"mix {text!r}: write at least two scripts with their weights, such as heavy.toml=1,light=6")
    weighted = [_parse_part(part) for part in parts]
    classes = tuple(MixClass(source.path.stem, weight) for source, weight in weighted)
    if len({mix_class.name for mix_class in classes}) < len(classes):
        raise BadArgument(f"mix {text!r}: two scripts have the same name")
    scripts = [tomllib.loads(source.text) for source, _ in weighted]
    if typing is not None:
        scripts = [script | {"typing": typing} for script in scripts]
    joined_text = _join_scripts(scripts, classes)
    lines = [line_count(source.text) for source, _ in weighted]
    source = bundled.Source(requested=text, path=Path("mix.toml"), text=joined_text)
    return UserMix(classes, source, tuple(1 + sum(lines[:index]) for index in range(len(lines))))


def script_or_mix_of(
    script: str | Path | None, mix: str | None, typing: float | str | None = None
) -> str | Path | UserMix:
    """The script or the mix of scripts that users type. Both together, or neither, raise `ValueError`.

    `typing` is the rate of all users, in place of the scripts'.
    """
    if (script is None) == (mix is None):
        raise BadArgument("name a script, or a mix of scripts with their weights: `mix=heavy.toml=1,light=6`").about(
            "mix"
        )
    return script if script is not None else parse_mix(str(mix), typing)


def nearest_seed(mix: UserMix, users: int, seed: int) -> tuple[int, tuple[str, ...]]:
    """The seed whose classes are nearest to their weights, of those that belong to `seed`, and each user's class.

    The first one is taken whose numbers of users differ from the weights by less than a user.
    """
    all_weights = sum(mix_class.weight for mix_class in mix.classes)
    shares = [users * mix_class.weight / all_weights for mix_class in mix.classes]
    nearest: tuple[float, int, tuple[str, ...]] | None = None
    for candidate in range(CLASS_SEEDS_TRIED * seed, CLASS_SEEDS_TRIED * (seed + 1)):
        classes = _drawn_classes(mix, _power_of_two(users), candidate)[:users]
        counts = [classes.count(mix_class.name) for mix_class in mix.classes]
        differences = [count - share for count, share in zip(counts, shares, strict=True)]
        distance = sum(off**2 / share for off, share in zip(differences, shares, strict=True))
        if nearest is None or distance < nearest[0]:
            nearest = distance, candidate, classes
        if all(abs(off) < 1 for off in differences):
            return candidate, classes
    assert nearest is not None
    return nearest[1:]


def _parse_part(text: str) -> tuple[bundled.Source, int]:
    name, equals, weight = text.rpartition("=")
    if not equals or not weight.strip().isdigit() or not 1 <= int(weight) <= 1_000_000:
        raise BadArgument(f"mix: {text!r} is not a script with an integer weight, such as heavy.toml=1")
    source = bundled.find_script(name.strip())
    parse_script_file(source)
    return source, int(weight)


def _join_scripts(scripts: Sequence[Mapping[str, Any]], classes: Sequence[MixClass]) -> str:
    """The joined script, as TOML."""
    joined: dict[str, Any] = {"name": "mix of " + ", ".join(mix_class.name for mix_class in classes)}
    for key, default in _SESSION_DEFAULTS.items():
        values = [script.get(key, default) for script in scripts]
        if any(value != values[0] for value in values):
            raise _differ_in(key, values, classes)
        if values[0] is not None:
            joined[key] = values[0]
    needs = list(dict.fromkeys(need for script in scripts for need in script.get("needs", [])))
    weighted = zip(scripts, classes, strict=True)
    alternatives = [_class_group(script, mix_class.weight) for script, mix_class in weighted]
    joined |= {"needs": needs, "lines": [{"choose": alternatives}]}
    for table in ("files", "env", "words"):
        joined[table] = _merge_tables(table, scripts)
    return tomlkit.dumps({key: value for key, value in joined.items() if value not in ({}, [])})


def _differ_in(key: str, values: Sequence[str | None], classes: Sequence[MixClass]) -> BadArgument:
    """The error about scripts with different values of a key that a whole session shares."""
    by_class = zip(classes, values, strict=True)
    has = "; ".join(f"{each.name} has {'none' if value is None else json.dumps(value)}" for each, value in by_class)
    about = f"mix: the scripts differ in {key}, and a session has one ({has})"
    if key == "typing":
        return BadArgument(f"{about}: give all users one rate with `typing`").about("typing")
    return BadArgument(f"{about}: write the same {key} in all of them")


def check_seed(seed: int, *, is_mix: bool) -> None:
    """Raises `BadArgument` if the seed of a search's first trial is out of range."""
    most_seed = (2**62 - 1) // (CLASS_SEEDS_TRIED if is_mix else 1)
    if not 0 <= seed <= most_seed:
        raise BadArgument(f"`seed={seed}` is out of range: seeds lie between 0 and {most_seed}").about("seed")


def _class_group(script: Mapping[str, Any], weight: int) -> dict[str, Any]:
    """A group of lines that repeats the script."""
    inner = {key: script[key] for key in _GROUP_KEYS if key in script}
    inner.setdefault("think", "none")
    repeated = {"repeat": max(1, MOST_PASS_LINES // _pass_lines(script["lines"])), **inner, "lines": script["lines"]}
    return {"weight": weight, "lines": [repeated]}


def _pass_lines(entries: Sequence[Any]) -> int:
    """Most lines that a user types for these entries of a script: lines and groups, with their repetitions."""
    total = 0
    for entry in entries:
        if isinstance(entry, str):
            total += 1
            continue
        if "choose" in entry:
            lines = max(_pass_lines([alternative]) for alternative in entry["choose"])
        else:
            lines = _pass_lines(entry["lines"]) if "lines" in entry else 1
        total += lines * int(entry.get("repeat", 1))
    return total


def _merge_tables(table: str, scripts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for script in scripts:
        for key, value in script.get(table, {}).items():
            if merged.setdefault(key, value) != value:
                raise BadArgument(f"mix: {key!r} under [{table}] is not the same in all scripts: give it another name")
    return merged


def _power_of_two(users: int) -> int:
    """The next power of two, at least 16: draws for few different numbers of users are cached."""
    return 1 << max(users - 1, 15).bit_length()


@cache
def _drawn_classes(mix: UserMix, users: int, seed: int) -> tuple[str, ...]:
    """The class of each user with this seed, from a short run on a machine whose commands take no time."""
    from loadgo.records.tables import read_table

    options: dict[str, Any] = {
        "script": "mix",
        "command": [],
        "machine": "no time",
        "machine_text": _EMPTY_MACHINE_TOML,
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
    names = [mix_class.name for mix_class in mix.classes]
    return tuple(_class_at_line(first[user], mix.first_lines, names) for user in sorted(first))


def _class_at_line(line: int, first_lines: Sequence[int], names: Sequence[str]) -> str:
    return next(name for start, name in reversed(list(zip(first_lines, names, strict=True))) if line >= start)

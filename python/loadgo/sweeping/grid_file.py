"""Reading of a grid file: every mistake has its line and column, and says what is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, Mistake
from loadgo.notation.file_shapes import (
    Shape,
    any_shape,
    list_shape,
    map_shape,
    number_shape,
    one_of_shape,
    table_shape,
    text_shape,
    whole_shape,
)
from loadgo.notation.quantities import MOST_USERS, number_or_text
from loadgo.notation.toml_text import meant_instead, parse_toml, place_of
from loadgo.running.folders import check_utf8
from loadgo.running.load import example_of, types_of
from loadgo.sweeping.grid import GRID_MEASURES, Grid

MOST_POINTS = 100_000_000
MOST_GRID_BYTES = 16 * 2**20
LOAD_KEYS = ("duration", "until", "passes", "warm_up", "think", "typing")
_MOST_SEED = 2**63 - 1
_SCRIPT_ONLY_KEYS = ("passes", "warm_up", "think", "typing")
"""The arguments of a load that only scripts have."""
_RANGE_KEYS = {"from": whole_shape(0), "to": whole_shape(0), "step": whole_shape(1)}


def _numbers_shape(least: int, most: int) -> Shape:
    """One whole number, a list of them, or a range."""
    one = whole_shape(least, most)
    ends = {"from": whole_shape(least, most), "to": whole_shape(least)}
    return any_shape(one, list_shape(one, unique=True), table_shape(_RANGE_KEYS | ends, ["from", "to"]))


def _argument_shape(argument: str) -> Shape:
    """An argument of a run, with the types that it may have there."""
    shapes: Mapping[type, Shape] = {
        Integral: whole_shape(-_MOST_SEED - 1, _MOST_SEED),
        Real: number_shape(-1e308, 1e308),
        str: text_shape(f"{argument} of a run"),
    }
    return any_shape(*(shapes[kind] for kind in types_of(argument)))


_NAME = text_shape("name or path", ".")
_SETTING = {"type": ["string", "number", "boolean"]}
_KEYS = {
    "title": text_shape("words", "."),
    "script": _NAME,
    "machine": any_shape(_NAME, list_shape(_NAME, unique=True)),
    "machines": any_shape(_NAME, list_shape(_NAME, unique=True)),
    "users": _numbers_shape(1, MOST_USERS),
    "set": {"$ref": "#/definitions/settings"},
    "seeds": any_shape(whole_shape(1, MOST_POINTS), *_numbers_shape(0, _MOST_SEED)["anyOf"][1:]),
    **{key: _argument_shape(key) for key in LOAD_KEYS},
    "measure": one_of_shape(GRID_MEASURES),
    "batch": whole_shape(1),
}
GRID_KEYS = tuple(_KEYS)
GRID_SHAPE = table_shape(
    _KEYS,
    definitions={"settings": map_shape(any_shape(_SETTING, list_shape(_SETTING), {"$ref": "#/definitions/settings"}))},
    dependencies={"script": ["users"]} | {key: ["script"] for key in _SCRIPT_ONLY_KEYS},
    oneOf=[{"required": ["machine"]}, {"required": ["machines"]}],
    anyOf=[{"required": ["script"]}, {"not": {"required": ["duration", "until"]}}],
)
"""The shape of a grid file."""


def read_grid(path: str | Path) -> Grid:
    """Reads the grid file at `path`. Paths in it start at its folder.

    Raises `Mistake` with line and column, `BadArgument` for a file that is no text, and `OSError`.
    """
    check_utf8("the name of the grid", path)
    place = Path(path)
    if place.is_dir():
        raise BadArgument(f"{place} is a folder; a grid is a TOML file")
    with place.open("rb") as file:
        content = file.read(MOST_GRID_BYTES + 1)
    if len(content) > MOST_GRID_BYTES:
        raise BadArgument(f"{place} is not a grid: it is larger than {MOST_GRID_BYTES // 2**20} MB")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise BadArgument(f"{place}: byte {error.start + 1} of the file is not UTF-8") from error
    try:
        return parse_grid(text, place.parent)
    except Mistake as mistake:
        raise mistake.in_file(str(path)) from None


def parse_grid(text: str, folder: Path = Path()) -> Grid:
    """The grid in a file's text. Paths in it start at `folder`. Raises `Mistake`."""
    return _GridTable(parse_toml(text), lambda key: place_of(text, key), folder).grid()


def grid_of(table: Mapping[str, Any]) -> Grid:
    """The grid of a mapping with the keys of a grid file. Raises `BadArgument` for a mistake in it."""
    try:
        return _GridTable(table, lambda _: (1, 1), Path()).grid()
    except Mistake as mistake:
        raise BadArgument(f"`grid`: {mistake.message}").about("grid") from None


class _GridTable:
    """A parsed grid file whose values are checked."""

    def __init__(self, table: Mapping[str, Any], place_of: Callable[[str], tuple[int, int]], folder: Path) -> None:
        self._table, self._place_of, self._folder = table, place_of, folder

    def grid(self) -> Grid:
        """The grid. Raises `Mistake` at the first mistake."""
        for key in self._table:
            if key not in GRID_KEYS:
                raise self._mistake(key, _unknown(key, GRID_KEYS))
        script = self._text("script")
        grid = Grid(
            machines=self._machines(),
            script=script,
            users=self._users(script),
            settings=self._settings(),
            seeds=self._seeds(),
            load=self._load(),
            measure=self._measure(script),
            title=self._text("title") or "",
            batch=self._batch(),
            folder=self._folder,
        )
        self._check_load(script)
        if grid.point_count > MOST_POINTS:
            raise self._mistake(
                "seeds", f"the grid has {grid.point_count:,} simulations; at most {MOST_POINTS:,}: divide it"
            )
        return grid

    def _mistake(self, key: str, message: str) -> Mistake:
        return Mistake(*self._place_of(key), message)

    def _text(self, key: str) -> str | None:
        text = self._table.get(key)
        if text is not None and (not isinstance(text, str) or not text):
            raise self._mistake(key, f'{key} takes a text, such as {key} = "typical-user"')
        return text

    def _machines(self) -> tuple[str, ...]:
        key = "machine" if "machine" in self._table else "machines"
        if key not in self._table:
            raise self._mistake(key, 'a grid needs machines: write machines = ["multics-645", "mine.toml"]')
        if "machine" in self._table and "machines" in self._table:
            raise self._mistake("machine", "machine and machines mean the same: leave one out")
        names = self._table[key]
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
            raise self._mistake(key, f'{key} takes names or paths, such as {key} = ["multics-645", "mine.toml"]')
        self._check_twice(key, names)
        return tuple(names)

    def _check_twice(self, key: str, values: list[Any]) -> None:
        twice = [value for number, value in enumerate(values) if value in values[:number]]
        if twice:
            raise self._mistake(key, f"{key} has {twice[0]!r} twice: leave one out")

    def _users(self, script: str | None) -> tuple[int | None, ...]:
        if "users" not in self._table:
            if script is not None:
                raise self._mistake("users", "a grid with a script needs users: write users = [5, 10, 20]")
            return (None,)
        return tuple(self._numbers("users", 1, MOST_USERS))

    def _seeds(self) -> tuple[int, ...]:
        seeds = self._table.get("seeds", 1)
        if isinstance(seeds, int) and not isinstance(seeds, bool):
            if not 1 <= seeds <= MOST_POINTS:
                raise self._mistake("seeds", f"seeds = {seeds} is a number of seeds, from 1: seeds = 20 is 1 to 20")
            return tuple(range(1, seeds + 1))
        return tuple(self._numbers("seeds", 0, _MOST_SEED))

    def _numbers(self, key: str, least: int, most: int) -> list[int]:
        """Whole numbers: one, a list, or a range with both ends."""
        written = self._table[key]
        numbers = self._range(key, written) if isinstance(written, Mapping) else written
        numbers = list(numbers) if isinstance(numbers, list | range | tuple) else [numbers]
        right = f"write {key} = [5, 10, 20], or {key} = {{ from = 5, to = 40, step = 5 }}"
        if not numbers or not all(type(number) is int for number in numbers):
            raise self._mistake(key, f"{key} takes whole numbers: {right}")
        outside = [number for number in numbers if not least <= number <= most]
        if outside:
            raise self._mistake(key, f"{key} has {outside[0]:,}, and {least:,} to {most:,} are possible: {right}")
        if len(set(numbers)) < len(numbers):
            self._check_twice(key, numbers)
        return numbers

    def _range(self, key: str, written: Mapping[str, Any]) -> range:
        right = f"write {key} = {{ from = 5, to = 40, step = 5 }}"
        unknown = [name for name in written if name not in _RANGE_KEYS]
        if unknown:
            raise self._mistake(key, f"{key}: {_unknown(unknown[0], tuple(_RANGE_KEYS))}")
        ends = [written.get("from"), written.get("to"), written.get("step", 1)]
        if not all(type(end) is int for end in ends) or ends[2] < 1 or ends[1] < ends[0]:
            raise self._mistake(key, f"{key} has no such range: {right}")
        if (ends[1] - ends[0]) // ends[2] >= MOST_POINTS:
            raise self._mistake(key, f"{key} has more than {MOST_POINTS:,} numbers: {right}")
        return range(ends[0], ends[1] + 1, ends[2])

    def _settings(self) -> dict[str, tuple[str, ...]]:
        """The values of each key of machine files. Tables in the table `set` are parts of dotted keys."""
        table = self._table.get("set", {})
        if not isinstance(table, Mapping):
            raise self._mistake("set", 'set is a table: write set = { "processors.speed" = [1, 2] }')
        pairs = _flat(table)
        keys = [key for key, _ in pairs]
        twice = [key for number, key in enumerate(keys) if key in keys[:number]]
        if twice:
            raise self._mistake(twice[0].rpartition(".")[2], f"set has {twice[0]} twice: leave one out")
        return {key: self._values(key, values) for key, values in pairs}

    def _values(self, key: str, values: Any) -> tuple[str, ...]:
        values = values if isinstance(values, list) else [values]
        if not values or not all(isinstance(value, str | int | float) for value in values):
            raise self._mistake(key.rpartition(".")[2], f'write the values of {key} as in "{key}" = [1, 2]')
        texts = [_setting(value) for value in values]
        self._check_twice(key, [number_or_text(text) for text in texts])
        return tuple(texts)

    def _measure(self, script: str | None) -> str:
        """The measure; by default the mean of a simulation, whose quantiles need long runs, and p90 of a script."""
        measure = self._text("measure") or ("mean" if script is None else "p90")
        if measure not in GRID_MEASURES:
            raise self._mistake("measure", f"measure: {_unknown(measure, GRID_MEASURES)}")
        return measure

    def _batch(self) -> int | None:
        batch = self._table.get("batch")
        if batch is not None and (type(batch) is not int or batch < 1):
            raise self._mistake("batch", "batch is a number of simulations, from 1: write batch = 100")
        return batch

    def _load(self) -> dict[str, Any]:
        """The arguments of a run, each of a type that it may have there."""
        load = {key: self._table[key] for key in LOAD_KEYS if key in self._table}
        for key, value in load.items():
            if isinstance(value, bool) or not isinstance(value, types_of(key)):
                raise self._mistake(key, f"{key} = {value!r}: write it as {example_of(key)}")
        return load

    def _check_load(self, script: str | None) -> None:
        """Refuses arguments of scripts for machines with a load of their own."""
        if script is None:
            for key in _SCRIPT_ONLY_KEYS:
                if key in self._table:
                    raise self._mistake(key, f"{key} is for a script: add script = …, or leave {key} out")
            if "duration" in self._table and "until" in self._table:
                raise self._mistake("until", "without a script, duration and until mean the same: leave one out")


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Keys and values of nested tables, with dotted keys."""
    pairs = []
    for key, value in table.items():
        dotted = f"{before}.{key}" if before else key
        pairs += _flat(value, dotted) if isinstance(value, Mapping) else [(dotted, value)]
    return pairs


def _setting(value: str | float) -> str:
    """A value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unknown(name: str, known: tuple[str, ...]) -> str:
    return f"{name} is not known; {meant_instead(name, known)}"

"""The figures of an observation, kept beside its script, so that a run of the script can be compared with them.

The file is a Parquet table with a row for each command that was typed. Its only texts are names of commands as the
script lists them, of classes, and of shells. It has no names of people, nothing else that was typed, no date and no
hour. A session begins at a whole minute since the first one began. What holds for the whole observation is JSON within
the file's own description.
"""

from __future__ import annotations

import io
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args
from zlib import crc32

import polars as pl

from loadgo.errors import BadArgument, Refused
from loadgo.observation.classes import SessionClass
from loadgo.observation.material import Material
from loadgo.observation.results import Observation
from loadgo.observation.sessions import CommandUse
from loadgo.observation.source_files import SourceKind
from loadgo.observation.workload import listed_names
from loadgo.records.run_file import check_path

FIGURES_FORMAT = 1
FIGURES_ENDING = ".figures.parquet"
_DESCRIPTION_KEY = "loadgo observation"
_USED = {
    "cpu_user_ns": "user_ns",
    "cpu_system_ns": "system_ns",
    "faults_minor": "faults_minor",
    "faults_major": "faults_major",
    "held_pages": "held_pages",
    "processes": "processes",
    "elapsed_ns": "elapsed_ns",
    "ready_wait_ns": "queued_ns",
    "read_bytes": "read_bytes",
    "written_bytes": "written_bytes",
    "storage_read_bytes": "storage_read_bytes",
    "storage_written_bytes": "storage_written_bytes",
    "think_ns": "think_ns",
}
"""The columns of figures, and the fields of `CommandUse` that they have. Null is not known."""
_COLUMNS: dict[str, pl.DataType] = {
    "class": pl.String(),
    "session": pl.UInt32(),
    "began_min": pl.UInt32(),
    "place": pl.UInt32(),
    "command": pl.String(),
    **{name: pl.UInt64() for name in _USED},
}
_LARGEST_COUNT = 2**62
"""No time, count or size of an observation is as large."""
_MOST_DESCRIPTION_CHARS = 1_000_000


@dataclass(frozen=True)
class ClassFigures:
    """A class of users, and its commands in the order of the script's lines."""

    name: str
    sessions: int
    commands_per_session: int
    """The number of commands of each session of the script."""
    commands: tuple[str, ...]


@dataclass(frozen=True)
class FiguresDescription:
    """The figures and facts that hold for a whole observation."""

    kind: SourceKind
    """The kind of record, or the live observation, that the commands are from."""
    observed_s: float
    equivalent_users: float | None
    rounded_steps: int
    """Number of steps of 10 ms by which the processor time of a process may be too small."""
    is_ordered: bool
    """Whether the commands of a session stand in the order in which they were typed."""
    think_mean_ns: float | None
    """Mean think time; None if it is not known."""
    has_responses_in_think: bool
    """Whether the think times have the responses in them."""
    typing_mean_ns: float | None
    """Mean time from the first key of a line to Enter; None if it is a part of the think time, or not known."""
    unknown: tuple[str, ...]
    """The figures that no record has, each with the reason."""
    losses: tuple[str, ...]
    """Sentences on what was lost while people were observed."""
    script_bytes: int
    script_crc32: int
    """The script as it was made, which shows whether a run typed this one."""
    classes: tuple[ClassFigures, ...]
    shells: tuple[tuple[str, int], ...] = ()
    """The shells that people typed to, each with its number of sessions, of those whose shell is known."""


@dataclass(frozen=True)
class KeptFigures:
    """The figures of an observation, as its file has them."""

    rows: pl.DataFrame
    """A row for each command: `class`, `session`, `began_min`, `place`, `command`, and what it used."""
    description: FiguresDescription


def figures_path(script: Path) -> Path:
    """The file of figures beside a script: `monday.figures.parquet` for `monday.toml`.

    Raises `BadArgument` for a folder or an empty name.
    """
    if not script.name:
        raise BadArgument(f"{str(script)!r} is no file: name the script that `loadgo observe` has made")
    return script.with_name(script.name.removesuffix(".toml") + FIGURES_ENDING)


def kept_figures(classes: Sequence[SessionClass], observation: Observation, material: Material) -> KeptFigures:
    """The figures of these classes of sessions. `observation` was made of them and of the rest of `material`."""
    script = observation.text.encode()
    description = FiguresDescription(
        kind=observation.sources[0].kind,
        observed_s=observation.span_s,
        equivalent_users=observation.equivalent_users,
        rounded_steps=material.rounded_steps,
        is_ordered=material.is_ordered,
        think_mean_ns=None if observation.think is None else observation.think.mean_ns,
        has_responses_in_think=observation.think is not None and observation.think.is_upper_bound,
        typing_mean_ns=None if observation.typing is None else observation.typing.mean_ns,
        unknown=tuple(f"{known.figure}: {known.remark}" for known in observation.known if not known.source),
        losses=observation.warnings,
        script_bytes=len(script),
        script_crc32=crc32(script),
        classes=tuple(
            ClassFigures(
                group.name,
                group.sessions,
                group.commands_per_session,
                tuple(row.command for row in observation.commands if row.group == group.name),
            )
            for group in observation.groups
        ),
        shells=tuple(
            Counter(session.shell for each in classes for session in each.sessions if session.shell).most_common()
        ),
    )
    return KeptFigures(_rows(classes), description)


def _rows(classes: Sequence[SessionClass]) -> pl.DataFrame:
    """The commands of all sessions. Sessions are numbered in the order in which they began."""
    sessions = [(each_class, session) for each_class in classes for session in each_class.sessions]
    sessions.sort(key=lambda pair: pair[1].began_s)
    first_s = sessions[0][1].began_s
    names = {each_class.name: listed_names(each_class) for each_class in classes}
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for number, (each_class, session) in enumerate(sessions):
        for place, use in enumerate(session.commands):
            columns["class"].append(each_class.name)
            columns["session"].append(number)
            columns["began_min"].append((session.began_s - first_s) // 60)
            columns["place"].append(place)
            columns["command"].append(names[each_class.name][use.name])
            _add_use(columns, use)
    return pl.DataFrame(columns, schema=_COLUMNS)


def _add_use(columns: dict[str, list[Any]], use: CommandUse) -> None:
    for name, field in _USED.items():
        value = getattr(use, field)
        columns[name].append(None if value is None else min(max(value, 0), _LARGEST_COUNT))


def figures_bytes(figures: KeptFigures) -> bytes:
    """The content of the file."""
    content = io.BytesIO()
    description = json.dumps({"format": FIGURES_FORMAT, **asdict(figures.description)})
    figures.rows.write_parquet(content, compression="zstd", metadata={_DESCRIPTION_KEY: description})
    return content.getvalue()


def read_figures(path: Path) -> KeptFigures:
    """The figures in a file. Raises `Refused` for a file that is missing, damaged, or of something else."""
    if not path.is_file():
        raise Refused(
            f"there is no {path}: `loadgo observe` keeps the figures of an observation there, beside its script "
            "(not with --no-figures); name the script or this file"
        )
    place = check_path(path)
    try:
        metadata = pl.read_parquet_metadata(place)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise Refused(f"{path} is no Parquet file, or is cut: take it from a copy") from error
    text = metadata.get(_DESCRIPTION_KEY)
    if text is None:
        raise Refused(f"{path} is a table of something else: `loadgo observe` writes SCRIPT{FIGURES_ENDING}")
    description = _description(path, text)
    try:
        rows = pl.read_parquet(place)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise Refused(f"{path} is damaged: take it from a copy") from error
    return KeptFigures(_checked(path, rows, description), description)


def _description(path: Path, text: str) -> FiguresDescription:
    """The description within a file. Raises `Refused` for another format, and for values of other kinds."""
    try:
        members = json.loads(text[:_MOST_DESCRIPTION_CHARS])
        number = members.pop("format")
        if number == FIGURES_FORMAT:
            return _description_of(members)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refused(f"{path} is damaged: its description cannot be read; take it from a copy") from error
    raise Refused(f"{path} has format {number}, and this version of loadgo reads {FIGURES_FORMAT}: use a newer one")


def _description_of(members: Mapping[str, Any]) -> FiguresDescription:
    classes = tuple(
        ClassFigures(
            str(each["name"]),
            _whole(each["sessions"]),
            _whole(each["commands_per_session"]),
            tuple(map(str, each["commands"])),
        )
        for each in members["classes"]
    )
    if members["kind"] not in get_args(SourceKind) or not classes:
        raise ValueError("another kind of record, or no class")
    return FiguresDescription(
        kind=members["kind"],
        observed_s=_real(members["observed_s"]),
        equivalent_users=_known(members["equivalent_users"]),
        rounded_steps=_whole(members["rounded_steps"]),
        is_ordered=bool(members["is_ordered"]),
        think_mean_ns=_known(members["think_mean_ns"]),
        has_responses_in_think=bool(members["has_responses_in_think"]),
        typing_mean_ns=_known(members["typing_mean_ns"]),
        unknown=tuple(map(str, members["unknown"])),
        losses=tuple(map(str, members["losses"])),
        script_bytes=_whole(members["script_bytes"]),
        script_crc32=_whole(members["script_crc32"]),
        classes=classes,
        # Files of an earlier loadgo do not have the shells.
        shells=tuple((str(name), _whole(sessions)) for name, sessions in members.get("shells", ())),
    )


def _real(value: object) -> float:
    """A number from 0 on. Raises `ValueError` for another value."""
    if not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= _LARGEST_COUNT:
        raise ValueError(f"{value!r} is no number from 0 on")
    return float(value)


def _whole(value: object) -> int:
    return int(_real(value))


def _known(value: object) -> float | None:
    return None if value is None else _real(value)


def _checked(path: Path, rows: pl.DataFrame, description: FiguresDescription) -> pl.DataFrame:
    """The rows with their columns; a figure that an earlier version did not keep is null.

    Raises `Refused` where another column is missing, or rows do not fit the description.
    """
    missing = [name for name in _COLUMNS if name not in rows.columns and name not in _USED]
    rows = rows.with_columns(pl.lit(None, pl.UInt64).alias(name) for name in _USED if name not in rows.columns)
    try:
        rows = rows.select(pl.col(name).cast(kind) for name, kind in _COLUMNS.items()) if not missing else rows
    except pl.exceptions.PolarsError as error:
        raise Refused(f"{path} is damaged: a column holds other values; take it from a copy") from error
    if missing:
        raise Refused(f"{path} is damaged: it lacks the column {missing[0]}; take it from a copy")
    names = {(each.name, command) for each in description.classes for command in each.commands}
    found = set(rows.select("class", "command").unique().iter_rows())
    keys = rows.select("class", "session", "place", "command", "began_min")
    is_too_large = rows.select(pl.max_horizontal(pl.col(*_USED).max())).item() or 0
    if not len(rows) or found != names or keys.null_count().sum_horizontal().item() or is_too_large > _LARGEST_COUNT:
        raise Refused(f"{path} is damaged: its rows are not those that its description has; take it from a copy")
    return rows

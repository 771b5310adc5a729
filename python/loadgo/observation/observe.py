"""Makes a script from what a host's own users did, without anything that they typed: from records, or live."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import get_args

import tomlkit

from loadgo.errors import BadArgument, Mistake
from loadgo.notation.figures import as_code, in_words
from loadgo.notation.quantities import span_s
from loadgo.observation.classes import Division, divide
from loadgo.observation.command_order import command_orders
from loadgo.observation.figures_file import figures_path, kept_figures
from loadgo.observation.from_records import material_of_records, read_think_sources, think_rows
from loadgo.observation.known_figures import day_figures, order_figure, think_figures
from loadgo.observation.live import WatchState, material_of_sessions, watch_sessions
from loadgo.observation.material import ChosenPeople, Material
from loadgo.observation.pauses_after import think_patterns
from loadgo.observation.program_names import NamesKept
from loadgo.observation.results import Days, Observation, ObservedCommand, TypedCommand
from loadgo.observation.script_text import script_text
from loadgo.observation.workload import equivalent_users, observed_commands, user_groups
from loadgo.observation.written_files import written_observation
from loadgo.running.prepared import line_count
from loadgo.running.record import check_free

_DEFAULT_NAME = "observed"
_NAMED_COMMANDS = 5
"""Number of commands that a sentence names."""


def observe(
    *sources: str | PathLike[str],
    duration: float | str | None = None,
    think_from: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    output: str | PathLike[str] | None = None,
    users: Sequence[str | int] = (),
    without_users: Sequence[str | int] = (),
    names: NamesKept = "all",
    days: Days = "all",
    typed: Mapping[str, str] | None = None,
    figures: bool = True,
    force: bool = False,
    progress: Callable[[WatchState], None] | None = None,
) -> Observation:
    """Makes a script from what a host's own users did. Names of programs are all that it keeps of a text.

        print(loadgo.observe(duration="2h", output="monday.toml").report("text"))
        print(loadgo.observe("/var/log/account/pacct", think_from=".bash_history").report("text"))

    Args:
        sources: Records of one kind: process accounting of version 3, shell histories with times, folders of sudo's I/O
            logs, recordings of tlog, logs of auditd, or histories of atuin. Their contents show the kind.
        duration: Without `sources`: the length of an observation of this host's log-in sessions, which needs root. In
            seconds, or as a text such as `2h`. A stop signal ends it earlier, and the script is made of what was seen.
        think_from: Records with think times (all but accounting and auditd's). By default those among `sources`.
        output: The script that is written. Only this user may read it. By default none; `Observation.text` has it.
        users: The people whose commands count, by name or number. By default all.
        without_users: People who are left out.
        names: `all`, or `none`: programs get names that are hashed with a key that nothing keeps.
        days: `workdays` takes only sessions of records that began on Monday to Friday, `weekend` only those of Saturday
            and Sunday, in the time zone of this host.
        typed: Lines that the script types for commands, by their names, in place of stand-ins: `{"git": "git status"}`.
        figures: Whether what each command used is kept beside `output`, in `NAME.figures.parquet`. `loadgo.likeness`
            compares a run of the script with it.
        force: Whether existing files are replaced.
        progress: Called some times a second while sessions are observed, with the numbers so far.

    Returns:
        `Observation` with the script, the classes of users, their commands with synthetic jobs, the law of the think
        times, and a list of what is known from which record.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Refused: A file holds no records that can be read, the kernel lets nobody observe, no command is
            left, or `output` exists.
        loadgo.errors.NotWritten: `output` cannot be written after all. The error's `text` is the script.

    See docs/observe.md for the rules.
    """
    path = None if output is None else Path(output)
    if path is not None:
        check_free(path, force)
        if figures:
            check_free(figures_path(path), force)
    length_s = None if duration is None else span_s(duration, "duration")
    _check(sources, length_s, names, days)
    lines = tuple(TypedCommand(name, line) for name, line in (typed or {}).items())
    _check_typed(lines, names)
    people = ChosenPeople(tuple(users), tuple(without_users))
    think_paths = [think_from] if isinstance(think_from, str | PathLike) else list(think_from)
    is_stopped = False
    if length_s is None:
        material = material_of_records(sources, think_paths, people, names, days)
    else:
        think_read = read_think_sources(think_paths)
        watched = watch_sessions(length_s, people.by_number(), progress)
        is_stopped = watched.is_stopped
        material = material_of_sessions(watched, think_read, think_rows(think_read), names)
    division = divide(material.sessions)
    made = _observation(path, material, division, lines, is_stopped=is_stopped)
    line_count(made.text)
    if path is None:
        return made
    kept = kept_figures(division.classes, made, material) if figures else None
    return written_observation(made, path, kept, force)


def _check(sources: Sequence[str | PathLike[str]], length_s: float | None, names: str, days: str) -> None:
    if not sources and length_s is None:
        raise BadArgument(
            "neither records nor a time are given: name a file of process accounting or a history by `sources`, or "
            "observe this host for a time by `duration`"
        ).about("sources", "duration")
    if sources and length_s is not None:
        raise BadArgument("`duration` observes this host, and `sources` are records: give one of them").about(
            "duration", "sources"
        )
    named_twice = [str(name) for name, count in Counter(map(os.path.realpath, sources)).items() if count > 1]
    if named_twice:
        raise BadArgument(f"{named_twice[0]} is given twice: its commands would count twice").about("sources")
    if length_s is not None and length_s <= 0:
        raise BadArgument(f"`duration={length_s:g}` is no time to observe").about("duration")
    if days not in get_args(Days):
        raise BadArgument(f"`days={days}` is none of all, workdays and weekend").about("days")
    if length_s is not None and days != "all":
        raise BadArgument(
            f"`days={days}` chooses among the days of records, and `duration` observes from now on"
        ).about("days", "duration")
    if names not in ("all", "none"):
        raise BadArgument(f"`names={names}` is neither all nor none").about("names")


def _check_typed(lines: Sequence[TypedCommand], names: NamesKept) -> None:
    """Refuses lines that a script cannot type, before anybody is observed."""
    if lines and names == "none":
        raise BadArgument("`typed` calls commands by their names, and `names=none` hashes them").about("typed", "names")
    for row in lines:
        if not row.line.strip():
            raise BadArgument(f"the line for `{row.command}` cannot be typed: it is empty").about("typed")
        try:
            line_count(f"login = 'sh'\nlines = [{{ type = {tomlkit.item(row.line).as_string()} }}]")
        except Mistake as mistake:
            raise BadArgument(f"the line for `{row.command}` cannot be typed: {mistake.message}").about(
                "typed"
            ) from mistake


def _name(path: Path) -> str:
    """The name of the script in `path`. Of a file's name it has what a script's name may have."""
    printable = "".join(character if character.isprintable() else " " for character in path.stem)
    return printable.replace("_", " ").replace("-", " ").strip() or _DEFAULT_NAME


def _observation(
    path: Path | None, material: Material, division: Division, lines: Sequence[TypedCommand], *, is_stopped: bool
) -> Observation:
    sessions = material.sessions
    groups = user_groups(division.classes)
    commands = observed_commands(division.classes, material.rounded_steps)
    orders = command_orders(division.classes, is_ordered=material.is_ordered)
    patterns = think_patterns(division.classes)
    observation = Observation(
        text="",
        path=path,
        figures=None,
        name=_DEFAULT_NAME if path is None else _name(path),
        sources=material.sources,
        people=len({session.person for session in sessions}),
        sessions=len(sessions),
        span_s=material.span_s,
        equivalent_users=equivalent_users(groups, commands, material.think, material.typing, material.span_s),
        groups=groups,
        division=division.reason,
        commands=commands,
        typed=tuple(row for row in lines if row.command in {command.command for command in commands}),
        orders=orders,
        think_patterns=patterns,
        think=material.think,
        typing=material.typing,
        hours=material.hours,
        days=material.days,
        days_of_week=material.days_of_week,
        known=(
            *material.known,
            order_figure(orders, material.sources[0].kind),
            *think_figures(patterns, material.sources[0].kind),
            *day_figures(material.days, material.days_of_week, material.sources[0].kind),
        ),
        notes=material.notes,
        warnings=(*material.warnings, *_untyped(lines, commands)),
        is_stopped=is_stopped,
    )
    return replace(observation, text=script_text(observation))


def _untyped(lines: Sequence[TypedCommand], commands: Sequence[ObservedCommand]) -> list[str]:
    """Sentences on lines for commands that nobody typed. They end no observation, which cannot be made again."""
    known = list(dict.fromkeys(row.command for row in commands))
    frequent = in_words([as_code(name) for name in known[:_NAMED_COMMANDS]])
    return [
        f"No command is called {as_code(row.command)}, so the script does not type its line. The most frequent ones "
        f"are {frequent}."
        for row in lines
        if row.command not in known
    ]

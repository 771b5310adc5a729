"""The folder that a run is written to: the given one, or a new folder among all runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, LoadgoError
from loadgo.notation.toml_text import toml_table

_GIVEN_FILES = ("run.toml", "script.toml", "machine.toml")
"""Files of a run that has not begun: its description, and what was given."""
_CLOCK_STEP = timedelta(seconds=1)
"""A step of the clock between the call and the beginning of its run."""


def new_folder(out: str | Path | None, name: str, now: datetime) -> Path:
    """Returns `out` if it is given, else the path of a new folder, named for the moment `now` and for `name`.

    Raises `BadArgument` for an `out` that is empty or not UTF-8.
    """
    if out is not None:
        check_out(out)
        return Path(out)
    from loadgo.records.runs import runs_folder

    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "script"
    first = runs_folder() / f"{now:%Y-%m-%dT%H-%M-%S}-{slug}"
    numbered = (first.with_name(f"{first.name}-{number}") for number in range(2, 1000))
    return first if not first.exists() else next(folder for folder in numbered if not folder.exists())


@contextmanager
def failed_runs_named(out: str | Path | None) -> Iterator[None]:
    """Adds a note to an error if the folder `out` holds runs that failed before any line was answered.

    They stay, with the reasons for which log-ins were refused. The same call with `out` is refused until they are gone.
    """
    try:
        yield
    except LoadgoError as error:
        kept = [] if out is None else _failed_runs(Path(out))
        is_named = any("rm -r" in note for note in getattr(error, "__notes__", ()))
        if kept and not is_named:
            folders = " ".join(shlex.quote(str(folder)) for folder in kept)
            runs = "a run that failed" if len(kept) == 1 else "runs that failed"
            error.add_note(
                f"{out} holds {runs} before any line was answered: remove it with `rm -r {folders}`, or name another "
                "folder, before you give the command again"
            )
        raise


@contextmanager
def refused_run_removed(folder: Path) -> Iterator[None]:
    """Removes what a refused run has left in `folder`, if nothing was there before and nothing in it is of use.

    Such a run was refused before a session began: by its meters, its limits, or a program beside the users. Folders
    above that the run has made go with it. What existed before stays.
    """
    new_folders = [place for place in (folder, *folder.parents) if not place.exists()]
    was_empty = bool(new_folders) or _is_empty(folder)
    began = datetime.now(UTC)
    try:
        yield
    except LoadgoError:
        with suppress(OSError):
            if was_empty and _is_refused_run(folder, began):
                for file in folder.iterdir():
                    file.unlink()
                for place in new_folders:
                    place.rmdir()
        raise


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


def _is_refused_run(folder: Path, began: datetime) -> bool:
    """Whether a folder has a run that failed since `began` before any session, and no file that says more than that."""
    try:
        run_toml = toml_table((folder / "run.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    from loadgo.records.manifest import MANIFEST_KEY

    started = run_toml.get("started")
    if run_toml.get("outcome") != "failed" or not isinstance(started, datetime) or started < began - _CLOCK_STEP:
        return False
    empty_tables = {f"{name}.parquet" for name in run_toml.get(MANIFEST_KEY, {}) if _rows_of(run_toml, name) == 0}
    return all(_says_nothing(file, empty_tables) for file in folder.iterdir())


def _says_nothing(file: Path, empty_tables: Collection[str]) -> bool:
    """Whether a file of a refused run was given, or is empty, as the output of programs beside the users may be."""
    return file.is_file() and (file.name in {*_GIVEN_FILES, *empty_tables} or not file.stat().st_size)


def _failed_runs(out: Path) -> list[Path]:
    """The folders of runs in `out` that failed without an answered line: `out` itself, or folders in it."""
    try:
        return [folder for folder in (out, *sorted(out.iterdir())) if _is_failed_without_line(folder)]
    except OSError:
        return []


def _is_failed_without_line(folder: Path) -> bool:
    """Whether a run failed before any line was answered. Its run.toml says it: its tables may not be readable."""
    try:
        run_toml = toml_table((folder / "run.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return run_toml.get("outcome") == "failed" and _rows_of(run_toml, "interactions") == 0


def _rows_of(run_toml: Mapping[str, Any], table: str) -> object:
    """The number of rows of a table by the run's manifest; None where that does not say it."""
    from loadgo.records.manifest import MANIFEST_KEY

    entries = run_toml.get(MANIFEST_KEY)
    entry = entries.get(table) if isinstance(entries, dict) else None
    return entry.get("rows") if isinstance(entry, dict) else None


def check_out(out: str | Path | None) -> None:
    """Raises `BadArgument` for the name of a new folder that is empty or not UTF-8. None is no name."""
    if out is None:
        return
    if not str(out):
        raise BadArgument("`out` is empty: name a new folder, or leave it out").about("out")
    check_utf8("`out`", out)


def check_utf8(what: str, *words: object) -> None:
    """Raises `BadArgument` for words that are not UTF-8, as the records are. `what` names them in the message."""
    for word in words:
        if not _is_utf8(str(word)):
            shown = str(word).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            raise BadArgument(f"{what} is not UTF-8, but the records are: {shown}").about("out")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_utf8(words: Iterable[str]) -> list[str]:
    """The words of a command line, with `\ufffd` in place of bytes that are not UTF-8."""
    return [word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in words]

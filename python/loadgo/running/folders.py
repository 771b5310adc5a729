"""The folder that a run is written to: the given one, or a new folder among all runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from loadgo.errors import BadArgument, LoadgoError
from loadgo.notation.toml_text import toml_table


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


def _failed_runs(out: Path) -> list[Path]:
    """The folders of runs in `out` that failed without an answered line: `out` itself, or folders in it."""
    try:
        return [folder for folder in (out, *sorted(out.iterdir())) if _is_failed_without_line(folder)]
    except OSError:
        return []


def _is_failed_without_line(folder: Path) -> bool:
    """Whether a run failed before any line was answered. Its run.toml says it: its tables may not be readable."""
    from loadgo.records.manifest import MANIFEST_KEY

    try:
        run_toml = toml_table((folder / "run.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    entries = run_toml.get(MANIFEST_KEY)
    entry = entries.get("interactions") if isinstance(entries, dict) else None
    return run_toml.get("outcome") == "failed" and isinstance(entry, dict) and entry.get("rows") == 0


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

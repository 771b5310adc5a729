"""Makes a script from a person's session at a real shell, or from an asciicast recording.

The script keeps the person's think times and typing rate, and drops the system's response times. Text that was typed
without echo is never stored: the script names the missing values, and a run needs them.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from statistics import median
from typing import TypedDict

from loadgo import _loadgo
from loadgo.errors import Mistake, NotWritten, Refused
from loadgo.notation.figures import counted
from loadgo.notation.file_shapes import schema_line

_LINE_CHARS = 100
"""The width of messages where there is no terminal."""


class _RecordedData(TypedDict):
    """The result of `_loadgo.record_session` and `_loadgo.script_of_cast`."""

    script: str
    login: str
    lines: int
    think_ns: list[int]
    typing: float | None
    secrets: list[int]
    statuses: int
    notes: list[str]
    ending: str


@dataclass(frozen=True)
class Recorded:
    """A recorded script, with the figures of its session."""

    path: Path
    """The script file."""
    cast: Path | None
    """The session as asciicast version 3, if it was kept."""
    login: str
    """The script's command that logs in."""
    lines: int
    """Number of lines in the script."""
    think_times_ns: tuple[int, ...]
    """The measured times from prompt to first key, in order. Long absences are left out."""
    typing_chars_per_second: float | None
    """Keys per second, from first key to end of line; None if no line was typed key by key."""
    secrets: tuple[int, ...]
    """The numbers of the lines that replace text typed without echo."""
    statuses: int
    """Number of lines whose exit status a prompt reported."""
    notes: tuple[str, ...]
    """Sentences about values that were estimated or left out."""
    ending: str
    """The end of the session: `exited STATUS`, `killed by signal N`, `stopped by signal N`, `hung up`, `unknown`."""

    @property
    def think_p50_s(self) -> float | None:
        """The median think time in seconds; None if none was measured."""
        return median(self.think_times_ns) / 1e9 if self.think_times_ns else None

    def __str__(self) -> str:
        return closing_message(self)


def record(
    path: str | os.PathLike[str],
    *,
    shell: str | Sequence[str] | None = None,
    from_cast: str | os.PathLike[str] | None = None,
    cast: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    force: bool = False,
) -> Recorded:
    """Records a session at a real shell, and makes a script of it with its think times and typing rate, but no secrets.

    Args:
        path: The script that is written.
        shell: The command whose session is recorded on this terminal. By default `$SHELL`. With `from_cast`, the
            command that logs in, by default the one that the file names.
        from_cast: An asciicast file (version 2 or 3) that the script is made of instead. `-` is the standard input.
        cast: The file that keeps the session as asciicast version 3, without secrets.
        env: Environment variables of the session, besides those of this process.
        force: Whether existing files are replaced.

    Returns:
        `Recorded` with the script's path, the measured think times in nanoseconds, and the typing rate in characters a
        second. Only this user may read the files.

    Raises:
        loadgo.errors.Refused: A file exists already, nothing was typed, or there is no terminal for the session.
        loadgo.errors.Mistake: `from_cast` is malformed; the error has the line.
    """
    script, cast_file = Path(path), Path(cast) if cast is not None else None
    for file in filter(None, (script, cast_file)):
        check_free(file, force)
    name = script.stem.replace("_", " ").replace("-", " ").strip() or "recorded session"
    if from_cast is not None:
        if cast_file is not None:
            raise Refused("a session from a cast is already saved there: omit `cast`").about("cast")
        login = None if shell is None else shlex.join(shell_words(shell))
        recorded = _read_cast(os.fspath(from_cast), name, login)
    else:
        command = shell_words(shell)
        recorded = _loadgo.record_session(command, dict(env or {}), cast_file, shlex.join(command), name)
    write_private(script, schema_line("script") + recorded["script"], force)
    return Recorded(
        path=script,
        cast=cast_file,
        login=recorded["login"],
        lines=recorded["lines"],
        think_times_ns=tuple(recorded["think_ns"]),
        typing_chars_per_second=recorded["typing"],
        secrets=tuple(recorded["secrets"]),
        statuses=recorded["statuses"],
        notes=tuple(recorded["notes"]),
        ending=recorded["ending"],
    )


def shell_words(shell: str | Sequence[str] | None) -> list[str]:
    """The words of the command `shell`; by default `$SHELL`, or else `sh`."""
    words = shlex.split(shell) if isinstance(shell, str) else list(shell or [])
    return words or [os.environ.get("SHELL") or "sh"]


def opening_message(path: str | os.PathLike[str], shell: str | Sequence[str] | None = None) -> str:
    """The line that the person sees before a session."""
    command = shell_words(shell)
    has_marks = _loadgo.marks_prompts(command)
    prompts = "its prompts are marked" if has_marks else "its prompts cannot be marked: they are estimated"
    return f"recording {shlex.join(command)} into {os.fspath(path)} ({prompts}); it ends with the shell"


def closing_message(recorded: Recorded) -> str:
    """The lines that the person sees after a session: its figures, and notes about estimates."""
    think = recorded.think_p50_s
    rate = recorded.typing_chars_per_second
    times = f"{think:.3g} s (median of {len(recorded.think_times_ns)})" if think is not None else "not measured"
    known = (
        counted(recorded.statuses, "exit status") if recorded.statuses == 1 else f"{recorded.statuses} exit statuses"
    )
    lines = [
        f"The script is in {recorded.path}: {counted(recorded.lines, 'line')}; the session "
        f"{_ending_phrase(recorded.ending)}.",
        f"Think time {times}; typing {'not measured' if rate is None else f'{rate:g} chars/s'}; "
        f"{known if recorded.statuses else 'no exit status is'} known.",
        _secrets_in_words(len(recorded.secrets)),
        *recorded.notes,
    ]
    return "\n".join(_wrapped(line) for line in lines)


def _secrets_in_words(count: int) -> str:
    """The sentence on what was typed where nothing shows it, such as a password."""
    if not count:
        return (
            "Nothing was typed that the screen did not show, so no secret is left out. Look for any before sharing it."
        )
    return f"{count} secret{'' if count == 1 else 's'} left out: what the screen did not show, or what may be one."


def _wrapped(line: str) -> str:
    """The line as wide as the terminal, which would break words."""
    columns = get_terminal_size((_LINE_CHARS, 24)).columns
    return textwrap.fill(line, columns, break_long_words=False, break_on_hyphens=False)


def _ending_phrase(ending: str) -> str:
    if ending == "unknown":
        return "has no known end"
    return ending if ending.startswith("exited") else f"was {ending}"


def _read_cast(file: str, name: str, login: str | None) -> _RecordedData:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}") from error
    try:
        recorded: _RecordedData = _loadgo.script_of_cast(text, name, login)
    except Mistake as mistake:
        raise mistake.in_file(file) from None
    return recorded


def check_free(file: Path, force: bool) -> None:
    """Raises `Refused` if the file exists and is not to be replaced, or cannot be written."""
    if file.exists() and not force:
        raise Refused(f"{file} exists already: choose another name, or replace it with `force`").about("force")
    if not os.access(file.parent, os.W_OK):
        raise Refused(f"{file} cannot be written: {file.parent} is not a writable directory")


def write_private(script: Path, text: str, force: bool) -> None:
    """Writes a script that only this user may read, whole or not at all.

    If it cannot have its name, the text stays in a file beside it, which the error names.
    Raises `NotWritten` with the text if the folder takes no file.
    """
    try:
        write_private_bytes(script, text.encode("utf-8"), force)
    except OSError as error:
        raise NotWritten(
            f"{script} cannot be written ({error.strerror}): make room on its disk, or choose another folder", text
        ) from error


def write_private_bytes(path: Path, content: bytes, force: bool, content_name: str = "script") -> None:
    """Writes a file that only this user may read, whole or not at all. Raises `OSError` if the folder takes no file.

    If it cannot have its name, its content stays in a file beside it. `Refused` names that, and the content.
    """
    written = _written_beside(path, content)
    try:
        if force:
            written.replace(path)
        else:
            path.hardlink_to(written)
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({error.strerror}); the {content_name} is kept in {written}"
        ) from error
    written.unlink(missing_ok=True)


def _written_beside(path: Path, content: bytes) -> Path:
    """A new file in the folder of `path`. If the disk does not take all of it, nothing stays there."""
    written = None
    try:
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        written = Path(name)
        with open(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        if written is not None:
            written.unlink(missing_ok=True)
        raise
    return written

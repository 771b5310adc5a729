"""A person's session at a real shell, or an asciicast recording of one, becomes a script.

Think times and typing rate are the person's and are kept; response times are the system's and are dropped. What was
typed without echo is never stored: the script names what is missing, and a run refuses it until that is given.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypedDict

from loadgo import _loadgo
from loadgo.errors import Mistake, Refused


class _Told(TypedDict):
    """What the Rust half tells of a recorded session."""

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
    """A recorded script, with what was measured, estimated and left out."""

    path: Path
    """The script."""
    cast: Path | None
    """The session as asciicast version 3, if it was kept."""
    login: str
    """The command that logs in."""
    lines: int
    """Lines of the script."""
    think_times_ns: tuple[int, ...]
    """The measured think times, prompt to first key, in order; absences are left out."""
    typing_chars_per_second: float | None
    """Keys a second, first key to end of line; None when nothing was typed key by key."""
    secrets: tuple[int, ...]
    """The lines that stand for what was typed without echo."""
    statuses: int
    """Lines whose exit status a prompt told."""
    notes: tuple[str, ...]
    """What was estimated or left out, in words."""
    ending: str
    """How the session ended: `exited STATUS`, `killed by signal N`, `stopped by signal N`, `hung up`, `unknown`."""

    @property
    def think_p50_s(self) -> float | None:
        """The median think time in seconds; None when none was measured."""
        return median(self.think_times_ns) / 1e9 if self.think_times_ns else None

    def __str__(self) -> str:
        return closing(self)


def record(
    path: str | os.PathLike[str],
    *,
    shell: str | Sequence[str] | None = None,
    from_cast: str | os.PathLike[str] | None = None,
    cast: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    force: bool = False,
) -> Recorded:
    """Records a session at a real shell, and makes a script of it, with think times, typing rate and secrets left out.

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
    script, kept = Path(path), Path(cast) if cast is not None else None
    for file in filter(None, (script, kept)):
        _check_free(file, force)
    name = script.stem.replace("_", " ").replace("-", " ").strip() or "recorded session"
    if from_cast is not None:
        if kept is not None:
            raise Refused("a session that comes from a cast is kept there already: leave `cast` out")
        login = None if shell is None else shlex.join(words(shell))
        told = _imported(os.fspath(from_cast), name, login)
    else:
        command = words(shell)
        told = _loadgo.record_session(command, dict(env or {}), kept, shlex.join(command), name)
    _write(script, told["script"], force)
    return Recorded(
        path=script,
        cast=kept,
        login=told["login"],
        lines=told["lines"],
        think_times_ns=tuple(told["think_ns"]),
        typing_chars_per_second=told["typing"],
        secrets=tuple(told["secrets"]),
        statuses=told["statuses"],
        notes=tuple(told["notes"]),
        ending=told["ending"],
    )


def words(shell: str | Sequence[str] | None) -> list[str]:
    """The command of `shell` in words; `$SHELL`, else `sh`, when there is none."""
    found = shlex.split(shell) if isinstance(shell, str) else list(shell or [])
    return found or [os.environ.get("SHELL") or "sh"]


def opening(path: str | os.PathLike[str], shell: str | Sequence[str] | None = None) -> str:
    """The line for the person before a session begins."""
    command = words(shell)
    marked = _loadgo.marks_prompts(command)
    known = "its prompts are marked" if marked else "its prompts cannot be marked, they are estimated"
    return f"recording {shlex.join(command)} into {os.fspath(path)} ({known}); it ends with the shell"


def closing(recorded: Recorded) -> str:
    """The lines for the person after a session: what was measured, estimated and left out."""
    think = recorded.think_p50_s
    rate = recorded.typing_chars_per_second
    figures = [
        f"{recorded.lines} lines",
        "no think time measured" if think is None else f"think p50 {think:.3g} s of {len(recorded.think_times_ns)}",
        "typing rate not measured" if rate is None else f"typing {rate:g} chars/s",
        f"{recorded.statuses} exit statuses",
        f"{len(recorded.secrets)} secrets left out",
    ]
    lines = [f"recorded {recorded.path}: {', '.join(figures)}; the session {_ended(recorded.ending)}", *recorded.notes]
    return "\n".join(lines)


def _ended(ending: str) -> str:
    return "has no known end" if ending == "unknown" else f"was {ending}" if not ending.startswith("exited") else ending


def _imported(file: str, name: str, login: str | None) -> _Told:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}") from error
    try:
        told: _Told = _loadgo.script_of_cast(text, name, login)
    except Mistake as mistake:
        raise mistake.in_file(file) from None
    return told


def _check_free(file: Path, force: bool) -> None:
    if file.exists() and not force:
        raise Refused(f"{file} is there already: give another name, or say `force` to replace it").about("force")
    if not os.access(file.parent, os.W_OK):
        raise Refused(f"{file} cannot be written: {file.parent} is no directory that may be written to")


def _write(script: Path, text: str, force: bool) -> None:
    """Writes the file whole or not at all; where it cannot have the name, the text stays in a file of its own."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=script.parent, prefix=f".{script.name}.", delete=False
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    written = Path(file.name)
    if force:
        written.replace(script)
        return
    try:
        script.hardlink_to(written)
    except OSError as error:
        kept = f"the recorded script is kept in {written}"
        raise Refused(f"{script} cannot be written ({error.strerror}); {kept}") from error
    written.unlink()

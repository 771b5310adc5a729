"""Lists the scripts that come with loadgo, and prints the text of one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from loadgo.documents.result import Result
from loadgo.running.bundled import Source, find_script, script_names
from loadgo.running.prepared import parse_script_file

_COMMENT = re.compile(r"\A(?:#.*\n)+")
_SENTENCE_END = re.compile(r"[.:;](?=\s|$)")


@dataclass(frozen=True)
class Script:
    """A summary of a script: what its user does, and the lines of one pass."""

    name: str
    about: str
    """The file's first comment up to the first stop; empty without a comment."""
    lines: int
    """Number of lines that a user types in one pass."""
    commands: tuple[str, ...]
    """The names under which reports have these lines, each once."""
    think: str
    """The think time between two lines, as the script has it."""
    needs: tuple[str, ...]
    """The programs that must be on the host."""


class ScriptList(Result, list[Script], presented_by="loadgo.reporting.lists.lists:script_presentation"):
    """A list of scripts."""

    def _line(self) -> str:
        return f"{len(self)} scripts, {', '.join(script.name for script in self)}"


def scripts() -> ScriptList:
    """Lists the scripts that come with loadgo, by name.

    Returns:
        A list of `Script` with what its user does, the lines of one pass, their commands, the think time, and the
        programs that it needs. Other calls take a script's name for `script`.
    """
    return ScriptList(_summary(find_script(name)) for name in script_names())


def script_text(script: str | Path) -> str:
    """The text of a script with its comments. Raises what `find_script` raises, and `errors.Mistake` with the place."""
    source = find_script(script)
    parse_script_file(source)
    return source.text


def _summary(source: Source) -> Script:
    parsed = parse_script_file(source)
    names = (str(name) for _, name in parsed["lines"])
    return Script(
        name=source.requested,
        about=_first_statement(source.text),
        lines=len(parsed["lines"]),
        commands=tuple(dict.fromkeys(names)),
        think=parsed["think"],
        needs=tuple(parsed["needs"]),
    )


def _first_statement(text: str) -> str:
    """The first comment of a script up to its first stop."""
    comment = _COMMENT.match(text)
    lines = comment[0].splitlines() if comment else []
    return _SENTENCE_END.split(" ".join(line.lstrip("# ") for line in lines), maxsplit=1)[0]

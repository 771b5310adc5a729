"""Manual pages in the language of man(7): one for `loadgo`, and one for each command, from what its parser knows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from rich.text import Text
from typer import Context
from typer.core import TyperArgument

import loadgo
from loadgo.cli.command_group import built_command
from loadgo.cli.command_list import COMMANDS_BY_GROUP, LISTED_COMMANDS
from loadgo.cli.examples import COMMAND_EXAMPLES

_ABOUT = "loads a machine with users who type, and measures what they get"
_DESCRIPTION = (
    "loadgo logs users in on real terminals of this host, or of a simulated machine. They think, and type the lines "
    "of a script. For every command the report shows response times, processor time, page faults, waits and cost, with "
    "intervals, and for every processor where its time went."
)
_EXIT_STATUS = (
    ("0", "All is well."),
    ("1", "The finding is bad: a threshold missed or not known, records lost, or the driver was the bottleneck."),
    ("2", "It could not run."),
    ("130", "It was interrupted."),
)
_FILES = (
    ("runs/", "The recorded runs, below the current folder."),
    ("$LOADGO_RUNS", "The folder of the runs instead, if this variable is set."),
)
_ESCAPES = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "~": r"\(ti", "^": r"\(ha"})
"""Signs that the formatter would take for its own, or show as others: a tilde as an accent, a hyphen for a minus."""


def manual_pages(version: str | None = None) -> dict[str, str]:
    """The content of each page by the name of its file, such as `loadgo-run.1`.

    `version` is named by a build, which has no extension module yet that could tell it.
    """
    version = version or loadgo.__version__
    pages = {"loadgo.1": _page_of_all(version)}
    return pages | {f"loadgo-{name}.1": _page_of_command(name, version) for name in LISTED_COMMANDS}


def _page_of_all(version: str) -> str:
    lines = [
        *_heading("loadgo", _ABOUT, version),
        ".SH SYNOPSIS",
        _bold("loadgo") + " " + _roff("COMMAND [OPTIONS]"),
        ".SH DESCRIPTION",
        _roff(_DESCRIPTION),
        ".SH COMMANDS",
    ]
    for title, commands in COMMANDS_BY_GROUP.items():
        lines.append(f".SS {_roff(title)}")
        for name, listed in commands.items():
            lines += _tagged(f"loadgo-{name}(1)", listed.about)
    for title, entries in (("EXIT STATUS", _EXIT_STATUS), ("FILES", _FILES)):
        lines.append(f".SH {title}")
        for tag, about in entries:
            lines += _tagged(tag, about)
    return _joined(lines)


def _page_of_command(name: str, version: str) -> str:
    command = built_command(name)
    context = Context(command, info_name=f"loadgo {name}")
    about, _, more = inspect.cleandoc(command.help or "").partition("\n\n")
    lines = [
        *_heading(f"loadgo-{name}", about, version),
        ".SH SYNOPSIS",
        _bold(f"loadgo {name}") + " " + _roff(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        _roff(about),
    ]
    lines += [
        ".PP\n" + _roff(paragraph)
        for paragraph in more.split("\n\n")
        if paragraph and not paragraph.startswith("Examples:")
    ]
    lines += _parameters(command, context)
    lines.append(".SH EXAMPLES")
    for words, example in COMMAND_EXAMPLES.get(name, ()):
        lines += _tagged(example, words)
    lines += [".SH SEE ALSO", r"\fBloadgo\fR(1)"]
    return _joined(lines)


def _parameters(command: Any, context: Context) -> Iterator[str]:
    """Arguments, then each group of options under its title."""
    groups: dict[str, list[Any]] = {}
    for parameter in command.params:
        title = "Arguments" if isinstance(parameter, TyperArgument) else parameter.rich_help_panel or "Options"
        groups.setdefault(title, []).append(parameter)
    for title, parameters in groups.items():
        yield f".SH {_roff(title.upper())}"
        for parameter in parameters:
            yield from _tagged(_names(parameter, context), _explanation(parameter))


def _names(parameter: Any, context: Context) -> str:
    if isinstance(parameter, TyperArgument):
        return str(parameter.display_name_raw)
    value = parameter.display_type_rich(ctx=context) or ""
    return f"{', '.join([*parameter.opts, *parameter.secondary_opts])} {value}".rstrip()


def _explanation(parameter: Any) -> str:
    default = parameter.default
    has_default = isinstance(default, str | int | float) and not isinstance(default, bool)
    help_text = Text.from_markup(parameter.help or "").plain
    return help_text + (f" By default {default}." if has_default else "")


def _heading(name: str, about: str, version: str) -> list[str]:
    title = f'.TH "{_roff(name.upper())}" 1 "" "loadgo {_roff(version)}" "loadgo"'
    return [title, ".nh", ".ad l", ".SH NAME", f"{_roff(name)} \\- {_roff(about.rstrip('.'))}"]


def _tagged(tag: str, about: str) -> list[str]:
    return [".TP", _bold(tag), _roff(about)]


def _bold(text: str) -> str:
    return f"\\fB{_roff(text)}\\fR"


def _roff(text: str) -> str:
    """A text in one line, without a meaning to the formatter, and with the signs of a shell as they are typed."""
    line = " ".join(text.split()).translate(_ESCAPES)
    return rf"\&{line}" if line.startswith(".") else line


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"

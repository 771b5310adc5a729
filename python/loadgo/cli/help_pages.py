"""The help of `loadgo` and of its commands, and the message about a mistake in the arguments.

They look as Typer prints them. Typer's own printer imports a parser of Markdown and one of program text, which takes
longer than all else of a start.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.align import Align
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.highlighter import RegexHighlighter
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme
from typer.core import TyperArgument, TyperOption

_MOST_CHOICE_CHARS = 20
"""Most characters of a line of an option's choices."""
_THEME = Theme(
    {
        "option": "bold cyan",
        "switch": "bold green",
        "negative_option": "bold magenta",
        "negative_switch": "bold red",
        "types": "bold yellow",
        "types_sep": "dim",
        "usage": "yellow",
    }
)
_PANEL_CHARS = 4
"""The characters of a line that a panel takes: its borders and the room beside them."""
_COLOR_VARIABLES = ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS")
"""Variables of the environment that ask for colours where the output is no terminal."""


class _Words(RegexHighlighter):
    """Colours of options in a text."""

    highlights = [  # noqa: RUF012
        r"(^|\W)(?P<switch>\-\w+)(?![a-zA-Z0-9])",
        r"(^|\W)(?P<option>\-\-[\w\-]+)(?![a-zA-Z0-9])",
        r"(?P<types>\<[^\>]+\>)",
        r"(?P<usage>Usage: )",
    ]


class _NegativeWords(RegexHighlighter):
    """Colours of options that switch something off."""

    highlights = [  # noqa: RUF012
        r"(^|\W)(?P<negative_switch>\-\w+)(?![a-zA-Z0-9])",
        r"(^|\W)(?P<negative_option>\-\-[\w\-]+)(?![a-zA-Z0-9])",
    ]


class _TypeWords(RegexHighlighter):
    """Colours of the signs around and between the values of an option."""

    highlights = [r"^(?P<types_sep>(\[|<))", r"(?P<types_sep>\|)", r"(?P<types_sep>(\]|>))(\.\.\.)?$"]  # noqa: RUF012


_words, _negative_words, _type_words = _Words(), _NegativeWords(), _TypeWords()


def print_help(command: Any, ctx: Any, groups: Mapping[str, Sequence[tuple[str, str]]] | None = None) -> None:
    """Prints the help of a command, or of all commands: a title for each of their `groups`, and a name and a line each.

    Raises `BrokenPipeError` if nobody reads it.
    """
    console = _console()
    console.print(Padding(_words(command.get_usage(ctx)), 1), style="bold")
    console.print(Padding(Align(_description(command.help), pad=False), (0, 1, 1, 1)))
    for title, params in _panels(command.get_params(ctx)).items():
        console.print(_panel(title, _parameter_table(params, ctx)))
    indent = max((len(name) for commands in (groups or {}).values() for name, _ in commands), default=0) + 2
    for title, lines in (groups or {}).items():
        console.print(_panel(title, _command_lines(lines, indent, console)))
    if command.epilog:
        console.print(Padding(Align(_text(command.epilog), pad=False), 1))


def print_usage_error(error: Any) -> None:
    """Prints the usage of the command and what is wrong in its arguments on the standard error."""
    console, ctx = _console(stderr=True), getattr(error, "ctx", None)
    if ctx is not None:
        console.print(_words(ctx.get_usage()), style="bold")
        asked = escape(f"{ctx.command_path} {ctx.help_option_names[0]}")
        console.print(f"Try [blue]'{asked}'[/] for help.", style="dim")
    console.print(_panel("Error", _words(error.format_message()), "red"))


class _HelpConsole(Console):
    """A console whose pages raise an error if nobody reads them."""

    def on_broken_pipe(self) -> None:
        """Raises `BrokenPipeError`. Rich would end the process with status 1, a bad finding."""
        raise BrokenPipeError


def _console(*, stderr: bool = False) -> Console:
    """A console with the width and the colours that the environment asks for."""
    width = os.environ.get("TERMINAL_WIDTH")
    return _HelpConsole(
        theme=_THEME,
        highlighter=_words,
        force_terminal=True if any(map(os.environ.get, _COLOR_VARIABLES)) else None,
        width=int(width) if width else None,
        stderr=stderr,
    )


def _text(text: str, style: str = "") -> Text:
    # No text has an emoji's name: their list takes longer to load than all texts to read.
    return _words(Text.from_markup(inspect.cleandoc(text), style=style, emoji=False))


def _description(help_text: str) -> Group:
    """The first paragraph of a command's help, and the others in a quiet colour."""
    first, *others = inspect.cleandoc(help_text).split("\n\n")
    paragraphs = [_text(first.replace("\n", " ").strip())]
    if others:
        paragraphs += [Text(""), _text("\n\n".join(others), "dim")]
    return Group(*paragraphs)


def _panels(params: Sequence[Any]) -> dict[str, list[Any]]:
    """The parameters by the title of their panel: arguments, options without a group, groups in their order."""
    panels: dict[str, list[Any]] = {"Arguments": [], "Options": []}
    for param in params:
        title = "Arguments" if isinstance(param, TyperArgument) else param.rich_help_panel or "Options"
        panels.setdefault(title, []).append(param)
    return {title: shown for title, shown in panels.items() if shown}


def _panel(title: str, content: RenderableType, border_style: str = "dim") -> Panel:
    return Panel(content, border_style=border_style, title=title, title_align="left")


def _parameter_table(params: Sequence[Any], ctx: Any) -> Table:
    """A row for each parameter. The first column marks those that are required, if there are any."""
    table = Table(highlight=True, show_header=False, expand=True, box=None, pad_edge=False)
    marked = any(param.required for param in params)
    for param in params:
        mark = [Text("*", style="red") if param.required else ""] if marked else []
        table.add_row(*mark, *_names(param), _type_words(_value_words(param, ctx)), _explanation(param))
    return table


def _names(param: Any) -> list[Text]:
    """The names of a parameter in four columns: long and short ones, and those that switch it off."""
    if isinstance(param, TyperArgument):
        name = param.display_name_raw + ("..." if param.metavar is None and param.nargs != 1 else "")
        return [_words(""), _words(name), _negative_words(""), _negative_words("")]
    columns = []
    for coloured, names in ((_words, param.opts), (_negative_words, param.secondary_opts)):
        for is_long in (True, False):
            columns.append(coloured(",".join(name for name in names if ("--" in name) == is_long)))
    return columns


def _in_lines(choices: str) -> str:
    """Words with `|` between them in lines that a narrow page does not break within a word."""
    lines = [""]
    for word in re.split(r"(?<=[|])", choices):
        if lines[-1] and len(lines[-1]) + len(word) > _MOST_CHOICE_CHARS:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _value_words(param: Any, ctx: Any) -> Text:
    """The word for a parameter's value, and its bounds."""
    words = Text(_in_lines(param.display_type_rich(ctx=ctx) or ""), style="bold yellow", overflow="fold")
    if param.min is not None or param.max is not None:
        low, high = ("" if param.min is None else f"{param.min}<="), ("" if param.max is None else f"<={param.max}")
        words.append(f" [{low}x{high}]" if high else f" [x>={param.min}]")
    return words


def _explanation(param: Any) -> Columns:
    """The help of a parameter, its default, and whether it is required."""
    items = [_text(param.help.replace("\n", " "))] if param.help else []
    default = _default_words(param)
    if default:
        items.append(Text(f"[default: {default}]", style="dim"))
    if param.required:
        items.append(Text("[required]", style="dim red"))
    return Columns(items)


def _default_words(param: Any) -> str:
    """The default in the help; empty if there is none. A flag with two names has the name that counts."""
    if param.default is None or not param.show_default:
        return ""
    if isinstance(param, TyperOption) and param.is_bool_flag:
        names = param.opts if param.default else param.secondary_opts
        return names[0].lstrip("-") if param.secondary_opts else str(param.default or "")
    return str(param.default)


def _command_lines(commands: Sequence[tuple[str, str]], indent: int, console: Console) -> Text:
    """A line or more for each command: its name and what it does. A table of so many rows takes longer to draw."""
    lines = []
    for name, about in commands:
        wrapped = _text(about).wrap(console, max(console.width - indent - _PANEL_CHARS, 1))
        named = Text(name.ljust(indent), style="bold cyan", end="")
        lines += [Text.assemble(named if place == 0 else " " * indent, line) for place, line in enumerate(wrapped)]
    return Text("\n").join(lines)

"""All commands as one group: each is imported and built when it is typed, and the help needs none of them.

Typer evaluates the types of all parameters of a command, and each command's file imports what its options need. Built
all together, they would cost each start more than most commands.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import HAS_RICH, TyperCommand, TyperGroup

from loadgo.cli.command_list import COMMANDS_BY_GROUP, LISTED_COMMANDS
from loadgo.cli.output import errors_as_messages
from loadgo.cli.typed_values import plain_flag


class CommandGroup(TyperGroup):
    """All commands together. Help that nobody can read ends in words, too."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        for name, listed in LISTED_COMMANDS.items():
            self.add_command(ListedAlone(name, help=listed.about))

    def get_help_option(self, ctx: Any) -> Any:
        """The option `--help`, without a value."""
        return plain_flag(super().get_help_option(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the help. Raises `BrokenPipeError` if nobody reads it."""
        if HAS_RICH:
            from loadgo.cli.help_pages import print_help

            groups = {
                title: [(name, listed.about) for name, listed in commands.items()]
                for title, commands in COMMANDS_BY_GROUP.items()
            }
            print_help(self, ctx, groups)
        else:
            super().format_help(ctx, formatter)

    def make_context(self, *args: Any, **keywords: Any) -> Any:
        """Reads the arguments; prints the help if they ask for it."""
        with errors_as_messages():
            try:
                return super().make_context(*args, **keywords)
            except typer.TyperException as error:
                raise _printed(error) from None

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        with errors_as_messages():
            try:
                return super().invoke(ctx)
            except typer.TyperException as error:
                raise _printed(error) from None


def _printed(error: typer.TyperException) -> Exception:
    """Prints a mistake in the arguments. Returns the exit that follows, or the error where Typer is to print it."""
    if not HAS_RICH:
        return error
    from loadgo.cli.help_pages import print_usage_error

    print_usage_error(error)
    return typer.Exit(error.exit_code)


class ListedAlone(TyperCommand):
    """A command of which only the name and the line of help are there, until it is typed."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Builds the command, which reads the arguments."""
        return built_command(str(self.name)).make_context(info_name, args, parent, **extra)


@cache
def built_command(name: str) -> Any:
    """The command called `name`. Imports its file."""
    from loadgo.cli.usage_errors import PlainCommand

    listed = LISTED_COMMANDS[name]
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    settings = {"allow_interspersed_args": False} if listed.takes_command else None
    function = getattr(import_module(f"loadgo.cli.{listed.file}"), name)
    alone.command(name, cls=PlainCommand, context_settings=settings)(function)
    return typer.main.get_command(alone)

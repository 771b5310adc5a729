"""Commands whose errors have the words of the command line, and whose help has examples and groups of options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import typer
from typer._click.exceptions import MissingParameter, NoSuchOption
from typer.core import HAS_RICH, TyperArgument, TyperCommand, TyperOption

from loadgo.cli.examples import with_examples
from loadgo.cli.option_groups import HELP_GROUP, group_of
from loadgo.cli.typed_values import plain_flag, read_plain_values

_PLAIN_WORDS = (
    (re.compile(r"Input should be a valid integer.*", re.DOTALL), "write a whole number, such as 20"),
    (re.compile(r"Input should be a valid number.*", re.DOTALL), "write a number, such as 1.5"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"it must be \1 or more"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"it must be \1 or less"),
    (re.compile(r"Input should be "), "it must be "),
    (re.compile(r"Value error, "), ""),
)


_PATH_OPTIONS = ("--out", "--output", "-o", "--report", "--csv", "--into")
"""Options that take a path in every command that has them."""


_FOR_THIS_HOST = ("record", "transfer")
"""Commands that measure, and have no `--on`: what they need of a host is more than an agent there has."""


_METAVARS = {"bool": "", "int": "N", "float": "NUMBER", "str": "TEXT", "Path": "PATH"}
"""The word for an option's value in the help, by Python's type. A flag has none."""


def _no_type(ctx: Any) -> str | None:
    return None


class PlainCommand(TyperCommand):
    """A command whose errors are in plain words, and whose help has examples and groups of options."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.help = with_examples(str(self.name), self.help or "")
        for param in self.params:
            read_plain_values(param)
            if isinstance(param, TyperOption):
                param.rich_help_panel = group_of(str(self.name), str(param.name))
                if param.metavar is None and not param.type_descriptor.is_choice:
                    param.metavar = _METAVARS.get(param.bare_type().removeprefix("list[").removesuffix("]"))
            elif isinstance(param, TyperArgument):
                # Its name says what it is: a column with Python's types would say nothing.
                param.display_type_rich = _no_type  # type: ignore[method-assign]

    def get_help_option(self, ctx: Any) -> Any:
        """The option `--help`, in a group with others."""
        option = plain_flag(super().get_help_option(ctx))
        if option is not None:
            option.rich_help_panel = HELP_GROUP
        return option

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the help. Raises `BrokenPipeError` if nobody reads it."""
        if HAS_RICH:
            from loadgo.cli.help_pages import print_help

            print_help(self, ctx)
        else:
            super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments. Raises `typer.BadParameter` for a value that makes no sense, or is missing."""
        _check_paths(args)
        _check_host(str(self.name), args)
        try:
            return super().parse_args(ctx, args)
        except NoSuchOption as error:
            error.possibilities = nearest_options(error.option_name, error.possibilities or ())
            raise
        except MissingParameter as error:
            error.message = error.message or str(getattr(error.param, "help", None) or "")
            raise
        except typer.BadParameter as error:
            error.message = in_plain_words(error.message)
            raise


def nearest_options(typed: str, options: Sequence[str]) -> list[str]:
    """The `options` that begin as what was typed, or else the nearest one; all if none is near."""
    begun = [option for option in options if option.startswith(typed)]
    return begun or get_close_matches(typed, options, n=1, cutoff=0.8) or list(options)


def _check_host(command: str, args: list[str]) -> None:
    """Raises `typer.BadParameter` for another host as the place of a command that is for this host alone."""
    if command in _FOR_THIS_HOST and any(word.split("=")[0] == "--on" for word in _own_words(args)):
        there = f"ssh -t HOST loadgo {command} …"
        raise typer.BadParameter(
            f"`loadgo {command}` is for this host alone: run it on the other host, by `{there}`", param_hint="'--on'"
        )


def _own_words(args: list[str]) -> list[str]:
    """The words before `--`, without those of a command that loadgo runs."""
    return args[: args.index("--")] if "--" in args else args


def _check_paths(args: list[str]) -> None:
    """Raises `typer.BadParameter` for an empty path, which would be the present folder."""
    words = _own_words(args)
    for name in _PATH_OPTIONS:
        if f"{name}=" in words or (name, "") in pairwise(words):
            raise typer.BadParameter("it is empty: name a path, or leave the option out", param_hint=f"'{name}'")


def in_plain_words(message: str) -> str:
    """The message without the words of the library that checks values."""
    for pattern, words in _PLAIN_WORDS:
        message = pattern.sub(words, message)
    return message

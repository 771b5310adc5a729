"""Commands whose errors have the words of the command line, and whose help has examples and groups of options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import typer
from typer._click.exceptions import MissingParameter, NoSuchOption, UsageError
from typer.core import HAS_RICH, TyperArgument, TyperCommand, TyperOption

from loadgo.cli.examples import with_examples
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
_LOAD, _SYSTEM, _MEASURING, _SEARCH = "The load", "The system", "Measuring", "The search"
_JUDGING, _MONEY, _OUTPUT, _SERVER, _DATA = "Judging", "Money", "Output", "Serving", "The data"
_SHOWN, _WORKERS = "What is shown", "The workers"

_GROUPS: dict[str, str] = {
    name: group
    for group, names in {
        _LOAD: "users passes duration think typing arrivals warm_up seed until mix streams",
        _SYSTEM: """on login sudo driven_from without_lost set limit on_a on_b login_a login_b set_a set_b limit_a
            limit_b before_a before_b change to factors machine shell limit_each""",
        _MEASURING: """meters reference usage_every working_sets fifo processor every hz cold runs measured at_most
            times load grid equal_speed""",
        _SEARCH: "target vary max_users within shortest longest trials pairs time_limit margin measure draws",
        _JUDGING: "fail_if phases worse judge against against_tariff since like",
        _MONEY: "tariff network tariffs print_tariff",
        _OUTPUT: """format output out share quiet quiet_output watch chart vocabulary by host top failed full csv report
            folded speedscope pprof name force cast methods junit summary here""",
        _SERVER: "listen connections total once job_time serve beyond_loopback otlp port leaves",
        _WORKERS: "workers part",
        _SHOWN: "terminal window speed at model",
        _DATA: """size method message receive from_file into token_file read columns allow_files
            think_from without_users names days typed figures""",
    }.items()
    for name in names.split()
}
"""The group of each option by the name of its parameter."""

_EXCEPTIONS: dict[tuple[str, str], str] = {
    ("run", "draws"): _MEASURING,
    ("meter", "duration"): _MEASURING,
    ("profile", "duration"): _MEASURING,
    ("profile", "of"): _MEASURING,
    ("report", "target"): _JUDGING,
    ("compare", "within"): _JUDGING,
    ("cost", "measure"): _JUDGING,
    ("likeness", "margin"): _JUDGING,
    ("speedup", "tariff"): _OUTPUT,
    ("transfer", "to"): _DATA,
    ("watch", "once"): _SHOWN,
    ("watch", "target"): _SHOWN,
    ("query", "run"): _DATA,
    ("record", "from_cast"): _DATA,
    ("observe", "duration"): _MEASURING,
    ("observe", "sources"): _DATA,
    ("observe", "users"): _DATA,
}
"""Options that mean something else in one command."""


HELP_GROUP = _OUTPUT
"""The group of `--help`."""


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
        typed = list(args)  # the parser takes the words out of its list
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
        except UsageError as error:
            error.message += self._repetition(typed)
            raise

    def _repetition(self, typed: list[str]) -> str:
        """Advice on an argument too many behind an option that is given once for each value; empty without one."""
        repeatable = [name for param in self.params if getattr(param, "multiple", False) for name in param.opts]
        given = [name for name in repeatable if any(word.split("=")[0] == name for word in _own_words(typed))]
        return f". Each value has an option of its own: {given[0]} A {given[0]} B" if given else ""


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


def group_of(command: str, parameter: str) -> str | None:
    """The heading of an option's group; None for the group of all others."""
    return _EXCEPTIONS.get((command, parameter), _GROUPS.get(parameter))

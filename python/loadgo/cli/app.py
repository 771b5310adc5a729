"""The command line: `loadgo` without a command, and the way to each command."""

from __future__ import annotations

import os
from typing import Annotated

import typer

import loadgo
from loadgo.cli.command_group import CommandGroup
from loadgo.cli.completed_values import REQUEST_VARIABLE
from loadgo.cli.output import NOT_RUN_STATUS, print_output
from loadgo.running.stopping import report_after_stop_signals, say_at_abort

FIRST_STEPS_TEXT = """\
loadgo loads this host with users who type, and measures how many it holds,
what each interaction costs, and where the time goes. A first command to try:

    loadgo run typical-user --users 20 --think 'uniform(0.5s, 3s)'

It takes about a minute. Then:

    loadgo report --format html   that run as a page with charts
    loadgo meter --for 10s        where this host's time goes, without a load
    loadgo doctor                 what can be measured here, and why not the rest
    loadgo --help                 all commands

The same users on a simulated machine of 1973:

    loadgo run typical-user --users 4 --on multics-645
"""

_HELP = """Loads a machine with users who type: how many it holds, what each interaction costs, where the time goes.

    loadgo doctor                        what can be measured on this host
    loadgo run typical-user --users 3    load this host, and print the report
"""

app = typer.Typer(
    name="loadgo",
    cls=CommandGroup,
    help=_HELP,
    epilog="Exit status: 0 all is well; 1 the finding is bad; 2 it could not run; 130 it was interrupted.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command line on this process's arguments, and exits."""
    report_after_stop_signals()
    say_at_abort(NOT_RUN_STATUS)
    if REQUEST_VARIABLE in os.environ:  # a shell asks for the words that may come next: see `loadgo completions`
        from typer._completion_classes import completion_init

        completion_init()
    app(prog_name="loadgo")


@app.callback(invoke_without_command=True)
def _without_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", metavar="", help="Print the version.")] = False,
) -> None:
    if version:
        print_output(f"loadgo {loadgo.__version__}\n")
    elif context.invoked_subcommand is None:
        print_output(FIRST_STEPS_TEXT)

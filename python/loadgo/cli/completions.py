"""The command `completions`: the lines that teach a shell to complete loadgo's commands, options and names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from loadgo.cli.completed_values import REQUEST_VARIABLE
from loadgo.cli.output import errors_as_messages
from loadgo.cli.page_output import page_output

Shell = Literal["bash", "zsh", "fish"]

_AT_THE_FIRST_TAB = """
# zsh reads this file at the first Tab, by the name `_loadgo`: that Tab is answered, too.
[ "${funcstack[1]}" = _loadgo ] && _loadgo_completion "$@"
"""


def completions(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; - is the standard output.")
    ] = None,
) -> None:
    """Prints the lines that let a shell complete commands, options, and the names of scripts, machines and runs."""
    with errors_as_messages():
        page_output("text", output, "").write(completion_lines(shell))


def completion_lines(shell: Shell) -> str:
    """The lines for a shell, as `loadgo completions` prints them and as packages have them in a file."""
    from typer._completion_shared import get_completion_script

    lines = get_completion_script(prog_name="loadgo", complete_var=REQUEST_VARIABLE, shell=shell)
    return f"{lines}\n{_AT_THE_FIRST_TAB if shell == 'zsh' else ''}"

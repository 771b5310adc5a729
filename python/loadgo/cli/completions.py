"""The command `completions`: the lines that teach a shell to complete loadgo's commands, options and names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from loadgo.cli.completed_values import REQUEST_VARIABLE
from loadgo.cli.output import errors_as_messages
from loadgo.cli.page_output import page_output


def completions(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; - is the standard output.")
    ] = None,
) -> None:
    """Prints the lines that let a shell complete commands, options, and the names of scripts, machines and runs."""
    with errors_as_messages():
        from typer._completion_shared import get_completion_script

        lines = get_completion_script(prog_name="loadgo", complete_var=REQUEST_VARIABLE, shell=shell)
        page_output("text", output, "").write(f"{lines}\n")

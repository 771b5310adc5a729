"""The files of an installation below `share/`: the manual pages, and the lines that let shells complete.

They are made in the build (setup.py), which has Typer and Rich, and no extension module.
"""

from __future__ import annotations

from typing import get_args

from loadgo.cli.completions import Shell, completion_lines
from loadgo.cli.manual_pages import manual_pages

MANUAL_FOLDER = "share/man/man1"
COMPLETION_FILES: dict[Shell, str] = {
    "bash": "share/bash-completion/completions/{program}",
    "zsh": "share/zsh/site-functions/_{program}",
    "fish": "share/fish/vendor_completions.d/{program}.fish",
}
"""Where each shell looks for the lines of a program, below the prefix of its installation."""


def shared_files(version: str) -> dict[str, str]:
    """The content of each file by its path below the prefix."""
    pages = {f"{MANUAL_FOLDER}/{name}": page for name, page in manual_pages(version).items()}
    lines = {COMPLETION_FILES[shell].format(program="loadgo"): completion_lines(shell) for shell in get_args(Shell)}
    return pages | lines


def shared_files_of_agent() -> dict[str, str]:
    """The paths of the agent's files below the prefix, with their names in `packaging/agent`: nothing makes them."""
    program = "loadgo-agent"
    lines = {path.format(program=program): f"{program}.{shell}" for shell, path in COMPLETION_FILES.items()}
    return {f"{MANUAL_FOLDER}/{program}.1": f"{program}.1"} | lines

"""Scripts for reproductions: bundled ones for users of endless patience, and short ones of a few commands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

PATIENCE = 'timeout = "1000h"'
"""A simulated user waits for as long as it takes; by default a line is given up after five minutes."""


@cache
def patient(name: str) -> str:
    """The text of a bundled script, with no line ever given up."""
    text = (resources.files("loadgo") / "data" / "scripts" / f"{name}.toml").read_text(encoding="utf-8")
    text = re.sub(r"^timeout +=.*\n", "", text, flags=re.MULTILINE)
    found, count = re.subn(r"^passes +=.*$", rf"\g<0>\n{PATIENCE}", text, count=1, flags=re.MULTILINE)
    assert count == 1, f"the script {name} says how many passes it has"
    return found


def of_lines(lines: Iterable[str], *, think: str = "none", passes: int = 1) -> str:
    """A script of these lines, each a command of the machine with its words."""
    typed = "\n".join(f'[[lines]]\nas = "{line.split()[0]}"\ntype = "{line}"' for line in lines)
    return _head(think, passes) + typed


def of_command(command: str, *, think: str = "none", typing: str = "", repeat: int = 1) -> str:
    """A script of one command again and again, each time a line of its own; the name may be of several words."""
    typed = f'typing = "{typing}"\n' if typing else ""
    return _head(think, 1) + typed + f'[[lines]]\nas = "{command}"\ntype = "{command}"\n' * repeat


def _head(think: str, passes: int) -> str:
    return f'name = "experiment"\nlogin = "console"\npasses = {passes}\nthink = "{think}"\n{PATIENCE}\n'

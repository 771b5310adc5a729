"""Scripts for reproductions: bundled scripts without timeouts, and short scripts of a few commands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

NO_TIMEOUT_TOML = 'timeout = "1000h"'
"""A timeout that no line reaches. By default a user abandons a line after five minutes."""


@cache
def script_without_timeouts(name: str) -> str:
    """The text of a bundled script whose users never abandon a line."""
    text = (resources.files("loadgo") / "data" / "scripts" / f"{name}.toml").read_text(encoding="utf-8")
    text = re.sub(r"^timeout +=.*\n", "", text, flags=re.MULTILINE)
    patient_text, count = re.subn(r"^passes +=.*$", rf"\g<0>\n{NO_TIMEOUT_TOML}", text, count=1, flags=re.MULTILINE)
    assert count == 1, f"the script {name} has no number of passes"
    return patient_text


def script_from_lines(lines: Iterable[str], *, think: str = "none", passes: int = 1) -> str:
    """A script of these lines. Each is a command of the machine with its arguments."""
    steps = "\n".join(f'[[lines]]\nas = "{line.split()[0]}"\ntype = "{line}"' for line in lines)
    return _head(think, passes) + steps


def script_from_command(command: str, *, think: str = "none", typing: str = "", repeat: int = 1) -> str:
    """A script that repeats a command, each time in a line of its own. The command's name may have spaces."""
    rate = f'typing = "{typing}"\n' if typing else ""
    return _head(think, 1) + rate + f'[[lines]]\nas = "{command}"\ntype = "{command}"\n' * repeat


def _head(think: str, passes: int) -> str:
    return f'name = "experiment"\nlogin = "console"\npasses = {passes}\nthink = "{think}"\n{NO_TIMEOUT_TOML}\n'

"""A line that zsh completes at one press of the Tab key, in a terminal of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.outside import PATIENCE_S

# zpty waits for each pattern. The echo of the first line has quotes inside the word that its output has whole.
_PROGRAM = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=('$1' $fpath); autoload -Uz compinit; compinit -u -d '$1'/dump; print rea""dy'
zpty -r -m shell line '*ready*'
zpty -w -n shell $2$'\t'
zpty -r -m shell line "*$3*"
print -r -- $line
zpty -d shell
"""


def completed_by_zsh(line: str, shown: str, functions: Path, path: str = os.environ["PATH"]) -> str:
    """The terminal's text after a Tab at the end of `line`, once `shown` is in it.

    `functions` is a folder of files `_NAME`, each of which completes the program NAME.
    """
    words = ["zsh", "-f", "-c", _PROGRAM, "zsh", str(functions), line, shown]
    environment = {"PATH": path, "HOME": str(functions), "TERM": "dumb"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout

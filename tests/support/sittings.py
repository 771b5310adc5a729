"""A person who sits at a real terminal and types, for tests of recordings."""

from __future__ import annotations

import os
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect

from support.outside import PATIENCE_S

PROMPT = "ready$ "


RECORD = """
import sys, loadgo
from loadgo.running.record import closing_message
recorded = loadgo.record(sys.argv[1], shell=sys.argv[3:], cast=sys.argv[2])
print(closing_message(recorded))
"""


class Sitting:
    """A person at a terminal, in front of a recorded shell."""

    def __init__(self, home: Path, shell: list[str]) -> None:
        self.home, self.script, self.cast = home, home / "recorded.toml", home / "session.cast"
        (home / ".bashrc").write_text(f"PS1='{PROMPT}'\nPROMPT_COMMAND='true'\nbind 'set bell-style none'\n")
        (home / "tmp").mkdir()
        environment = {**os.environ, "HOME": str(home), "PS1": PROMPT, "TERM": "xterm", "TMPDIR": str(home / "tmp")}
        command = ["-c", RECORD, str(self.script), str(self.cast), *shell]
        self.terminal = pexpect.spawn(
            sys.executable,
            command,
            env=environment,
            cwd=str(home),
            timeout=PATIENCE_S,
            encoding="utf-8",
            dimensions=(24, 80),
        )
        self.terminal.delaybeforesend = None
        self.seen = ""

    def sees(self, text: str) -> None:
        self.terminal.expect_exact(text)
        self.seen += self.terminal.before + text

    def enters(self, keys: str, then: str = PROMPT) -> None:
        """Types keys, ends the line when it has seen their echo, and waits for what comes `then`.

        A line that was entered before any of it was shown is a secret to the recorder.
        """
        for key in keys:
            self.terminal.send(key)
        self.settles()
        self.terminal.send("\r")
        self.sees("\n")
        self.sees(then)

    def settles(self) -> None:
        """Waits for something to be shown, and then for a tenth of a second in which nothing is."""
        shown, deadline = None, time.monotonic() + PATIENCE_S
        while self.terminal.buffer != shown or not (shown or time.monotonic() > deadline):
            shown = self.terminal.buffer
            self.terminal.expect(pexpect.TIMEOUT, timeout=0.1)

    def leaves(self, keys: str = "exit\r") -> None:
        self.terminal.send(keys)
        self.terminal.expect(pexpect.EOF)
        self.seen += self.terminal.before
        self.terminal.close()


@contextmanager
def sitting(home: Path, *shell: str, prompt: str = PROMPT) -> Iterator[Sitting]:
    """A sitting that has reached its first prompt; its processes are gone afterwards."""
    person = Sitting(home, list(shell))
    try:
        person.sees(prompt)
        yield person
    finally:
        person.terminal.close(force=True)


def typed(script: Path) -> list[tuple[str, object]]:
    """Text and expected status of each line of a script."""
    document = tomllib.loads(script.read_text())
    status = document.get("status")
    tables = [{"type": line} if isinstance(line, str) else line for line in document["lines"]]
    return [(line["type"], line.get("status", status)) for line in tables]

"""The limit on commands that are read of one log, so that memory is bounded."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.errors import Refused

MOST_LOGGED_COMMANDS = 1_000_000
"""The largest number of commands that are read at once. They take about 0.5 GB with their sessions."""


@dataclass
class CommandLimit:
    """Counts the commands of a log while it is read."""

    name: str
    """The log, for the error."""
    commands: int = 0

    def count(self, more: int = 1) -> None:
        """Counts `more` commands. Raises `Refused` beyond the limit."""
        self.commands += more
        if self.commands > MOST_LOGGED_COMMANDS:
            raise Refused(
                f"{self.name}: more than {MOST_LOGGED_COMMANDS:,} commands are too many at once: give a part of the log"
            )

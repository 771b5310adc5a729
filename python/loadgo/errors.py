"""What goes wrong, as a tree: catch `LoadgoError`, or the branch that you can do something about.

    LoadgoError
    ├── Mistake     in what was given: a script, a specification, an expression; with file, line and column
    ├── Refused     the host refused, before or while users were on it: what was tried, and the remedy
    │   └── NotPossible     it cannot be done in this way between these hosts: in another way it may
    ├── BadRun      a run's folder is missing, is still being written, or cannot be read
    └── BadQuery    a question to the tables that has no answer: it names the tables and columns there are

Rust raises the same classes by name. A finding that is bad (a threshold missed, records lost) is no error.
"""

from __future__ import annotations


class LoadgoError(Exception):
    """Anything that loadgo could not do; its text is for a person, and says what to do."""


class Mistake(LoadgoError):
    """The caller's mistake, with the place of it: `line` and `column` count from 1; `file` where it is known."""

    def __init__(self, line: int, column: int, message: str, file: str | None = None) -> None:
        super().__init__(line, column, message, file)
        self.line = line
        self.column = column
        self.message = message
        self.file = file

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}"
        return f"{self.file}, {place}: {self.message}" if self.file else f"{place}: {self.message}"

    def in_file(self, file: str) -> Mistake:
        """The same mistake, in `file`."""
        return Mistake(self.line, self.column, self.message, file)


class Refused(LoadgoError):
    """The world's refusal: what was tried, for whom, and the remedy, in one text."""


class NotPossible(Refused):
    """A way of doing it that these hosts do not have; another way may do."""


class BadRun(LoadgoError):
    """A run's folder that is not there, not whole, or not of a format that this version reads."""


class BadQuery(LoadgoError):
    """A query that the tables cannot answer."""

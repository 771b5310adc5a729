"""The errors of loadgo, as a tree: catch `LoadgoError`, or the branch that you can do something about.

    LoadgoError
    ├── BadArgument     an argument of a call makes no sense; it is a `ValueError`, too
    │   └── UnknownName     the result of a call has nothing of this name; it is a `KeyError`, too
    ├── Mistake         a mistake in a text: a script, a machine file; with file, line and column
    ├── Refused         the host refused, before or while users were on it: what was tried, and the remedy
    │   ├── NotPossible     these hosts cannot do it in this way; another way may work
    │   ├── RunTrouble      the run failed here and now, by a full disk for example; what it asked for is possible
    │   └── NotWritten      a text was made and cannot be written, by a full disk for example; the error has the text
    ├── BadRun          a run's folder is missing, is still being written, or cannot be read
    └── BadQuery        the tables have no answer to a query: the text names the tables and columns

Rust raises the same classes by name. A bad finding (a condition that holds, lost records) is no error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class LoadgoError(Exception):
    """An error of loadgo. Its text is for people, and has the remedy if there is one."""

    arguments: tuple[str, ...] = ()
    """The names of the call's arguments that the text mentions, each in backquotes there: `` `duration` ``."""

    def about(self, *arguments: str) -> Self:
        """Marks the arguments that the text names, and returns the error. The command line shows options instead."""
        self.arguments = (*self.arguments, *arguments)
        return self


class BadArgument(LoadgoError, ValueError):
    """An argument that makes no sense; the text names it and says what would be right."""


class UnknownName(BadArgument, KeyError):
    """A name that a result does not have; the text says which names it has."""

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Puts the name of an argument before the text of a `ValueError` that is raised while its value is read."""
    try:
        yield
    except ValueError as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeEncodeError) else error
        named = BadArgument(f"`{argument}`: {reason}").about(argument)
        raise named.about(*error.arguments) if isinstance(error, LoadgoError) else named from None


def error_in_words(error: Exception) -> str:
    """The text of an error; that of the system's errors has no number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


class Mistake(LoadgoError):
    """A mistake in a text, with its place. `line` and `column` count from 1, and `file` is None if it is unknown."""

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
    """A refusal of the host. The text has what was tried, for which user, and the remedy."""


class NotPossible(Refused):
    """The method is not possible on these hosts; another method may be."""


class RunTrouble(Refused):
    """A run that failed by the state of this host, such as a full disk, or by a defect, not by what it asked for."""


class NotWritten(Refused):
    """A text that cannot be written to its file. `text` has it, since it may be of hours that nobody can repeat."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


class BadRun(LoadgoError):
    """A run's folder that is missing, incomplete, or of a format that this version does not read."""


class BadQuery(LoadgoError):
    """A query that the tables cannot answer."""


_SHORTAGES = {
    "TooManyOpenFiles": "no further file can be opened: raise the limit of this process (ulimit -n)",
    "OutOfMemory": "the kernel has no memory left for what loadgo asks of it: make room, and give the command again",
}
"""The words for an error of the kernel, by its name in Rust (`std::io::ErrorKind`)."""
NO_MEMORY = "there is no memory left for this process: raise its limit (ulimit -v), or make room"
"""Words for memory that is refused."""
_UNLOADED_WORDS = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory")
"""Words of the loader of libraries, where it gets no memory."""


def shortage_of_import(text: str) -> str:
    """The shortage in words, if a library with this error could not be loaded for want of memory; else empty."""
    return NO_MEMORY if any(words in text for words in _UNLOADED_WORDS) else ""


def shortage_of_panic(text: str) -> str:
    """The shortage in words, if a panic of Rust code with this text is from want of files or memory; else empty."""
    return next((words for kind, words in _SHORTAGES.items() if kind in text), "")

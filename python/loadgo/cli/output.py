"""Output of the command line: the standard output, notes and errors on the standard error, and exit statuses.

Only this package prints and exits. Status 0: all is well. 1: the finding is bad, such as a missed threshold, lost
records, or a driver that was the bottleneck. 2: the command could not run. 130: it was interrupted.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from loadgo.cli.files import write_file

if TYPE_CHECKING:
    from rich.console import Console

STATUS_GOOD, STATUS_BAD_FINDING, NOT_RUN_STATUS, STATUS_INTERRUPTED = 0, 1, 2, 130

FILE_FORMATS = ("html", "svg", "png")
"""Formats of a report that go into a file by default."""
_NO_THREAD_WORDS = ("can't start new thread", "failed to spawn thread")
"""Words of the errors of Python and of Rust where the system permits no further thread."""
_NO_THREAD = "no further thread can be started: raise the limit of processes (ulimit -u, or pids.max of the group)"
"""Words for that shortage."""
_OPTION_NAMES = {
    "duration": "--for",
    "driven_from": "--from",
    "output": "-o",
    "sources": "--from",
    "fifo": "--no-fifo",
    "token": "--token-file",
    "figure": "FIGURE",
}
"""Options whose names differ from those of their arguments, and arguments of the command line that are no options."""


@contextmanager
def errors_as_messages(error_status: int = NOT_RUN_STATUS) -> Iterator[None]:
    """Turns an error into one message and an exit status. A bug of loadgo's own keeps its traceback."""
    from loadgo.errors import LoadgoError

    if sys.stdout is None:
        print_error("the standard output is closed: give it somewhere to go, such as >report.txt")
        raise typer.Exit(NOT_RUN_STATUS)
    try:
        yield
    except BrokenPipeError:
        _abandon_output()
        print_error("nobody reads the output any more")
        raise typer.Exit(error_status) from None
    except KeyboardInterrupt as interrupt:
        if not _can_start_thread():  # then OpenBLAS interrupts its own process as it is loaded
            print_error(_NO_THREAD)
            raise typer.Exit(error_status) from None
        print_error("interrupted")
        print_leftovers(getattr(interrupt, "__notes__", ()))
        raise typer.Exit(STATUS_INTERRUPTED) from None
    except (LoadgoError, ValueError, OSError) as error:
        if os.environ.get("LOADGO_TRACEBACK"):
            raise
        print_error(_message_of(error))
        if not isinstance(error, UnicodeEncodeError):
            print_leftovers(getattr(error, "__notes__", ()))
        raise typer.Exit(error_status) from None
    except BaseException as error:
        if not (shortage := _shortage(error)):
            raise
        print_error(shortage)
        raise typer.Exit(error_status) from None


def _shortage(error: BaseException) -> str:
    """The shortage in words, if the error is from want of memory, threads or files; empty for any other error."""
    from loadgo.errors import NO_MEMORY, shortage_of_import, shortage_of_panic

    if isinstance(error, MemoryError):
        return NO_MEMORY
    is_refused = _is_panic(error) and "WouldBlock" in str(error)
    if is_refused or any(words in str(error) for words in _NO_THREAD_WORDS):
        return _NO_THREAD
    # Polars goes on without its binary where that is refused memory or files, and meets other errors then.
    is_unloaded = "polars" in sys.modules and "polars._plr" not in sys.modules and not isinstance(error, typer.Exit)
    if not (is_unloaded or isinstance(error, ImportError) or _is_panic(error)):
        return ""
    if shortage := shortage_of_panic(str(error)) or shortage_of_import(str(error)):
        return shortage
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as refusal:
        return f"a part of loadgo cannot be loaded: {refusal.strerror}; raise the limit of this process (ulimit -n)"
    return f"Polars cannot be loaded; most often {NO_MEMORY}" if is_unloaded else ""


def _can_start_thread() -> bool:
    """Whether the system permits a further thread now."""
    from threading import Thread

    thread = Thread(target=bool)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


def _is_panic(error: BaseException) -> bool:
    """Whether Rust code, of loadgo or of a library, has met an error that it does not handle."""
    return type(error).__module__ == "pyo3_runtime"


def try_each(*steps: Callable[[], object]) -> None:
    """Calls each step, also after one that failed, so that one bad file costs no other.

    At the end, prints the errors but one, and raises that.
    """
    from loadgo.errors import LoadgoError

    errors: list[Exception] = []
    for step in steps:
        try:
            step()
        except (LoadgoError, ValueError, OSError) as error:
            errors.append(error)
    errors.sort(key=lambda error: isinstance(error, BrokenPipeError))
    for earlier in errors[:-1]:
        print_error(_message_of(earlier))
    if errors:
        raise errors[-1]


def _message_of(error: Exception) -> str:
    from loadgo.errors import LoadgoError, error_in_words

    if isinstance(error, UnicodeEncodeError):
        shown = error.object.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return f"an argument is not UTF-8: {shown}"
    return with_option_names(error_in_words(error), error.arguments if isinstance(error, LoadgoError) else ())


def write_report(content: str | bytes, format: str, folder: Path, output: Path | None) -> None:
    """Writes a report to `output`. By default HTML and pictures go into the run's folder, other formats to stdout.

    Raises `ValueError` with the remedy where that folder, such as that of another person, cannot be written.
    """
    if output is None and format in FILE_FORMATS:
        output = folder / f"report.{format}"
        check_writable(output)
    if output is None or str(output) == "-":
        print_output(content)
        return
    write_file(output, content)
    print_note(f"the report is in {output}")


def check_writable(path: Path | None, option: str = "-o") -> None:
    """Raises `ValueError` with the remedy if the file at `path` cannot be written. Creates no file and changes none.

    None and `-` are the standard output. Commands call it before their work, which may be long.
    """
    if path is None or str(path) == "-":
        return
    try:
        if path.is_dir():
            raise ValueError(f"{path} is a folder: name a file in it with {option}")
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}; make it, or name another file with {option}")
        _try_to_open(path)
    except OSError as refusal:
        raise ValueError(f"{path} cannot be written ({refusal.strerror}): name another file with {option}") from None


def check_files(files: Mapping[str, Path | None], others: Mapping[str, Path | None]) -> None:
    """Raises `ValueError` unless each of `files` can be written and no two files are the same.

    The keys are options. `others` are other outputs of the command, whose places are checked elsewhere.
    """
    for option, path in files.items():
        if path is not None and str(path) == "-":
            raise ValueError(f"{option} - would mix with the report on the standard output: name a file")
        check_writable(path, option)
    options: dict[str, str] = {}
    for option, path in {**others, **files}.items():
        is_device = path is not None and path.exists() and not (path.is_file() or path.is_dir())
        if path is None or str(path) == "-" or is_device:
            continue
        first = options.setdefault(os.path.realpath(path), option)
        if first != option:
            raise ValueError(f"{first} and {option} are both {path}: name another file with {option}")


def file_of_option(text: str) -> Path:
    """The file that an option names. An empty text, such as that of a variable that is not set, is refused."""
    if not text:
        raise typer.BadParameter("it is empty: name a file, or leave the option out")
    return Path(text)


def _try_to_open(path: Path) -> None:
    """Opens a file for writing and closes it. Pipes and devices are not opened, since that is possible only once."""
    existed = path.exists()
    if existed and not path.is_file():
        return
    with path.open("ab"):
        pass
    if not existed:
        path.resolve().unlink()


def print_output(content: str | bytes) -> None:
    """Writes to the standard output and flushes it, so that an error is raised here."""
    try:
        sys.stdout.buffer.write(content if isinstance(content, bytes) else content.encode())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as refusal:
        _abandon_output()
        raise OSError(refusal.errno, refusal.strerror, "the standard output") from None


def print_note(text: str) -> None:
    """Prints a note on the standard error."""
    _print_beside(text, "dim")


def print_error(text: str) -> None:
    """Prints an error on the standard error, without control characters."""
    try:
        from loadgo.notation.figures import plain
    except (OSError, ImportError, MemoryError):
        plain = _printable  # nothing more can be loaded
    shown = "\n".join(plain(line) for line in f"loadgo: {text}".split("\n"))
    _print_beside(shown, "red")


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)


def _print_beside(text: str, style: str) -> None:
    """Prints on the standard error. The command goes on if that is a full disk."""
    with suppress(OSError):
        try:
            console = error_console()
        except (OSError, ImportError, MemoryError):
            sys.stderr.write(f"{text}\n")  # nothing more can be loaded
            sys.stderr.flush()
        else:
            console.print(text, style=style, soft_wrap=True)


def print_beside_command(text: str) -> None:
    """Prints a report on the standard error, since a command has the output. No report costs the command's status."""
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def print_leftovers(left_behind: Iterable[str]) -> None:
    """Prints what a run leaves on this host as errors, also with `--quiet`."""
    for text in left_behind:
        print_error(text)


def notes_without_leftovers(notes: Iterable[str], printed_as_errors: Iterable[str]) -> list[str]:
    """The notes of a run without those that are printed as errors, such as leftovers. They name options."""
    errors = set(printed_as_errors)
    return [with_option_names(text, ("limit",)) for text in notes if text not in errors]


def error_console() -> Console:
    from rich.console import Console

    class ErrorConsole(Console):
        """A console that ends nothing if nobody reads the standard error: the exit status says how a command went."""

        def on_broken_pipe(self) -> None:
            """Drops the text. Rich would end the process with status 1, a bad finding."""

    return ErrorConsole(stderr=True, markup=False, highlight=False, emoji=False)


def wants_color() -> bool:
    """Whether the standard output shows colours: a terminal that is not `dumb`, without `NO_COLOR`."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


def outputs_are_one() -> bool:
    """Whether the standard output and the standard error are one terminal, pipe or file: there a text stands once."""
    if sys.stdout is None or sys.stderr is None:
        return False
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):
        return False


def _abandon_output() -> None:
    """Redirects the standard output to nowhere, so that Python's flush at its exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def with_option_names(text: str, arguments: Sequence[str]) -> str:
    """The text with options in place of the names in backquotes: `` `max_users=9` `` becomes `--max-users 9`."""
    if not arguments:
        return text
    names = "|".join(sorted(map(re.escape, arguments), key=len, reverse=True))
    return re.sub(rf"`({names})(?:=([^`]*))?`", lambda match: _option(match[1], match[2]), text)


def _option(argument: str, value: str | None) -> str:
    option = _OPTION_NAMES.get(argument, "--" + argument.replace("_", "-"))
    return option if value is None else f"{option} {value}"

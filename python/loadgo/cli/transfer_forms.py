"""The forms of `loadgo transfer`, and the options of each. An option of another form is refused."""

from __future__ import annotations

import shutil

import typer

SERVE_WORD = "serve"

_OUTPUT_OPTIONS = {"--tariff", "--network", "--format", "--output"}
_SERVER_OPTIONS = {
    "--listen", "--connections", "--once", "--token-file", "--into", "--size", "--total", "--at-most", "--job-time",
    "--csv", "--quiet",
}  # fmt: skip
_OTHER_FORMS_OPTIONS = {"--listen", "--connections", "--once", "--total", "--job-time", "--columns"}


def refuse_misplaced(ctx: typer.Context, words: list[str], *, reads: bool) -> None:
    """Raises `ValueError` for an option that this form does not have. `reads` is the form that reads a table."""
    if words[:1] == [SERVE_WORD] and len(words) > 1 and shutil.which(SERVE_WORD) is None:
        raise ValueError(f"serve takes no words, such as {words[1]!r}: its address is --listen ADDRESS:PORT")
    if words == [SERVE_WORD]:
        complaint, known_options = "serve moves what others ask it for: leave {} out", _SERVER_OPTIONS
    elif words:
        complaint = "a command moves what it likes: leave {} out, or the command"
        known_options = _OUTPUT_OPTIONS | {"--csv", "--quiet"}
    elif reads:
        complaint = "--read moves nothing: leave {} out, or --read"
        known_options = _OUTPUT_OPTIONS | {"--read", "--columns", "--quiet"}
    else:
        complaint = "leave {} out: a transfer to another host has no such thing"
        known_options = set(_typed(ctx)) - _OTHER_FORMS_OPTIONS
    misplaced = [option for option in _typed(ctx) if option not in known_options]
    if misplaced:
        raise ValueError(complaint.format(", ".join(misplaced)))


def _typed(ctx: typer.Context) -> list[str]:
    """The options of the command line, by their first name."""
    options = [option for option in ctx.command.params if option.param_type_name == "option"]
    return [option.opts[0] for option in options if _is_typed(ctx, str(option.name))]


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def busy_processes(text: str | None) -> list[int]:
    """Parses numbers of busy processes: each once, in ascending order; empty without a text."""
    from loadgo.transfers.background_load import MOST_BUSY_PROCESSES

    parts = [] if text is None else [part.strip() for part in text.split(",") if part.strip()]
    if text is not None and (not parts or not all(part.isdecimal() for part in parts)):
        raise ValueError(f"--load {text!r}: write whole numbers of busy processes, as in 0,2,6")
    loads = sorted({int(part) for part in parts})
    if loads and loads[-1] > MOST_BUSY_PROCESSES:
        raise ValueError(f"--load {text}: {loads[-1]} busy processes are out of range: 0 to {MOST_BUSY_PROCESSES}")
    return loads

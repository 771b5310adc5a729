"""The forms of `loadgo transfer` and the options of each: one that has no meaning there is refused, not passed over."""

from __future__ import annotations

import shutil

import typer

SERVING = "serve"

_SHOWS = {"--tariff", "--network", "--format", "--output"}
_SERVES = {
    "--listen", "--connections", "--once", "--token-file", "--into", "--size", "--total", "--at-most", "--job-time",
    "--csv", "--quiet",
}  # fmt: skip
_ELSEWHERE = {"--listen", "--connections", "--once", "--total", "--job-time", "--columns"}


def refuse_misplaced(ctx: typer.Context, words: list[str], *, reads: bool) -> None:
    """Raises `ValueError` when an option was typed that this form does not have; `reads`: a table is taken apart."""
    if words[:1] == [SERVING] and len(words) > 1 and shutil.which(SERVING) is None:
        raise ValueError(f"serve takes no words, and there is {words[1]!r}: where it waits is --listen ADDRESS:PORT")
    if words == [SERVING]:
        told, known = "serve moves what others ask it for: leave {} out", _SERVES
    elif words:
        told, known = "a command moves what it likes: leave {} out, or the command", _SHOWS | {"--csv", "--quiet"}
    elif reads:
        told, known = "--read moves nothing: leave {} out, or --read", _SHOWS | {"--read", "--columns", "--quiet"}
    else:
        told, known = "leave {} out: a transfer to another host has no such thing", set(_typed(ctx)) - _ELSEWHERE
    misplaced = [option for option in _typed(ctx) if option not in known]
    if misplaced:
        raise ValueError(told.format(", ".join(misplaced)))


def _typed(ctx: typer.Context) -> list[str]:
    """The options of the command line, by their first name."""
    options = [one for one in ctx.command.params if one.param_type_name == "option"]
    return [one.opts[0] for one in options if _is_typed(ctx, str(one.name))]


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"

"""Values of arguments, read without the library that Typer checks them with: its import takes as long as Typer's own.

Only plain values are read here, such as `20` and `uniform(2s, 15s)`. Typer reads all others, and has the errors.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperOption

_PLAIN_INT = re.compile(r"0|-?[1-9][0-9]{0,14}")
_PLAIN_FLOAT = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


class NotPlain(ValueError):
    """A value that Typer has to read, or to refuse."""


def read_plain_values(param: Any) -> None:
    """Lets an argument or an option of Typer read plain values by itself, instead of by Typer."""
    reader = _PlainFirst(param)
    param.get_runtime_param = lambda: reader


def plain_flag(option: Any) -> Any:
    """The option `--help`, which Typer makes: it is read here too, and its help has no word for a value."""
    if isinstance(option, TyperOption):
        option.metavar = ""
        read_plain_values(option)
    return option


class _PlainFirst:
    """Reads a plain value of a parameter by itself, and any other by Typer."""

    def __init__(self, param: Any) -> None:
        self._descriptor = param.type_descriptor
        self._typers_reader = param.get_runtime_param

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value for the command's function. Raises `typer.BadParameter` if it makes no sense."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            return plain_value(value, self._descriptor.annotation, self._descriptor.parameter_info)
        except ValueError:
            return self._typers_reader().coerce(value, param=param, ctx=ctx)


def plain_value(argument: Any, annotation: Any, parameter_info: Any) -> Any:
    """`argument` as the type `annotation`, with the bounds in `parameter_info`.

    Raises `ValueError` where Typer has to read it.
    """
    if get_origin(annotation) is list and isinstance(argument, list | tuple):
        (kind,) = get_args(annotation)
        return [plain_value(item, kind, parameter_info) for item in argument]
    if parameter_info.parser is not None:
        return parameter_info.parser(argument)
    if get_origin(annotation) is Literal and argument in get_args(annotation):
        return argument
    if annotation is str and isinstance(argument, str):
        return argument
    if annotation is Path and isinstance(argument, str) and _is_any_readable_path(Path(argument), parameter_info):
        return Path(argument)
    if annotation in (int, float):
        return _plain_number(argument, annotation, parameter_info)
    raise NotPlain


def _is_any_readable_path(path: Path, info: Any) -> bool:
    """Whether the option takes any path, and this is one that Typer would not refuse as unreadable."""
    takes_any = info.file_okay and info.dir_okay and not (info.exists or info.writable or info.resolve_path)
    return takes_any and (os.access(path, os.R_OK) or not path.exists())


def _plain_number(value: Any, kind: type[int] | type[float], info: Any) -> int | float:
    """The number in decimal digits. A default is a number already."""
    digits = _PLAIN_INT if kind is int else _PLAIN_FLOAT
    is_plain = type(value) is kind or (isinstance(value, str) and digits.fullmatch(value))
    number = kind(value) if is_plain and not info.clamp else None
    if number is None or (info.min is not None and number < info.min) or (info.max is not None and number > info.max):
        raise NotPlain
    return number

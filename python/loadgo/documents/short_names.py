"""Names cut to a width where they say least: the middle of a path, the templates and namespaces of a function."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPERATOR = re.compile(r"operator\s*(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>|\(\))")
"""C++ operators whose names have brackets that open and close nothing."""
_CUT_MARK = "…"
_PYTHON_NAME = re.compile(r"py::(?P<function>.+?):(?P<path>/.+)")
"""A function of Python in the file of names that `python -X perf` writes."""


def short_name(name: str, chars: int) -> str:
    """The name in at most `chars` characters: its first form that fits, or the beginning of the shortest form.

    A path keeps its first folder and its file. A function keeps its own name longest: first its parameters go, then
    its templates, then its namespaces from the left. Any other name keeps its beginning.
    """
    form = name
    for form in name_forms(name):
        if len(form) <= chars:
            return form
    if name.startswith("/"):
        return f"{_CUT_MARK}{name[1 - chars :]}"
    return f"{form[: max(chars - 1, 0)]}{_CUT_MARK}"


def name_forms(name: str) -> Iterator[str]:
    """The forms of a name from the full one to the shortest that still says what it is."""
    yield name
    if name.startswith("/"):
        yield from _path_forms(name)
    elif python := _PYTHON_NAME.fullmatch(name):
        yield f"{python['function']} ({python['path'].rpartition('/')[2]})"
        yield python["function"]
    else:
        yield from _function_forms(name)


def _path_forms(path: str) -> Iterator[str]:
    """The path without folders in its middle, then without the first folder too."""
    first, *others = path[1:].split("/")
    folders, file = others[:-1], others[-1] if others else ""
    for dropped in range(1, len(folders) + 1):
        yield "/".join(["", first, _CUT_MARK, *folders[dropped:], file])
    if file:
        yield f"{_CUT_MARK}/{file}"


def _function_forms(name: str) -> Iterator[str]:
    """The function without its parameters, then without templates, then with ever fewer namespaces."""
    for begin, end in _outer_brackets(name):
        ends_name = end == len(name) or name[end] == " "
        if name[begin] == "(" and begin > 0 and end - begin > 2 and ends_name:
            name = f"{name[:begin]}({_CUT_MARK})"
            yield name
            break
    templates = [(begin, end) for begin, end in _outer_brackets(name) if name[begin] == "<"]
    for begin, end in reversed(templates):
        name = f"{name[:begin]}<{_CUT_MARK}>{name[end:]}"
    if templates:
        yield name
    brackets = _outer_brackets(name)
    for mark in re.finditer("::", name):
        if not any(begin < mark.start() < end for begin, end in brackets):
            yield _CUT_MARK + name[mark.start() :]
    package, slash, function = name.rpartition("/")
    if package and "." in function and "::" not in name:
        yield f"{_CUT_MARK}{slash}{function}"


def _outer_brackets(name: str) -> list[tuple[int, int]]:
    """The begin and the end of each outermost pair of brackets, `<…>` or `(…)`. Without a partner there is no pair."""
    masked = _OPERATOR.sub(lambda match: "o" * len(match[0]), name).replace("->", "oo")
    pairs, opened = [], []
    for at, sign in enumerate(masked):
        if sign in "<(":
            opened.append(at)
        elif sign in ">)" and opened:
            begin = opened.pop()
            if not opened:
                pairs.append((begin, at + 1))
    return pairs

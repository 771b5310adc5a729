"""The docstrings of a class, of its fields and of its properties, read from the source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise


def class_words(kind: type) -> str:
    """The first paragraph of the docstring of a class."""
    return _first_paragraph(inspect.cleandoc(kind.__doc__ or ""))


@cache
def member_words(kind: type) -> dict[str, str]:
    """The first paragraph about each field and property of a class and of the classes above it, by name."""
    words: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        if owner.__module__.startswith("loadgo."):
            words |= _own_words(owner)
    return words


def _own_words(owner: type) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef), f"the source of {owner.__name__} is no class"
    words = {}
    for statement, following in pairwise([*definition.body, ast.Pass()]):
        if isinstance(statement, ast.FunctionDef):
            words[statement.name] = ast.get_docstring(statement) or ""
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            words[statement.target.id] = _text_of(following)
    return {name: _first_paragraph(text) for name, text in words.items() if text}


def _text_of(statement: ast.stmt) -> str:
    """The text that stands as a statement; empty for any other statement."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return inspect.cleandoc(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())

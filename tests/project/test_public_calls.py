"""The library's face: each public call says what it does, every argument, its result, and its errors."""

import inspect
from collections.abc import Callable
from typing import Any

import loadgo
import pytest

CALLS = sorted(name for name in loadgo.__all__ if inspect.isfunction(getattr(loadgo, name)))
WITHOUT_ERRORS = {"doctor", "machines", "runs", "scripts"}
"""Calls that raise nothing of their own."""


def public(name: str) -> Callable[..., Any]:
    call: Callable[..., Any] = getattr(loadgo, name)
    return call


@pytest.mark.parametrize("name", CALLS)
def test_a_public_call_describes_each_argument_its_result_and_its_errors(name: str) -> None:
    text = inspect.getdoc(public(name)) or ""
    parameters = inspect.signature(public(name)).parameters.values()
    named = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    missing = [argument for argument in named if f"`{argument}`" not in text and f"\n    {argument}: " not in text]
    assert not missing, f"loadgo.{name} does not describe {', '.join(missing)}"
    assert "Returns:" in text
    assert "Raises" in text or name in WITHOUT_ERRORS


def test_a_public_type_has_a_docstring_of_its_own() -> None:
    types = [name for name in loadgo.__all__ if inspect.isclass(getattr(loadgo, name))]
    docs = {name: vars(getattr(loadgo, name)).get("__doc__") or "" for name in types}
    # A dataclass without a docstring has its signature in place of one.
    assert not [name for name, doc in docs.items() if not doc.strip() or doc.startswith(f"{name}(")]

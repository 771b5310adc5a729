"""The library's public names: what the documents name exists, and what a call returns has a public type."""

import ast
import inspect
import re
import sys
import typing
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import loadgo
import polars as pl
import pytest
from support.places import PROJECT

DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/*.md", "tests/cases/*.md", "examples/*.py")
    for path in sorted(PROJECT.glob(pattern))
]
FORMER_NAMES = {"loadgo.cost_page"}
"""Names that CHANGELOG.md says are gone."""
PLAIN = (str, bytes, int, float, type(None), pl.DataFrame)
CALLS = [name for name in loadgo.__all__ if inspect.isfunction(getattr(loadgo, name))]


def named_in(text: str) -> set[str]:
    """Dotted names that begin with `loadgo.` and are no file's, and the names that are imported from such modules."""
    dotted = re.findall(r"(?<![\w./@-])(loadgo(?:\.[A-Za-z_]\w*)+)(?![\w/])", text)
    imports = re.findall(r"from (loadgo[\w.]*) import (\w+(?:, \w+)*)", text)
    imported = {f"{module}.{name}" for module, names in imports for name in names.split(", ")}
    return imported | {name for name in dotted if not re.search(r"\.(toml|md|py|parquet|arrows|html|slice)$", name)}


def exists(name: str) -> bool:
    """Whether a dotted name can be imported, or is reached from what can: by what a module defines, not by imports."""
    owner: object = loadgo
    path = "loadgo"
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if not hasattr(owner, part):
            try:
                import_module(path)
            except ImportError:
                return False
        elif isinstance(owner, ModuleType) and path not in sys.modules and part not in own_names(owner):
            return False
        owner = getattr(owner, part)
    return True


@cache
def own_names(module: ModuleType) -> frozenset[str]:
    """The names that a module lists in `__all__`, or else defines. All names of an extension module are its own."""
    if hasattr(module, "__all__"):
        return frozenset(module.__all__)
    if not (module.__file__ or "").endswith(".py"):
        return frozenset(vars(module))
    defined: set[str] = set()
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            defined.add(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            defined |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return frozenset(defined)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_name_in_the_documents_exists(document: Path) -> None:
    names = named_in(document.read_text(encoding="utf-8"))
    former = FORMER_NAMES if document.name == "CHANGELOG.md" else set()
    assert {name for name in names if not exists(name)} == former


def test_names_are_looked_for_where_documents_have_them() -> None:
    assert named_in("`loadgo.run(…)` and loadgo.costs.page, not run.loadgo.toml") == {"loadgo.run", "loadgo.costs.page"}
    imports = "`from loadgo.errors import Refused, Mistake` and\n    from loadgo import run"
    assert named_in(imports) == {"loadgo.errors", "loadgo.errors.Refused", "loadgo.errors.Mistake", "loadgo.run"}
    assert exists("loadgo.errors.LoadgoError")
    assert exists("loadgo.records.tables.tables")
    assert not exists("loadgo.cost_page.render_costs")
    assert not exists("loadgo.records.tables.pl")
    assert not exists("loadgo.pairing.experiment.BadArgument")


def classes_in(annotation: object) -> set[type]:
    """The classes that an annotation is made of."""
    parts = typing.get_args(annotation)
    if parts and typing.get_origin(annotation) is not typing.Literal:
        return {found for part in parts if part is not ... for found in classes_in(part)}
    return {annotation} if isinstance(annotation, type) else set()


@pytest.mark.parametrize("call", CALLS)
def test_what_a_call_returns_has_a_public_type(call: str) -> None:
    function = inspect.unwrap(getattr(loadgo, call))
    returned = eval(function.__annotations__["return"], vars(import_module(function.__module__)))
    public = {getattr(loadgo, name) for name in loadgo.__all__}
    assert classes_in(returned) - set(PLAIN) <= public


@pytest.mark.parametrize("name", loadgo.__all__)
def test_each_public_name_is_described(name: str) -> None:
    assert (inspect.getdoc(getattr(loadgo, name)) or "").strip()

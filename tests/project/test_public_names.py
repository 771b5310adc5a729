"""The library's public names: what the documents name exists, and what a call returns has a public type."""

import inspect
import re
import typing
from importlib import import_module
from pathlib import Path

import loadgo
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/*.md", "tests/cases/*.md", "examples/*.py")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CHANGELOG.md"  # it has former names, too
]
PLAIN = (str, bytes, int, float, type(None), pl.DataFrame)
CALLS = [name for name in loadgo.__all__ if inspect.isfunction(getattr(loadgo, name))]


def named_in(text: str) -> set[str]:
    """Dotted names that begin with `loadgo.` and are no file's."""
    found = re.findall(r"(?<![\w./@-])loadgo((?:\.[A-Za-z_]\w*)+)(?![\w/])", text)
    return {f"loadgo{name}" for name in found if not re.search(r"\.(toml|md|py|parquet|arrows|html|slice)$", name)}


def exists(name: str) -> bool:
    """Whether a dotted name can be imported, or is reached from what can."""
    found: object = loadgo
    path = "loadgo"
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if not hasattr(found, part):
            try:
                import_module(path)
            except ImportError:
                return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_name_in_the_documents_exists(document: Path) -> None:
    names = named_in(document.read_text(encoding="utf-8"))
    assert [name for name in sorted(names) if not exists(name)] == []


def test_names_are_looked_for_where_documents_have_them() -> None:
    assert named_in("`loadgo.run(…)` and loadgo.costs.page, not run.loadgo.toml") == {"loadgo.run", "loadgo.costs.page"}
    assert exists("loadgo.errors.LoadgoError")
    assert not exists("loadgo.cost_page.render_costs")


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

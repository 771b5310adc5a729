"""The JSON writer: explicit keys, null for what is not finite, and always a format."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import math
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import loadgo
import pytest
from loadgo.documents.as_json import json_document

WRITTEN_APART = {
    "Change": {"margin", "progress", "pairs"},
    "Difference": {"has_merit"},
    "Judged": {"has_merit"},
    "KnobCapacity": {"folder"},
    "Observation": {"text"},
    "OtherWork": {"beside"},
    "Priced": {"rates", "rows", "everything"},
    "Ready": {"runs"},
    "RunDescription": {"hosts", "lost_hosts", "command_line"},
    "Speedup": {"evidence"},
    "Likeness": {"evidence"},
    "VerifiedPoint": {"lost_reasons"},
}
"""Fields that a writer treats by itself, or that say how another was computed, where files are, or what is in one."""


def _declared() -> Iterator[tuple[type, str]]:
    """Each type with its keys, from every module that declares some."""
    for module in pkgutil.walk_packages(loadgo.__path__, "loadgo."):
        if module.name != "loadgo.__main__":
            names = vars(importlib.import_module(module.name))
            for table in (names.get("JSON_KEYS"), names.get("_KEYS")):
                if isinstance(table, dict):
                    yield from ((kind, keys) for kind, keys in table.items() if isinstance(kind, type))


@dataclass(frozen=True)
class _Wait:
    spent_s: float
    name: str = "disk"

    @property
    def double_s(self) -> float:
        """Twice the time, as a property that is written like a field."""
        return 2 * self.spent_s


_KEYS = {_Wait: "time_s=spent_s name double_s"}


def test_the_format_comes_first_and_columns_last_on_one_line() -> None:
    text = json_document({"answer": "34 users"}, {}, {"columns": {"time_s": [0.5, math.nan]}})
    assert text == '{\n  "format": 1,\n  "answer": "34 users",\n  "columns": {"time_s": [0.5, null]}\n}\n'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null_wherever_it_stands(value: float) -> None:
    read = json.loads(json_document({"rows": (_Wait(value), {"each": [value]})}, _KEYS))
    assert read["rows"] == [{"time_s": None, "name": "disk", "double_s": None}, {"each": [None]}]


def test_a_key_keeps_its_name_when_the_field_has_another() -> None:
    assert json.loads(json_document({"wait": _Wait(0.5)}, _KEYS))["wait"]["time_s"] == 0.5


def test_a_type_without_keys_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="_Wait"):
        json_document({"wait": _Wait(0.5)}, {})


def test_dates_and_paths_are_texts_and_other_things_a_mistake() -> None:
    read = json.loads(json_document({"on": date(1973, 1, 2), "file": Path("a/b")}, {}))
    assert (read["on"], read["file"]) == ("1973-01-02", "a/b")
    with pytest.raises(TypeError):
        json_document({"what": object()}, {})


def test_no_character_reaches_a_terminal_that_it_would_obey() -> None:
    name = "\x1b[2J\x9b1m\u202e\x7fµ–"
    text = json_document({"name": name}, {})
    assert json.loads(text)["name"] == name
    assert all(sign not in text for sign in "\x1b\x9b\u202e\x7f")
    assert "µ–" in text


@pytest.mark.parametrize(
    ("kind", "keys"), [pytest.param(*each, id=each[0].__name__) for each in sorted(set(_declared()), key=str)]
)
def test_declared_keys_name_what_the_type_has(kind: type, keys: str) -> None:
    names = {field or key for key, _, field in (each.partition("=") for each in keys.split())}
    fields = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    properties = {name for name, _ in inspect.getmembers(kind, lambda member: isinstance(member, property))}
    assert names <= fields | properties
    assert fields <= names | WRITTEN_APART.get(kind.__name__, set())

"""The published JSON Schemas: they are current, every result keeps to its own, and a renamed key breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import loadgo
import pytest
from jsonschema import Draft202012Validator
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.schemas.derived import schema_files
from loadgo.schemas.formats import JSON_FORMATS, SCHEMAS_FOLDER
from support.results import MAKERS

FORMAT_OF_TYPE = {
    "Run": "run",
    "RecordedRun": "run",
    "Metered": "run",
    "Comparison": "compare",
    "Experiment": "ab",
    "Capacity": "capacity",
    "KnobCapacity": "capacity-of-limit",
    "Costs": "cost",
    "Fairness": "cost-against",
    "Fit": "fit",
    "Observation": "observe",
    "Likeness": "likeness",
    "History": "history",
    "Verification": "verify",
    "Simulation": "simulate",
    "Speedup": "speedup",
    "Sweep": "sweep",
    "Transferred": "transfer",
    "Apart": "transfer-table",
    "CommandTransfer": "transfer-command",
    "Profile": "profile",
    "Ready": "ready",
    "Reproduction": "reproduce",
    "RunList": "runs",
    "MachineList": "machines",
    "ScriptList": "scripts",
    "AbilityList": "doctor",
}
NAMES = [known.name for known in JSON_FORMATS]
derived_files = cache(schema_files)


@pytest.fixture(scope="module", params=MAKERS)
def printed(request: pytest.FixtureRequest, made: Callable[[str], Result]) -> tuple[str, dict[str, Any]]:
    """The format of a result, and what its JSON has."""
    name: str = request.param
    return FORMAT_OF_TYPE[name.split()[0]], made(name).to_dict()


def complaints(format: str, members: Mapping[str, object]) -> list[str]:
    """The errors that the schema of a format finds in a JSON object."""
    errors = Draft202012Validator(loadgo.schema(format)).iter_errors(members)
    return [f"{error.json_path}: {error.message[:300]}" for error in errors]


def examples(
    member: object, schema: Mapping[str, Any], root: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects within `member` that have a definition in the schema, each with the name of the definition."""
    for choice in schema.get("anyOf", ()) if member is not None else ():
        yield from examples(member, choice, root)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = root["$defs"][name]
        if isinstance(member, dict) and set(schema["required"]) <= member.keys() <= schema["properties"].keys():
            yield name, member
    if isinstance(member, dict):
        members, rest = schema.get("properties", {}), schema.get("additionalProperties") or {}
        for name, inner in member.items():
            yield from examples(inner, members.get(name, rest), root)
    elif isinstance(member, list) and member:
        yield from examples(member[0], schema.get("items") or {}, root)


def keys_first(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the rules on keys before those on values: a wrong key is found before all values are read."""
    return {rule: schema[rule] for rule in ("required", "additionalProperties")} | dict(schema)


def test_every_result_keeps_to_its_schema(printed: tuple[str, dict[str, Any]]) -> None:
    assert complaints(*printed) == []


def test_a_renamed_a_missing_and_a_further_key_break_the_schema(printed: tuple[str, dict[str, Any]]) -> None:
    name, members = printed
    schema: dict[str, Any] = loadgo.schema(name)
    for kind, example in {"": members, **dict(examples(members, schema, schema))}.items():
        definition = schema["$defs"][kind] if kind else schema
        validator = Draft202012Validator(keys_first(definition) | {"$defs": schema["$defs"]})
        assert validator.is_valid(example)
        for key in example:
            missing = {other: value for other, value in example.items() if other != key}
            assert not validator.is_valid(missing), f"{kind}: {key} is missing"
            assert not validator.is_valid({**missing, f"{key}_renamed": example[key]}), f"{kind}: {key} is renamed"
        assert not validator.is_valid({**example, "further": 1}), f"{kind}: a further key"


def test_a_key_that_is_missing_deep_in_a_document_breaks_the_schema() -> None:
    members = loadgo.compare("mpl-16:ctss", "mpl-16:multics").to_dict()
    del next(iter(members["rows"]["rows"][0]["measures"].values()))["verdict"]
    assert complaints("compare", members)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_of_a_schema_is_what_the_types_and_the_keys_give(name: str) -> None:
    text = (SCHEMAS_FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert text == derived_files()[name], "run `python scripts/json_schemas.py`"
    Draft202012Validator.check_schema(loadgo.schema(name))


def test_there_is_no_schema_without_a_format_and_every_result_has_one() -> None:
    assert sorted(path.stem for path in SCHEMAS_FOLDER.iterdir()) == sorted(NAMES)
    assert {name.split()[0] for name in MAKERS} == set(FORMAT_OF_TYPE)
    assert {*FORMAT_OF_TYPE.values(), "failed", "tariffs", "query", "transfer-methods"} == set(NAMES)


def test_a_schema_is_found_by_its_command_too_and_an_unknown_name_is_refused() -> None:
    assert loadgo.schema("report") == loadgo.schema("run")
    with pytest.raises(BadArgument, match="there is no format 'pdf'; there are script, "):
        loadgo.schema("pdf")

"""The JSON Schemas of files: what a schema finds in a file is what its parser finds there."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import loadgo
import pytest
from jsonschema import Draft4Validator
from loadgo import _loadgo
from loadgo.errors import LoadgoError, Mistake
from loadgo.hosts.fleet import parse_fleet
from loadgo.measures.tariff import load_tariff
from loadgo.notation.file_shapes import FILE_SCHEMAS_FOLDER
from loadgo.schemas.files import file_schema_texts
from loadgo.schemas.formats import FILE_FORMATS
from loadgo.sweeping.grid_file import parse_grid
from support.beyond_schemas import EVERY_FILE, KEYS_OF_ANOTHER, MEANINGS, BeyondSchemas, patterns
from support.drawn_files import FileDraw, agreeing, changed, toml_of

DRAWS = 1000
"""Files drawn of each kind, each of them also with a change."""

WITHOUT_TEXT = patterns(*EVERY_FILE)
"""The parsers' words about mistakes that no schema finds in a value without a text (docs/json.md)."""
WITH_TEXT = patterns(*MEANINGS, *EVERY_FILE)
"""The same of other values: a text has a meaning, too."""


def parse_tariff_of(folder: Path) -> Callable[[str], object]:
    """The parser of tariffs, which reads a file."""

    def parse(text: str) -> object:
        path = folder / "drawn.toml"
        path.write_text(text, encoding="utf-8")
        return load_tariff(str(path))

    return parse


@pytest.fixture(scope="module")
def parsers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Callable[[str], object]]:
    """The parser of each kind of file."""
    return {
        "script": _loadgo.parse_script,
        "machine": lambda text: _loadgo.parse_machine(text, []),
        "tariff": parse_tariff_of(tmp_path_factory.mktemp("tariffs")),
        "hosts": lambda text: parse_fleet(text, with_here=True),
        "grid": parse_grid,
    }


def mistake(parse: Callable[[str], object], text: str) -> str:
    """The parser's message; empty for a good file."""
    try:
        parse(text)
    except (LoadgoError, ValueError) as error:
        return str(error)
    return ""


def complaints(validator: Any, file: Mapping[str, Any]) -> list[str]:
    """The errors that the schema finds."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(file)]


KINDS = [known.name for known in FILE_FORMATS]


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_file_is_good_and_a_mistake_of_structure_is_found_by_both(
    kind: str, parsers: Mapping[str, Callable[[str], object]]
) -> None:
    schema = loadgo.schema(kind)
    validator, random = Draft4Validator(schema), Random(1)
    refused_files = good_files = 0
    for _ in range(DRAWS):
        file = agreeing(kind, FileDraw(schema, random).file())
        assert complaints(validator, file) == [], file
        assert mistake(parsers[kind], toml_of(file)) == "", toml_of(file)
        other, value = changed(file, random)
        message, refused = mistake(parsers[kind], toml_of(other)), bool(complaints(validator, other))
        if refused:
            assert message, f"only the schema refuses\n{toml_of(other)}{complaints(validator, other)}"
        elif message:
            known = WITHOUT_TEXT if value is None or isinstance(value, int | float | date) else WITH_TEXT
            assert re.search(known, message), f"only the parser refuses: {message}\n{toml_of(other)}"
        refused_files, good_files = refused_files + refused, good_files + (not message)
    assert refused_files > DRAWS / 4
    assert good_files > DRAWS / 50


def test_a_drawn_file_of_each_kind_has_every_key_of_its_schema() -> None:
    for kind in KINDS:
        schema = loadgo.schema(kind)
        keys = {key for key in _property_names(schema) if key != "like" or kind != "machine"}
        random, seen = Random(1), set[str]()
        for _ in range(DRAWS):
            seen |= set(re.findall(r'"([a-z_]+)" =', toml_of(FileDraw(schema, random).file())))
        assert keys <= seen, keys - seen


def _property_names(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_property_names, schema))
    if not isinstance(schema, dict):
        return set()
    names = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return names.union(*map(_property_names, schema.values()))


def test_a_machine_file_that_changes_a_bundled_one_is_judged_alike() -> None:
    schema = loadgo.schema("machine")
    validator, random = Draft4Validator(schema), Random(2)
    whole = tomllib.loads(str(_loadgo.parse_machine('like = "multics-645"', [])["text"]))
    accepted = refused = 0
    for _ in range(DRAWS):
        part = {key: whole[key] for key in whole if random.random() < 0.3}
        file, _ = changed({"like": "multics-645", **part}, random)
        if "like" not in file:
            continue
        message, complaint = (
            mistake(lambda text: _loadgo.parse_machine(text, []), toml_of(file)),
            complaints(validator, file),
        )
        if complaint:
            assert message, f"only the schema refuses\n{toml_of(file)}{complaint}"
        elif message:
            known = patterns(*MEANINGS, *EVERY_FILE, *KEYS_OF_ANOTHER)
            assert re.search(known, message), f"only the parser refuses: {message}\n{toml_of(file)}"
        accepted, refused = accepted + (not message), refused + bool(complaint)
    assert min(accepted, refused) > DRAWS / 20


@pytest.mark.parametrize(("kind", "folder"), [("script", "scripts"), ("machine", "machines"), ("tariff", "tariffs")])
def test_what_is_bundled_fits_its_schema(kind: str, folder: str) -> None:
    files = sorted((FILE_SCHEMAS_FOLDER.parent / folder).glob("*.toml"))
    assert len(files) > 2
    for path in files:
        assert (
            complaints(Draft4Validator(loadgo.schema(kind)), tomllib.loads(path.read_text(encoding="utf-8"))) == []
        ), path


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_of_a_schema_is_what_the_parser_s_tables_give(kind: str) -> None:
    text = (FILE_SCHEMAS_FOLDER / f"{kind}.json").read_text(encoding="utf-8")
    assert text == file_schema_texts()[kind], "run `python scripts/json_schemas.py`"
    Draft4Validator.check_schema(loadgo.schema(kind))
    assert sorted(path.stem for path in FILE_SCHEMAS_FOLDER.iterdir()) == sorted(KINDS)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("script", 'lines = ["ls"]\nthinks = "none"'),
        ("script", 'lines = [{ type = "ls", weight = 2 }]'),
        ("script", 'lines = ["ls"]\nuntil = "x"\nsilence = "1s"'),
        ("machine", 'title = "t"\nsource = "s"\n[processors]\ncount = 2.0\n[commands."*"]\ncpu = "1s"'),
        (
            "machine",
            'title = "t"\nsource = "s"\n[processors]\ndiscipline = "linux"\nquantum = "1s"\n[commands."*"]\ncpu = "1s"',
        ),
        ("machine", 'like = "multics-645"\n[processors]\ncounts = 2'),
        ("tariff", 'title = "free"\nsource = "here"'),
        ("hosts", '[[hosts]]\nname = "a"'),
        ("grid", 'machines = ["ctss"]\nscript = "light"'),
    ],
)
def test_a_mistake_of_each_kind_is_found_by_both(
    kind: str, text: str, parsers: Mapping[str, Callable[[str], object]]
) -> None:
    assert mistake(parsers[kind], text)
    assert complaints(Draft4Validator(loadgo.schema(kind)), tomllib.loads(text))


@pytest.mark.parametrize("beyond", [*MEANINGS, *EVERY_FILE, *KEYS_OF_ANOTHER], ids=lambda beyond: beyond.pattern)
def test_what_no_schema_can_say_is_found_by_the_parser_alone(
    beyond: BeyondSchemas, parsers: Mapping[str, Callable[[str], object]]
) -> None:
    assert re.search(beyond.pattern, mistake(parsers[beyond.kind], beyond.text))
    assert complaints(Draft4Validator(loadgo.schema(beyond.kind)), tomllib.loads(beyond.text)) == []


def test_a_file_that_is_like_another_needs_no_key_and_the_other_s_keys_count() -> None:
    validator = Draft4Validator(loadgo.schema("machine"))
    with_limit = 'like = "multics-645"\n[multiprogramming]\nlimit = 0'
    assert complaints(validator, tomllib.loads('like = "multics-645"')) == []
    assert mistake(lambda text: _loadgo.parse_machine(text, []), 'like = "multics-645"') == ""
    assert complaints(validator, tomllib.loads(with_limit)) != []


def test_here_is_an_address_for_drivers_alone() -> None:
    file = '[[hosts]]\naddress = "here"'
    assert complaints(Draft4Validator(loadgo.schema("hosts")), tomllib.loads(file)) == []
    assert len(parse_fleet(file, with_here=True)) == 1
    with pytest.raises(Mistake, match="here"):
        parse_fleet(file)

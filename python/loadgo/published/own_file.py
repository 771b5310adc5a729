"""Reads a document of a user's own: the format of `docs/published.md` in which nearly everything may be left out.

What is left out gets a default, and the numbers of sides become figures (`own_sides`). Then the file is read as a
bundled one. No model computes such a document, so each figure is *not modelled*. A mistake has its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, Mistake, error_in_words
from loadgo.notation.toml_text import parse_toml
from loadgo.published.document import Document
from loadgo.published.document_file import parse_document
from loadgo.published.identities import side_relations
from loadgo.published.own_sides import SIDES_TABLE, OwnSides
from loadgo.published.own_text import Kinds, OwnText, toml_value

MOST_FILE_BYTES = 16 * 2**20
NOT_MODELLED = "no model computes a document of your own"
_UNUSED_KEYS = ("not_figures", "derivations", "reproduce", "causes")
"""Keys of the published format that matter for models alone: they may stand in a file, and are not read."""
_DOCUMENT_KINDS: Kinds = {
    **dict.fromkeys(("name", "title", "by", "dated", "about"), "a text"),
    **dict.fromkeys(("tables", "passages", "relations", "totals"), "a list of tables"),
    **dict.fromkeys((*_UNUSED_KEYS, "sides"), ""),
}
_TABLE_KINDS: Kinds = {
    **dict.fromkeys(("name", "title", "unit", "csv", "group_by"), "a text"),
    **dict.fromkeys(("where", "groups"), "a table of texts"),
    "line": "a whole number",
    "columns": "a list",
    "rows": "a list of tables",
}
_COLUMN_KINDS: Kinds = {**dict.fromkeys(("name", "label", "over", "unit", "field"), "a text"), "text": "true or false"}
_ROW_KINDS: Kinds = {
    **dict.fromkeys(("name", "label", "unit", "group"), "a text"),
    "line": "a whole number",
    "text": "true or false",
    "cells": "a list",
}
_PASSAGE_KINDS: Kinds = {
    "line": "a whole number",
    "text": "a text",
    "unit": "a text",
    "units": "a table of texts",
    "labels": "a table of texts",
}
_RELATION_KINDS: Kinds = {"name": "a text", "says": "a text", "claim": "a text", "derives": "true or false"}
_TOTAL_KINDS: Kinds = dict.fromkeys(("name", "label", "unit", "is"), "a text")
_OTHER_FILES = {
    "lines": "a script: run it (`loadgo run {path}`), and name the run",
    "processors": "a simulated machine: run a script on it (`loadgo run SCRIPT --on {path}`), and name the run",
    "like": "a simulated machine: run a script on it (`loadgo run SCRIPT --on {path}`), and name the run",
    "finished": "the file of a run: name the run's folder",
    "cpu_hour": "a tariff: name it with --tariff",
    "shifts": "a tariff: name it with --tariff",
    "hosts": "a list of hosts: name it with --on, and then the run",
    "machine": "the grid of a sweep",
    "machines": "the grid of a sweep",
}
"""Keys of other kinds of files that no document has, each with what the file is and what to do with it."""
_WANTED = "here a document with printed figures is wanted, such as [sides.before] (docs/published.md)"


def read_own_document(path: Path) -> Document:
    """Reads the document in a user's file. Raises `Mistake` with its place, and `BadArgument`."""
    source = OwnText(_text_of(path))
    own_sides = OwnSides(source)
    try:
        content = parse_toml(source.text, parse_float=_decimal)
        _check(content, source, path)
        own_sides.read(content.get("sides", {}))
        complete = _with_defaults(content, own_sides, path)
        own_sides.check_values(_document(complete, source, path))
        relations = [*side_relations(own_sides.sides), *complete["relations"]]
        document = _document({**complete, "relations": relations}, source, path)
    except Mistake as mistake:
        raise mistake.in_file(str(path)) from None
    return replace(document, path=str(path))


def _text_of(path: Path) -> str:
    if not path.is_file():
        raise BadArgument(
            f"there is no file {path}, and no run of this name" if not path.exists() else f"{path} is no regular file"
        )
    try:
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as refusal:
        raise BadArgument(f"{path} cannot be read: {refusal.strerror}") from refusal
    if len(content) > MOST_FILE_BYTES:
        raise BadArgument(f"{path} is no document: it is larger than {MOST_FILE_BYTES // 2**20} MB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise BadArgument(f"{path}: byte {error.start + 1} of the file is not UTF-8") from error


def _decimal(text: str) -> Decimal:
    """The number as written, whose last digit says how it was rounded."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return Decimal("inf")


def _check(content: Mapping[str, Any], source: OwnText, path: Path) -> None:
    """Checks the keys and the kinds of values outside of sides. Raises `Mistake`."""
    for key in content:
        if key in _OTHER_FILES:
            raise source.mistake((key,), f"this is {_OTHER_FILES[key].format(path=path)}; {_WANTED}")
    source.check_kinds((), content, _DOCUMENT_KINDS)
    if not re.fullmatch(r"[\w.-]*", content.get("name", "")):
        raise source.mistake(
            ("name",), "a document's name has letters, digits, . _ and - alone; the title may have more"
        )
    for table in content.get("tables", []):
        _check_table(source, table)
    for passage in content.get("passages", []):
        source.check_kinds(("passages",), passage, _PASSAGE_KINDS, ("text",))
    for total in content.get("totals", []):
        source.check_kinds(("totals",), total, _TOTAL_KINDS, ("name", "is"))
    for relation in content.get("relations", []):
        placeholders = {key: "a text or a list of texts" for key in relation if key.isupper()}
        source.check_kinds(("relations",), relation, {**_RELATION_KINDS, **placeholders}, ("claim",))


def _check_table(source: OwnText, table: Mapping[str, Any]) -> None:
    path = ("tables",)
    source.check_kinds(path, table, _TABLE_KINDS, ("name", "columns", *(() if "csv" in table else ("rows",))))
    if table["name"] == SIDES_TABLE:
        raise source.mistake(
            (*path, "name"), f"a table cannot be called {SIDES_TABLE}: that is the table of the numbers in sides"
        )
    for column in table["columns"]:
        if not isinstance(column, str | Mapping):
            raise source.mistake((*path, "columns"), 'columns are names: write columns = ["before", "after"]')
        if not isinstance(column, str):
            source.check_kinds((*path, "columns"), column, _COLUMN_KINDS, ("name",))
    for row in table.get("rows", []):
        source.check_kinds((*path, "rows"), row, _ROW_KINDS, ("name", "cells"))
        for cell in row["cells"]:
            _check_cell(source, row["name"], cell)


def _check_cell(source: OwnText, row: str, cell: Any) -> None:
    if not isinstance(cell, str | int | Decimal):
        raise source.mistake_in(f'"{row}"', f"a cell of row {row} is neither a text nor a number: {toml_value(cell)}")
    if not isinstance(cell, str):
        source.check_number(("tables", "rows", row), cell)
    elif re.match(r"\s*-[\d.]", cell):
        raise source.mistake_in(f'"{row}"', f"a cell of row {row} is {cell}: numbers of a document are not below 0")


def _with_defaults(content: Mapping[str, Any], own_sides: OwnSides, path: Path) -> dict[str, Any]:
    """The content as a bundled file has it: what was left out has a default, and the sides have a table."""
    name = content.get("name") or re.sub(r"[^\w.-]+", "-", path.stem) or "document"
    return {
        **content,
        **{key: content.get(key, "") for key in ("by", "dated", "about")},
        "name": name,
        "title": content.get("title", name),
        "tables": [*own_sides.table(), *map(_with_table_defaults, content.get("tables", []))],
        "passages": _with_lines(content.get("passages", [])),
        "relations": [_with_relation_defaults(relation) for relation in content.get("relations", [])],
        "totals": [{**total, "label": total.get("label", total["name"])} for total in content.get("totals", [])],
        **dict.fromkeys(_UNUSED_KEYS, ()),
        "not_figures": {},
        "reproduce": [{"cells": "*", "mark": "not modelled", "why": NOT_MODELLED}],
        "sides": own_sides.sides,
    }


def _with_table_defaults(table: Mapping[str, Any]) -> dict[str, Any]:
    columns = [{"name": column, "label": column} if isinstance(column, str) else column for column in table["columns"]]
    filled = {
        **table,
        "title": table.get("title", table["name"]),
        "columns": [{**column, "label": column.get("label", column["name"])} for column in columns],
    }
    if "rows" in table:
        filled["rows"] = [
            {**row, "label": row.get("label", row["name"]), "cells": [_cell_text(cell) for cell in row["cells"]]}
            for row in table["rows"]
        ]
    return filled


def _cell_text(cell: str | int | Decimal) -> str:
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)


def _with_relation_defaults(relation: Mapping[str, Any]) -> dict[str, Any]:
    says = relation.get("says", f"{relation.get('name', relation['claim'])}.")
    return {**relation, "name": relation.get("name", says.rstrip(".")), "says": says, "derives": False}


def _with_lines(passages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The passages with their lines; numbered in their order if any has none."""
    if all("line" in passage for passage in passages):
        return list(passages)
    return [{**passage, "line": number} for number, passage in enumerate(passages, start=1)]


def _document(content: dict[str, Any], source: OwnText, path: Path) -> Document:
    """The document of a complete content."""
    try:
        return parse_document(content, path.parent)
    except KeyError as mistake:
        raise BadArgument(f"{path}: {mistake.args[0]!r} is missing") from mistake
    except (ValueError, OSError) as mistake:
        message = error_in_words(mistake)
        claims = [relation["claim"] for relation in content["relations"] if f"{relation['name']}: " in message]
        raise (source.mistake_in(claims[0], message) if claims else BadArgument(f"{path}: {message}")) from mistake

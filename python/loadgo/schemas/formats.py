"""The lists of JSON formats and of kinds of files, and their schemas as the package has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from loadgo.errors import BadArgument
from loadgo.notation.file_shapes import FILE_SCHEMAS_FOLDER

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
SCHEMAS_FOLDER = Path(__file__).parent.parent / "data" / "schemas"


@dataclass(frozen=True)
class JsonFormat:
    """A kind of JSON document."""

    name: str
    commands: tuple[str, ...]
    """The commands that print it with `--format json`."""
    about: str

    @property
    def path(self) -> Path:
        """The file of its schema."""
        return SCHEMAS_FOLDER / f"{self.name}.json"


@dataclass(frozen=True)
class FileFormat:
    """A kind of TOML file that loadgo reads."""

    name: str
    commands: tuple[str, ...]
    """The commands or options that read it."""
    about: str
    page: str
    """The page of docs/ about it."""

    @property
    def path(self) -> Path:
        """The file of its schema."""
        return FILE_SCHEMAS_FOLDER / f"{self.name}.json"


FILE_FORMATS = (
    FileFormat("script", ("run", "capacity", "ab"), "a script: what users type", "docs/scripts.md"),
    FileFormat("machine", ("run --on", "simulate"), "a simulated machine", "docs/machines.md"),
    FileFormat("tariff", ("cost --tariff",), "a list of prices", "docs/cost.md"),
    FileFormat("hosts", ("run --on", "run --from"), "a list of hosts", "docs/hosts-several.md"),
    FileFormat("grid", ("sweep",), "the grid of a sweep", "docs/sweep.md"),
)
"""All kinds of files."""

JSON_FORMATS = (
    JsonFormat("run", ("run", "report", "meter"), "the report of a run, and of a host that was metered"),
    JsonFormat("failed", ("report --failed",), "the lines of a run that failed, timed out or died"),
    JsonFormat("compare", ("compare",), "two runs compared"),
    JsonFormat("speedup", ("speedup",), "a speed-up attributed to changes"),
    JsonFormat("ab", ("ab",), "two variants run in turn"),
    JsonFormat("capacity", ("capacity",), "how many users a system holds"),
    JsonFormat("capacity-of-limit", ("capacity --vary",), "the value of a limit that keeps every target"),
    JsonFormat("sweep", ("sweep", "merge"), "the configurations of a sweep"),
    JsonFormat("history", ("history",), "a figure over many runs"),
    JsonFormat("cost", ("cost",), "the costs of runs"),
    JsonFormat("cost-against", ("cost --against",), "whether a price is fair"),
    JsonFormat("tariffs", ("cost --tariffs",), "the tariffs that come with loadgo"),
    JsonFormat("fit", ("fit",), "a machine that was fitted to runs"),
    JsonFormat("observe", ("observe",), "a script that was made from records"),
    JsonFormat("likeness", ("likeness",), "a run of an observed script beside what was observed"),
    JsonFormat("simulate", ("simulate",), "a simulated machine under its own load"),
    JsonFormat("reproduce", ("reproduce",), "the published measurements beside ours"),
    JsonFormat("profile", ("profile",), "a clock profile"),
    JsonFormat("ready", ("ready",), "what one command used"),
    JsonFormat("transfer", ("transfer --to",), "what a network bit costs the host"),
    JsonFormat("transfer-command", ("transfer -- COMMAND",), "what a command's transfer costs"),
    JsonFormat("transfer-table", ("transfer --read",), "the analysis of a table of transfers"),
    JsonFormat("transfer-methods", ("transfer --methods",), "the methods of transfers"),
    JsonFormat("verify", ("verify",), "whether a run holds, with its disclosure sheet"),
    JsonFormat("runs", ("runs",), "the recorded runs"),
    JsonFormat("machines", ("machines",), "the machines that come with loadgo"),
    JsonFormat("scripts", ("scripts",), "the scripts that come with loadgo"),
    JsonFormat("doctor", ("doctor",), "what can be measured on a host"),
    JsonFormat("query", ("query",), "the rows of an answer in SQL"),
)
"""All formats."""


def schema_names() -> list[str]:
    """The names that `schema` takes: kinds of files, formats, and commands."""
    printed = {name for known in JSON_FORMATS for name in (*known.commands, known.name)}
    return [*(known.name for known in FILE_FORMATS), *sorted(printed)]


def schema_path(name: str) -> Path:
    """The schema's file of the JSON format or the kind of file called `name`, or of what a command of this name prints.

    Raises `BadArgument` for another name.
    """
    by_name = {command: known.path for known in JSON_FORMATS for command in (*known.commands, known.name)}
    by_name |= {known.name: known.path for known in FILE_FORMATS}
    if name not in by_name:
        near = get_close_matches(name, by_name, n=1)
        names = ", ".join(known.name for known in (*FILE_FORMATS, *JSON_FORMATS))
        hint = f"did you mean {near[0]}?" if near else f"there are {names}"
        raise BadArgument(f"there is no format {name!r}; {hint}")
    return by_name[name]


def schema_text(name: str) -> str:
    """The JSON Schema of a format as its file has it. Raises `BadArgument` for an unknown name."""
    return schema_path(name).read_text(encoding="utf-8")


def schema(name: str) -> dict[str, JsonValue]:
    """The JSON Schema of what a command prints with `--format json`, of what `.to_dict()` gives, or of a kind of file.

        jsonschema.validate(run.to_dict(), loadgo.schema("run"))

    Args:
        name: A format, such as `compare`, or a command that prints it; or a kind of file: `script`, `machine`,
            `tariff`, `hosts`, `grid`.

    Returns:
        The schema, of JSON Schema 2020-12; of a kind of file, of Draft 4.

    Raises:
        loadgo.errors.BadArgument: There is no such format; it is a `ValueError`.
    """
    members: dict[str, JsonValue] = json.loads(schema_text(name))
    return members

"""TOML files drawn from their JSON Schemas, and changed in one place, for trials of parsers and schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from datetime import date
from random import Random
from typing import Any

TEXTS: Mapping[str, tuple[str, ...]] = {
    "law of think times": ("none", "fixed(2s)", "exponential(8s, max 60s)"),
    "law of times": ("5ms", "exponential(20ms)", "uniform(1ms, 3ms)"),
    "law of numbers": ("uniform(1, 5)", "fixed(3)"),
    "law of numbers, or argument(1)": ("argument(1)", "uniform(1, 5)"),
    "time": ("0s", "3ms"),
    "positive time": ("10ms", "1.5s"),
    "rate of arrivals": ("2/s", "30/min"),
    "typing rate": ("12 chars/s",),
    "regular expression": (r"\? $", "ready"),
    "name of a store": ("drum", "disk"),
    "name of a station": ("processor", "disk"),
    "name of a command": ("edit",),
    "program": ("cc", "git"),
    "address of a host": ("ssh://login1", "ssh://ann@login2:2222"),
}
"""Good texts of each notation; every other notation takes any words."""

NAMES = {
    "files": ("prime.c", "src/prime.c"),
    "env": ("LANG", "_X1"),
    "beside": ("HOST",),
    "words": ("city", "a-b"),
    "storage": ("drum", "disk"),
    "requests": ("drum", "disk"),
    "network_wait": ("drum", "disk"),
    "commands": ("edit", "list files", "*"),
    "then": ("done",),
    "arrivals": ("09:00", "17:30"),
    "set": ("processors.speed", "memory.frames"),
}
"""Names in tables whose keys the file chooses."""

FIXED: Mapping[str, tuple[Any, ...]] = {
    "frames": (64, 256),
    "wired": (0, 8),
    "words": (1 << 30,),
    "entries": (400,),
    "per_user": (20,),
    "headway_curve": ([[10, "1ms"], [40, "20ms"]], [[0.5, "2ms"]]),
    "quanta": (["64ms", "256ms"],),
    "bases": ([-10, 20.5],),
    "shifts": ([3, 63],),
    "then": ({"done": 1},),
    "covariance": ([],),
    "replacement": ("lru", "clock"),
    "from": (1,),
    "to": (5, 10),
}
"""Values of keys that other values must agree with, and of lists whose length matters."""

OTHERS = (
    7,
    -1,
    0,
    2**40,
    2**62,
    1.5,
    7.0,
    -0.5,
    1e300,
    True,
    date(2026, 11, 28),
    [],
    [3],
    ["x"],
    {},
    {"x": 1},
    "word",
    "",
)
"""Values of every kind that TOML has, for a change."""


class FileDraw:
    """Draws files that fit a schema."""

    def __init__(self, schema: Mapping[str, Any], random: Random) -> None:
        self._schema, self._random = schema, random

    def file(self) -> dict[str, Any]:
        """A file."""
        whole = self._schema if "properties" in self._schema else self._schema["anyOf"][0]
        file: dict[str, Any] = self._value(whole, "", 0)
        return file

    def _value(self, schema: Mapping[str, Any], key: str, depth: int) -> Any:
        if key in FIXED and not (key in ("words", "shifts") and schema.get("type") == "object"):
            return self._random.choice(FIXED[key])
        if "$ref" in schema:
            return self._value(self._schema["definitions"][schema["$ref"].rpartition("/")[2]], key, depth)
        if "properties" not in schema and "anyOf" in schema:
            choices = schema["anyOf"]
            return self._value(choices[0] if depth > 6 else self._random.choice(choices), key, depth)
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        kind = schema["type"] if isinstance(schema["type"], str) else self._random.choice(schema["type"])
        return getattr(self, f"_{kind}")(schema, key, depth)

    def _string(self, schema: Mapping[str, Any], key: str, depth: int) -> str:
        return self._random.choice(
            TEXTS.get(schema.get("format", ""), ("some words", "x")) if key != "name" else ("a", "b")
        )

    def _integer(self, schema: Mapping[str, Any], key: str, depth: int) -> int:
        least = int(schema["minimum"])
        return self._random.randint(least, min(least + 5, int(schema.get("maximum", least + 5))))

    def _number(self, schema: Mapping[str, Any], key: str, depth: int) -> float:
        most = min(schema.get("maximum", 9), 9)
        return self._random.choice([most, most / 4, 0.5, 1])

    def _boolean(self, schema: Mapping[str, Any], key: str, depth: int) -> bool:
        return self._random.choice([True, False])

    def _array(self, schema: Mapping[str, Any], key: str, depth: int) -> list[Any]:
        items = schema["items"]
        if isinstance(items, list):
            return [self._value(item, key, depth + 1) for item in items]
        alone = {"load", "route", "hosts"}
        count = (
            schema["minItems"]
            if depth > 6
            else max(schema["minItems"], self._random.randint(0, 1 if key in alone else 2))
        )
        values = [self._value(items, f"{key}[]", depth + 1) for _ in range(count)]
        return [value for number, value in enumerate(values) if value not in values[:number]]

    def _object(self, schema: Mapping[str, Any], key: str, depth: int) -> dict[str, Any]:
        if "properties" not in schema:
            values = schema.get("additionalProperties") or next(iter(schema["patternProperties"].values()))
            names = NAMES.get(key, ("one", "two"))
            names = names if key == "storage" else names[: max(1, self._random.randint(0, len(names)))]
            return {name: self._value(values, f"{key}.{name}", depth + 1) for name in names}
        needed = {*schema.get("required", ()), *({"storage"} if "storage" in schema["properties"] else ())}
        chance = 0.15 if depth > 5 else 0.4
        names = [name for name in schema["properties"] if name in needed or self._random.random() < chance]
        for rule in (schema, *schema.get("allOf", ())):
            names = self._by_rule(rule, names, needed)
        return {name: self._value(schema["properties"][name], name, depth + 1) for name in names}

    def _by_rule(self, rule: Mapping[str, Any], names: list[str], needed: Set[str]) -> list[str]:
        """The names after a rule for keys that exclude or need each other."""
        if one_of := [choice["required"][0] for choice in rule.get("oneOf", ())]:
            kept = self._random.choice([name for name in names if name in one_of] or one_of)
            names = [name for name in names if name not in one_of] + [kept]
        for pair in (choice["required"] for choice in rule.get("not", {}).get("anyOf", ())):
            out = pair[0] if pair[1] in needed else pair[1]
            names = [name for name in names if name != out or not {*pair} <= {*names}]
        for name, others in rule.get("dependencies", {}).items():
            if name in names and not {*others} <= {*names}:
                names.remove(name)
        return names


def agreeing(kind: str, file: dict[str, Any]) -> dict[str, Any]:
    """A drawn file whose values agree with each other where a schema cannot say so."""
    if kind == "tariff":
        return {"cpu_hour": 1.0} | file
    if kind == "grid" and "script" not in file:
        file.pop("until", None)
    file.pop("like", None)
    if kind == "script":
        _without_other_signs(file.get("lines", []), ends_otherwise=False)
        _with_rows_of_names(file.get("lines", []))
    memory, limit = file.get("memory", {}), file.get("multiprogramming", {})
    if limit.get("control") == "working sets" and memory.get("residence") != "paging":
        del file["multiprogramming"]
    if "network_message" in file.get("supervisor", {}):
        file["supervisor"]["message_bytes"] = 1000
    commands = file.get("commands", {})
    if "edit" in commands:
        commands["edit"] = {"cpu": "5ms"}
    for command in commands.values():
        if not command.get("requests"):
            command.pop("request_correlation", None)
    return file


def _without_other_signs(value: object, *, ends_otherwise: bool) -> None:
    """Takes what is about a screen out of all lines that another sign than the screen ends."""
    if isinstance(value, dict):
        ends_otherwise = ends_otherwise or "until" in value or "silence" in value
        for key in ("settle", "shows", "cursor") if ends_otherwise or "type" in value else ():
            value.pop(key, None)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inner:
        _without_other_signs(part, ends_otherwise=ends_otherwise)


def _with_rows_of_names(part: object) -> None:
    """Lets each `then` name another alternative, and takes it out where that cannot be."""
    choice = part.get("choose", []) if isinstance(part, dict) else []
    for number, alternative in enumerate(choice):
        if not isinstance(alternative, dict) or "then" not in alternative:
            continue
        del alternative["then"]
        other = next((each for each in choice if isinstance(each, dict) and "type" in each), None)
        if isinstance(part, dict) and "repeat" in part and other is not None and other is not alternative:
            other["as"] = "alone"
            alternative["then"] = {"alone": number + 1}
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for entry in inner:
        _with_rows_of_names(entry)


def changed(file: dict[str, Any], random: Random) -> tuple[dict[str, Any], object]:
    """The file with one change, and the value that came new: another value, a further key, or a key less."""
    file, new_value = json.loads(json.dumps(file)), random.choice(OTHERS)
    places = list(_places(file))
    holder, key = random.choice(places)
    match random.choice(["other", "other", "further", "less"]):
        case "other":
            holder[key] = new_value
        case "further":
            target = holder[key] if isinstance(holder[key], dict) else file
            target[random.choice(["unheard_of", "x-y", "weight", "device", "like"])] = new_value
        case "less":
            new_value = None
            del holder[key]
    return file, new_value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value: the table or list that holds it, and its key or index."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield value, key
        yield from _places(inner)


def toml_of(file: Mapping[str, Any]) -> str:
    """The file as TOML, a line for each key."""
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in file.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(inner) for inner in value) + "]"
    if isinstance(value, bool | str):
        return json.dumps(value)
    return str(value)

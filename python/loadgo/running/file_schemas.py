"""The JSON Schemas of the files that the Rust half parses: scripts and machine files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from loadgo import _loadgo


def script_schema(title: str, description: str) -> dict[str, Any]:
    """The JSON Schema of scripts."""
    return _members(_loadgo.script_schema, title, description)


def machine_schema(title: str, description: str) -> dict[str, Any]:
    """The JSON Schema of machine files."""
    return _members(_loadgo.machine_schema, title, description)


def _members(schema_text: Callable[[str, str], str], title: str, description: str) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(schema_text(title, description))
    return members

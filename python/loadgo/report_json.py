"""The summary as JSON, in full precision: every figure under the name that it has in `loadgo.summary`."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from loadgo.summary import Summary


def json_report(summary: Summary) -> str:
    """One JSON object; times in nanoseconds end in `_ns`; null is not measured, or without end where `state` says
    `never`.
    """
    return json.dumps(_plain(_told(summary)), indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def _told(summary: Summary) -> dict[str, Any]:
    told = dataclasses.asdict(summary)
    told["format"] = 1
    told["driver"]["valid"] = summary.driver.valid
    told["classes"]["total_ns"] = summary.classes.total_ns
    if summary.audit is not None:
        told["audit"]["discrepancy"] = summary.audit.discrepancy
    return told


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

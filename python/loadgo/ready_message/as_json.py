"""A ready message for programs: every run as it was measured, and each figure over the runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from loadgo.ready_message.ready import FIGURES, Ready
from loadgo.running.command_run import CommandRun


def ready_json(ready: Ready) -> str:
    """One JSON object; nanoseconds, bytes, counts, money; null is not measured."""
    told = {
        "format": 1,
        "command": ready.command,
        "status": ready.status,
        "interrupted": ready.interrupted,
        "asked": ready.asked,
        "figures": {stage: {name: asdict(ready.spread(name, stage)) for name in FIGURES} for stage in ready.stages},
        "runs": [_run(ready, run) for run in ready.runs],
        "sources": dict(ready.sources),
        "notes": ready.notes,
        "floor_bytes": ready.floor_bytes,
        "tariff": asdict(ready.tariff),
    }
    return json.dumps(told, indent=2, default=str, ensure_ascii=False) + "\n"


def _run(ready: Ready, run: CommandRun) -> dict[str, Any]:
    return asdict(run) | {"status": run.status, "cpu_ns": run.cpu_ns, "cost": ready.value("cost", run)}

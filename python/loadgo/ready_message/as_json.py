"""A ready message as JSON: all runs as they were measured, and each figure over the runs."""

from __future__ import annotations

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.measures.json_keys import JSON_KEYS as SUMMARY_KEYS
from loadgo.ready_message.ready import READY_FIGURES, FigureSpread, Ready
from loadgo.ready_message.remarks import ready_warnings
from loadgo.running.command_run import CommandRun
from loadgo.running.json_keys import JSON_KEYS as RUNNING_KEYS

JSON_KEYS: Keys = {
    **SUMMARY_KEYS,
    **RUNNING_KEYS,
    Ready: "command host status interrupted asked sources notes floor_bytes tariff left_behind",
    FigureSpread: "runs median low high least most",
}


def ready_json(ready: Ready) -> str:
    """The ready message as one JSON object. Units are nanoseconds, bytes, counts and money; null is not measured."""
    figures = {stage: {name: ready.spread(name, stage) for name in READY_FIGURES} for stage in ready.stages}
    runs = [_run(ready, run) for run in ready.runs]
    more = {"figures": figures, "runs": runs, "warnings": ready_warnings(ready)}
    return json_document(members_of(ready, JSON_KEYS) | more, JSON_KEYS)


def _run(ready: Ready, run: CommandRun) -> dict[str, object]:
    return members_of(run, JSON_KEYS) | {"status": run.status, "cpu_ns": run.cpu_ns, "cost": ready.value("cost", run)}

"""The JSON Schemas of all formats, derived from the types and the keys that the results are written with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from loadgo.attribution.document import JSON_KEYS as SPEEDUP_KEYS
from loadgo.attribution.results import Speedup
from loadgo.comparison.document import JSON_KEYS as COMPARISON_KEYS
from loadgo.costs.as_json import JSON_KEYS as COST_KEYS
from loadgo.costs.fairness_document import JSON_KEYS as FAIRNESS_KEYS
from loadgo.documents.as_json import Keys
from loadgo.documents.json_types import json_schema_of
from loadgo.fitting.document import JSON_KEYS as FIT_KEYS
from loadgo.measures.json_keys import JSON_KEYS as SUMMARY_KEYS
from loadgo.measures.summary import Summary
from loadgo.observation.document import JSON_KEYS as OBSERVATION_KEYS
from loadgo.observation.likeness.document import JSON_KEYS as LIKENESS_KEYS
from loadgo.observation.likeness.results import Likeness
from loadgo.observation.results import Observation
from loadgo.pairing.document import JSON_KEYS as EXPERIMENT_KEYS
from loadgo.profiling.document import PROFILE_KEYS
from loadgo.profiling.profile import Profile
from loadgo.ready_message.as_json import JSON_KEYS as READY_KEYS
from loadgo.ready_message.ready import Ready
from loadgo.records.runs import RecordedRun
from loadgo.reporting.failed_lines import FAILED_KEYS, FailedLine
from loadgo.reporting.lists.ability_list import ABILITY_KEYS
from loadgo.reporting.lists.lists import MACHINE_KEYS, SCRIPT_KEYS
from loadgo.reporting.lists.run_list import RUN_KEYS
from loadgo.reproduction.as_data import JSON_KEYS as REPRODUCTION_KEYS
from loadgo.running.doctor import Ability
from loadgo.running.json_keys import JSON_KEYS as SIMULATION_KEYS
from loadgo.running.machines import Machine
from loadgo.running.scripts import Script
from loadgo.running.simulation import Simulation
from loadgo.schemas import comparison_objects, cost_objects, reproduction_objects, run_objects
from loadgo.schemas.formats import JSON_FORMATS, JsonFormat
from loadgo.sizing.knobs.document import JSON_KEYS as KNOB_KEYS
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.report.json_keys import JSON_KEYS as CAPACITY_KEYS
from loadgo.sizing.search.results import Capacity
from loadgo.sweeping.document import JSON_KEYS as SWEEP_KEYS
from loadgo.sweeping.results import Sweep
from loadgo.transfers.analysis import Apart
from loadgo.transfers.command import CommandTransfer
from loadgo.transfers.json_keys import JSON_KEYS as TRANSFER_KEYS
from loadgo.verification.document import JSON_KEYS as VERIFICATION_KEYS
from loadgo.verification.results import Verification

_PARTS: Mapping[str, tuple[tuple[type, ...], Keys]] = {
    "run": ((Summary, run_objects.RunMore), SUMMARY_KEYS),
    "failed": ((run_objects.FailedJson,), {FailedLine: FAILED_KEYS}),
    "compare": ((comparison_objects.ComparisonJson,), COMPARISON_KEYS),
    "speedup": ((Speedup, comparison_objects.SpeedupMore), SPEEDUP_KEYS),
    "ab": ((comparison_objects.ExperimentJson,), EXPERIMENT_KEYS),
    "capacity": ((Capacity, run_objects.WarningsMore), CAPACITY_KEYS),
    "capacity-of-limit": ((KnobCapacity, run_objects.WarningsMore), KNOB_KEYS),
    "sweep": ((Sweep, run_objects.WarningsMore), SWEEP_KEYS),
    "history": ((comparison_objects.HistoryJson,), {}),
    "cost": ((cost_objects.CostsJson,), COST_KEYS),
    "cost-against": ((cost_objects.FairnessJson,), FAIRNESS_KEYS),
    "tariffs": ((cost_objects.TariffsJson,), SUMMARY_KEYS),
    "fit": ((run_objects.FitJson,), FIT_KEYS),
    "observe": ((Observation,), OBSERVATION_KEYS),
    "likeness": ((Likeness, comparison_objects.LikenessMore), LIKENESS_KEYS),
    "simulate": ((Simulation, run_objects.WarningsMore), SIMULATION_KEYS),
    "reproduce": ((reproduction_objects.ReproductionJson,), REPRODUCTION_KEYS),
    "profile": ((Profile, run_objects.ProfileMore), PROFILE_KEYS),
    "ready": ((Ready, run_objects.ReadyMore), READY_KEYS),
    "transfer": ((cost_objects.TransferJson,), TRANSFER_KEYS),
    "transfer-command": ((CommandTransfer, cost_objects.CommandTransferMore), TRANSFER_KEYS),
    "transfer-table": ((Apart, run_objects.WarningsMore), TRANSFER_KEYS),
    "transfer-methods": ((run_objects.MethodsJson,), {}),
    "verify": ((Verification, run_objects.WarningsMore), VERIFICATION_KEYS),
    "runs": ((run_objects.RunsJson,), {RecordedRun: RUN_KEYS}),
    "machines": ((run_objects.MachinesJson,), {Machine: MACHINE_KEYS}),
    "scripts": ((run_objects.ScriptsJson,), {Script: SCRIPT_KEYS}),
    "doctor": ((run_objects.AbilitiesJson,), {Ability: ABILITY_KEYS}),
    "query": ((run_objects.QueryJson,), {}),
}
"""By format: the types whose members its JSON has, and the keys of all types in it."""


def derived_schema(known: JsonFormat) -> dict[str, Any]:
    """The schema of a format."""
    parts, keys = _PARTS[known.name]
    commands = ", ".join(f"`loadgo {command}`" for command in known.commands)
    description = f"Printed by {commands} with `--format json`: {known.about}. Null is not measured or not known."
    return json_schema_of(f"loadgo {known.name}", description, parts, keys)


def schema_files() -> dict[str, str]:
    """The content of each schema's file, by format."""
    return {
        known.name: json.dumps(derived_schema(known), indent=1, ensure_ascii=False) + "\n" for known in JSON_FORMATS
    }

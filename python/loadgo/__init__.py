"""Loads a machine with users who type: how many it holds, what each interaction costs, where the time goes.

Everything that the command `loadgo` does is a function here, with the same name. Each is loaded when it is first used,
so that neither `import loadgo` nor `loadgo run` waits for the libraries of the analysis.
"""

# Type checkers read it as true. `typing` itself takes a while to load, in which an interrupt is a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loadgo.attribution.measured_runs import speedup_of as speedup_of
    from loadgo.attribution.results import Speedup as Speedup
    from loadgo.attribution.speedup import speedup as speedup
    from loadgo.comparison.compare import Comparison as Comparison
    from loadgo.comparison.compare import compare as compare
    from loadgo.costs.cost import Costs as Costs
    from loadgo.costs.cost import cost as cost
    from loadgo.costs.fairness import Fairness as Fairness
    from loadgo.costs.fairness import cost_against as cost_against
    from loadgo.fitting.fit import Fit as Fit
    from loadgo.fitting.fit import fit as fit
    from loadgo.laboratory.history import History as History
    from loadgo.laboratory.history import history as history
    from loadgo.laboratory.lab import Laboratory as Laboratory
    from loadgo.laboratory.lab import lab as lab
    from loadgo.metering.meter import Metered as Metered
    from loadgo.metering.meter import meter as meter
    from loadgo.observation.likeness.likeness import likeness as likeness
    from loadgo.observation.likeness.results import Likeness as Likeness
    from loadgo.observation.observe import observe as observe
    from loadgo.observation.results import Observation as Observation
    from loadgo.pairing.experiment import ab as ab
    from loadgo.pairing.results import Experiment as Experiment
    from loadgo.pairing.variant import Variant as Variant
    from loadgo.profiling.profile import Profile as Profile
    from loadgo.profiling.profile import profile as profile
    from loadgo.ready_message.ready import Ready as Ready
    from loadgo.ready_message.ready import ready as ready
    from loadgo.records.query import query as query
    from loadgo.records.runs import RecordedRun as RecordedRun
    from loadgo.records.runs import RunList as RunList
    from loadgo.records.runs import runs as runs
    from loadgo.records.tables import Tables as Tables
    from loadgo.records.tables import tables as tables
    from loadgo.reporting.report import report as report
    from loadgo.reproduction.reproduce import Reproduction as Reproduction
    from loadgo.reproduction.reproduce import reproduce as reproduce
    from loadgo.running.doctor import Ability as Ability
    from loadgo.running.doctor import AbilityList as AbilityList
    from loadgo.running.doctor import doctor as doctor
    from loadgo.running.host import Driver as Driver
    from loadgo.running.load import EachLimits as EachLimits
    from loadgo.running.load import Limits as Limits
    from loadgo.running.load import Load as Load
    from loadgo.running.load import Metering as Metering
    from loadgo.running.machines import Machine as Machine
    from loadgo.running.machines import MachineList as MachineList
    from loadgo.running.machines import machines as machines
    from loadgo.running.record import Recorded as Recorded
    from loadgo.running.record import record as record
    from loadgo.running.run import Run as Run
    from loadgo.running.run import run as run
    from loadgo.running.scripts import Script as Script
    from loadgo.running.scripts import ScriptList as ScriptList
    from loadgo.running.scripts import scripts as scripts
    from loadgo.running.simulation import Simulation as Simulation
    from loadgo.running.simulation import simulate as simulate
    from loadgo.schemas.formats import schema as schema
    from loadgo.sizing.capacity import capacity as capacity
    from loadgo.sizing.knobs.capacity_of_limit import capacity_of_limit as capacity_of_limit
    from loadgo.sizing.knobs.results import KnobCapacity as KnobCapacity
    from loadgo.sizing.search.results import Capacity as Capacity
    from loadgo.sweeping.merge import merge as merge
    from loadgo.sweeping.results import Sweep as Sweep
    from loadgo.sweeping.sweep import sweep as sweep
    from loadgo.transfers.transfer import Transferred as Transferred
    from loadgo.transfers.transfer import transfer as transfer
    from loadgo.verification.results import Verification as Verification
    from loadgo.verification.verify import verify as verify
    from loadgo.watching.watch import Watching as Watching
    from loadgo.watching.watch import watch as watch

    __version__: str

__all__ = [
    "Ability",
    "AbilityList",
    "Capacity",
    "Comparison",
    "Costs",
    "Driver",
    "EachLimits",
    "Experiment",
    "Fairness",
    "Fit",
    "History",
    "KnobCapacity",
    "Laboratory",
    "Likeness",
    "Limits",
    "Load",
    "Machine",
    "MachineList",
    "Metered",
    "Metering",
    "Observation",
    "Profile",
    "Ready",
    "Recorded",
    "RecordedRun",
    "Reproduction",
    "Run",
    "RunList",
    "Script",
    "ScriptList",
    "Simulation",
    "Speedup",
    "Sweep",
    "Tables",
    "Transferred",
    "Variant",
    "Verification",
    "Watching",
    "ab",
    "capacity",
    "capacity_of_limit",
    "compare",
    "cost",
    "cost_against",
    "doctor",
    "fit",
    "history",
    "lab",
    "likeness",
    "machines",
    "merge",
    "meter",
    "observe",
    "profile",
    "query",
    "ready",
    "record",
    "report",
    "reproduce",
    "run",
    "runs",
    "schema",
    "scripts",
    "simulate",
    "speedup",
    "speedup_of",
    "sweep",
    "tables",
    "transfer",
    "verify",
    "watch",
]

# The module of each public name.
_HOMES = {
    "Ability": "running.doctor",
    "AbilityList": "running.doctor",
    "Capacity": "sizing.search.results",
    "Comparison": "comparison.compare",
    "Costs": "costs.cost",
    "Driver": "running.host",
    "EachLimits": "running.load",
    "Experiment": "pairing.results",
    "Fairness": "costs.fairness",
    "Fit": "fitting.fit",
    "History": "laboratory.history",
    "KnobCapacity": "sizing.knobs.results",
    "Laboratory": "laboratory.lab",
    "Likeness": "observation.likeness.results",
    "Limits": "running.load",
    "Load": "running.load",
    "Machine": "running.machines",
    "MachineList": "running.machines",
    "Metered": "metering.meter",
    "Metering": "running.load",
    "Observation": "observation.results",
    "Profile": "profiling.profile",
    "Ready": "ready_message.ready",
    "Recorded": "running.record",
    "RecordedRun": "records.runs",
    "Reproduction": "reproduction.reproduce",
    "Run": "running.run",
    "RunList": "records.runs",
    "Script": "running.scripts",
    "ScriptList": "running.scripts",
    "Simulation": "running.simulation",
    "Speedup": "attribution.results",
    "Sweep": "sweeping.results",
    "Tables": "records.tables",
    "Transferred": "transfers.transfer",
    "Variant": "pairing.variant",
    "Verification": "verification.results",
    "Watching": "watching.watch",
    "ab": "pairing.experiment",
    "capacity": "sizing.capacity",
    "capacity_of_limit": "sizing.knobs.capacity_of_limit",
    "compare": "comparison.compare",
    "cost": "costs.cost",
    "cost_against": "costs.fairness",
    "doctor": "running.doctor",
    "fit": "fitting.fit",
    "history": "laboratory.history",
    "lab": "laboratory.lab",
    "likeness": "observation.likeness.likeness",
    "machines": "running.machines",
    "merge": "sweeping.merge",
    "meter": "metering.meter",
    "observe": "observation.observe",
    "profile": "profiling.profile",
    "query": "records.query",
    "ready": "ready_message.ready",
    "record": "running.record",
    "report": "reporting.report",
    "reproduce": "reproduction.reproduce",
    "run": "running.run",
    "runs": "records.runs",
    "schema": "schemas.formats",
    "scripts": "running.scripts",
    "simulate": "running.simulation",
    "speedup": "attribution.speedup",
    "speedup_of": "attribution.measured_runs",
    "sweep": "sweeping.sweep",
    "tables": "records.tables",
    "transfer": "transfers.transfer",
    "verify": "verification.verify",
    "watch": "watching.watch",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> "Any":
        from importlib import import_module

        if name == "__version__":
            return import_module("loadgo._loadgo").__version__
        if name not in _HOMES:
            raise AttributeError(f"module 'loadgo' has no attribute {name!r}")
        value = getattr(import_module(f"loadgo.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})

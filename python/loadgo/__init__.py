"""Loads a machine with users who type: how many it holds, what each interaction costs, where the time goes.

Everything that the command `loadgo` does is a function here, with the same name. Each is loaded when it is first used,
so that neither `import loadgo` nor `loadgo run` waits for the libraries of the analysis.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loadgo.capacity import capacity as capacity
    from loadgo.capacity_results import Capacity as Capacity
    from loadgo.compare import Comparison as Comparison
    from loadgo.compare import compare as compare
    from loadgo.cost import Costs as Costs
    from loadgo.cost import cost as cost
    from loadgo.cost_against import Fairness as Fairness
    from loadgo.cost_against import cost_against as cost_against
    from loadgo.doctor import doctor as doctor
    from loadgo.fit import Fit as Fit
    from loadgo.fit import fit as fit
    from loadgo.machines import machines as machines
    from loadgo.meter import Metered as Metered
    from loadgo.meter import meter as meter
    from loadgo.profile import Profile as Profile
    from loadgo.profile import profile as profile
    from loadgo.query import query as query
    from loadgo.ready import ready as ready
    from loadgo.record import record as record
    from loadgo.reporting import report as report
    from loadgo.reproduce import reproduce as reproduce
    from loadgo.run import Run as Run
    from loadgo.run import run as run
    from loadgo.runs import runs as runs
    from loadgo.simulate import Simulation as Simulation
    from loadgo.simulate import simulate as simulate
    from loadgo.speedup import speedup as speedup
    from loadgo.speedup_measured import speedup_of as speedup_of
    from loadgo.speedup_results import Speedup as Speedup
    from loadgo.tables import tables as tables
    from loadgo.transfer import transfer as transfer

    __version__: str

__all__ = [
    "Capacity",
    "Comparison",
    "Costs",
    "Fairness",
    "Fit",
    "Metered",
    "Profile",
    "Run",
    "Simulation",
    "Speedup",
    "capacity",
    "compare",
    "cost",
    "cost_against",
    "doctor",
    "fit",
    "machines",
    "meter",
    "profile",
    "query",
    "ready",
    "record",
    "report",
    "reproduce",
    "run",
    "runs",
    "simulate",
    "speedup",
    "speedup_of",
    "tables",
    "transfer",
]

# Where each public name lives.
_HOMES = {
    "Capacity": "capacity",
    "Comparison": "compare",
    "Costs": "cost",
    "Fairness": "cost_against",
    "Fit": "fit",
    "Metered": "meter",
    "Profile": "profile",
    "Run": "run",
    "Simulation": "simulate",
    "Speedup": "speedup",
    "capacity": "capacity",
    "compare": "compare",
    "cost": "cost",
    "cost_against": "cost_against",
    "doctor": "doctor",
    "fit": "fit",
    "machines": "machines",
    "meter": "meter",
    "profile": "profile",
    "query": "query",
    "ready": "ready",
    "record": "record",
    "report": "reporting",
    "reproduce": "reproduce",
    "run": "run",
    "runs": "runs",
    "simulate": "simulate",
    "speedup": "speedup",
    "speedup_of": "speedup_measured",
    "tables": "tables",
    "transfer": "transfer",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return import_module("loadgo._loadgo").__version__
        if name not in _HOMES:
            raise AttributeError(f"module 'loadgo' has no attribute {name!r}")
        found = getattr(import_module(f"loadgo.{_HOMES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


class _Face(ModuleType):
    """This package; a function keeps its name although a file has it too: importing `loadgo.run` leaves `run` alone."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face

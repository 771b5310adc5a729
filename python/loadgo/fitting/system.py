"""The values of a system that are known and not fitted: processors with their discipline, and stores.

A host has the fair discipline of Linux, with the slices that the kernel chooses for its number of processors, which end
at its ticks. A simulated machine's run folder has its machine file, which gives the number of processors, the
discipline and the stores. Times in the supervisor, the service of servers that had requests, and the demands of
commands are fitted.
"""

from __future__ import annotations

import math
from typing import Any

from loadgo.errors import BadArgument
from loadgo.fitting.reading import RunReading
from loadgo.fitting.values import FittedValues
from loadgo.notation.keys import dotted

_BASE_SLICE_MS = 0.7
_MOST_SLICE_PROCESSORS = 8
"""kernel/sched/fair.c (6.12 and later): base slice 0.70 ms × (1 + log2 of the processors, at most 8)."""

_LONGEST_TICK_NS = 1_000_000_000
_FITTED_PROCESSOR_KEYS = ("speed", "instructions_per_second", "switch", "cpu_when_busy")
"""Keys of a simulated machine's processors that a fit replaces."""


def known_values(reading: RunReading) -> FittedValues:
    """The processors, and for a simulated machine its stores and its multiprogramming limit."""
    return _machine_values(reading) if reading.kind == "machine" else _host_values(reading)


def processor_count(reading: RunReading) -> int:
    """Number of processors of the fitted machine: those of the host, or the whole number next to a quota."""
    cpus = reading.conditions.get("limit", {}).get("cpus")
    return reading.processors if cpus is None else max(1, min(reading.processors, round(float(cpus))))


def _host_values(reading: RunReading) -> FittedValues:
    cpus = reading.conditions.get("limit", {}).get("cpus")
    count = processor_count(reading)
    system = reading.conditions.get("system", {})
    tick_ns = _tick_ns(reading)
    slices_end = "at the kernel's ticks" if tick_ns else "exactly"
    assumed = [f"the processors are shared fairly, and slices end {slices_end}"]
    if cpus is not None and float(cpus) != count:
        assumed.append(f"a quota of {float(cpus):g} processors is modelled as {count}")
    resolution_ms = int(reading.conditions.get("usage", {}).get("cpu_resolution_ns", 1)) / 1e6
    if resolution_ms >= 1:
        assumed.append(
            f"processor time was metered in steps of {resolution_ms:g} ms: means are reliable, laws are coarse"
        )
    slice_ms = _BASE_SLICE_MS * (1 + math.floor(math.log2(min(count, _MOST_SLICE_PROCESSORS))))
    return FittedValues(
        (),
        tuple(assumed),
        (
            ("processors.count", count),
            ("processors.speed", 1),
            ("processors.discipline", "linux"),
            ("processors.slice", f"{slice_ms:g}ms"),
            *((("processors.tick", f"{tick_ns / 1e6:g}ms"),) if tick_ns else ()),
            *((("processors.packs", True),) if system.get("packs") else ()),
        ),
    )


def _tick_ns(reading: RunReading) -> int:
    """The kernel's tick; 0 where the run does not have it."""
    tick_ns = reading.conditions.get("system", {}).get("tick_ns")
    if tick_ns is None:
        return 0
    if not 0 < tick_ns <= _LONGEST_TICK_NS:
        raise BadArgument(
            f"{reading.id}: `system.tick_ns` in run.toml is {tick_ns}, and a kernel's tick is 1 to 10 ms: take the "
            "line out, and slices end exactly"
        )
    return int(tick_ns)


def _machine_values(reading: RunReading) -> FittedValues:
    machine = reading.machine
    if not machine:
        raise BadArgument(f"{reading.id} has no machine.toml, which describes its machine")
    residence = machine.get("memory", {}).get("residence", "everything")
    if residence == "swapping":
        raise BadArgument(
            f"{reading.id} ran on a machine that swaps whole programs, which cannot be fitted: "
            "change its machine file instead, as in `set=memory.words=65536`"
        ).about("set")
    tables: list[tuple[str, Any]] = [
        (dotted("processors", key), value) for key, value in machine.get("processors", {}).items()
    ]
    tables = [pair for pair in tables if not pair[0].endswith(_FITTED_PROCESSOR_KEYS)]
    tables += [(dotted("multiprogramming", key), value) for key, value in machine.get("multiprogramming", {}).items()]
    for name, store in machine.get("storage", {}).items():
        # A fitted service replaces that of the file. A store without requests, and the paging device, keep theirs.
        tables += [(dotted("storage", name, key), value) for key, value in store.items()]
    assumed = "processors, discipline and devices are as the run's machine.toml has them"
    return FittedValues((), (assumed,), (("processors.speed", 1), *tables))

"""What is known of a system and not fitted: processors and who gets them, the stores of a simulated machine.

A host's processors are Linux's: a fair share, in slices as long as the kernel makes them for so many processors. A
simulated machine's configuration is in its own file, which the run keeps: how many processors, which discipline, which
stores; what each costs and what a command needs is not taken from there.
"""

from __future__ import annotations

import math
from typing import Any

from loadgo.errors import BadArgument
from loadgo.fitting.reading import Reading
from loadgo.fitting.values import Found
from loadgo.notation.keys import dotted

_BASE_SLICE_MS = 0.7
_MOST_FOR_SLICE = 8
"""kernel/sched/fair.c (6.12 and later): base slice 0.70 ms times 1 + log2 of the processors, at most 8."""

_FITTED_OF_PROCESSORS = ("speed", "instructions_per_second", "switch")
"""Keys of a simulated machine's processors that a fit replaces."""


def known_of(reading: Reading) -> Found:
    """The processors, and for a simulated machine its stores and its limit of multiprogramming."""
    return _machine(reading) if reading.kind == "machine" else _host(reading)


def _host(reading: Reading) -> Found:
    cpus = reading.conditions.get("limit", {}).get("cpus")
    count = reading.processors if cpus is None else max(1, min(reading.processors, round(float(cpus))))
    assumed = [
        "the processors are shared fairly, in one queue, and cost a command as much however many users there are"
    ]
    if cpus is not None and float(cpus) != count:
        assumed.append(f"a quota of {float(cpus):g} processors is taken for {count}")
    resolution_ms = int(reading.conditions.get("usage", {}).get("cpu_resolution_ns", 1)) / 1e6
    if resolution_ms >= 1:
        assumed.append(f"processor time was metered in steps of {resolution_ms:g} ms: means are good, laws are coarse")
    slice_ms = _BASE_SLICE_MS * (1 + math.floor(math.log2(min(count, _MOST_FOR_SLICE))))
    return Found(
        (),
        tuple(assumed),
        (
            ("processors.count", count),
            ("processors.speed", 1),
            ("processors.discipline", "linux"),
            ("processors.slice", f"{slice_ms:g}ms"),
        ),
    )


def _machine(reading: Reading) -> Found:
    machine = reading.machine
    if not machine:
        raise BadArgument(f"{reading.id} has lost its machine.toml, which says what machine it was")
    residence = machine.get("memory", {}).get("residence", "everything")
    if residence == "swapping":
        raise BadArgument(
            f"{reading.id} is of a machine that swaps whole programs, and no fit of such a machine is known: "
            "change its own file, as in `set=memory.words=65536`"
        ).about("set")
    tables: list[tuple[str, Any]] = [
        (dotted("processors", key), value) for key, value in machine.get("processors", {}).items()
    ]
    tables = [pair for pair in tables if not pair[0].endswith(("speed", "instructions_per_second", "switch"))]
    tables += [(dotted("multiprogramming", key), value) for key, value in machine.get("multiprogramming", {}).items()]
    for name, store in machine.get("storage", {}).items():
        tables += [
            (dotted("storage", name, key), value)
            for key, value in store.items()
            if store.get("kind") != "server" or key != "service"
        ]
    assumed = "processors, discipline and devices are as the run's machine.toml has them"
    return Found((), (assumed,), (("processors.speed", 1), *tables))

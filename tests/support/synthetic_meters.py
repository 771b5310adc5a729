"""A made-up run of a host with every table of the meters and known sums, for the tests of the meters' reports."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from loadgo.records.tables import Tables
from numpy.typing import NDArray

from support.synthetic import S, Work, closed_loop, frame

SPANS = 90
PROCESSORS = 2

SHARES = {
    "user": 0.22,
    "primitive": 0.11,
    "page fault": 0.06,
    "segment fault": 0.012,
    "bound fault": 0.004,
    "interrupt": 0.015,
    "soft interrupt": 0.02,
    "getwork": 0.03,
    "kernel thread": 0.012,
    "uncharged": 0.003,
    "meters": 0.009,
    "idle zero": 0.2,
    "idle page wait": 0.16,
    "idle disk wait": 0.07,
    "idle governed": 0.04,
    "idle not eligible": 0.01,
    "idle loading": 0.015,
    "idle dispatch": 0.01,
}
"""Mean shares of a processor's time. The spans differ."""

FAULTS = {
    "minor": (900, 900, 0, 1.2),
    "major": (12, 9_000, 90_000, 110.0),
    "swap-in": (5, 6_000, 8_000, 14.0),
    "write-protect": (150, 1_100, 0, 1.5),
    "segment": (80, 1_800, 0, 2.2),
    "bound": (60, 700, 0, 0.9),
    "interrupt": (420, 4_000, 0, 5.0),
    "soft interrupt": (700, 3_000, 0, 4.0),
}
"""By kind: how many in a span, the processor time and the wait of one in ns, and its usual duration in µs."""

DEVICES = {"interrupt": {"timer": 0.75, "virtio0": 0.25}, "soft interrupt": {"sched": 0.5, "net-rx": 0.5}}
"""By kind of interrupt: each device's part of it."""

PRIMITIVES = {
    "read": (4_000, 2_300, 0.002),
    "write": (2_500, 1_900, 0.001),
    "openat": (1_200, 6_000, 0.31),
    "mmap": (900, 4_200, 0.0),
    "execve": (30, 410_000, 0.1),
    "clone3": (35, 88_000, 0.0),
    "wait4": (40, 22_000_000, 0.0),
    "poll": (300, 9_000_000, 0.0),
    "brk": (400, 900, 0.0),
    "newfstatat": (2_000, 1_700, 0.6),
    **{f"call_{i}": (20 + i, 800 + 10 * i, 0.0) for i in range(14)},
}
"""By name: how many in a span, the time of one in ns, and the part that fails."""

WAITING = ("poll", "wait4")
"""System calls that wait for nine tenths of their time."""

LENGTHS = {"ready 0": 0.62, "ready 1": 0.2, "ready 2-3": 0.12, "ready 4-7": 0.05, "ready 8-15": 0.01}
LIBC = "/usr/lib/x86_64-linux-gnu/a-folder-with-a-long-name/libc.so.6"
SEGMENTS = {"[anon]": (4_000, 30, 20), "[heap]": (2_500, 5, 60), LIBC: (900, 40, 210), "cc1": (700, 90, 480)}
"""By name: minor faults, major faults and samples in a span."""
STACKS = {"main;parse;next_token": 300, "main;parse": 50, "main;read;do_syscall_64_[k];copy_page_[k]": 90, "parse": 10}
"""By folded stack: samples in a span."""


@cache
def metered_host(users: int = 12, passes: int = 40) -> Tables:
    """A run of twelve users on two processors for about a minute and a half, with every table of the meters."""
    script = [Work("edit", 0.05), Work("compile", 0.3), Work("list", 0.02)]
    run = closed_loop(users, passes // len(script), script, think_s=5.0)
    random = np.random.default_rng(7)
    ends = [(i + 1) * S for i in range(SPANS)]
    rows: dict[str, list[dict[str, Any]]] = {
        "time": [row for at in ends for row in _time(at, random)],
        "faults": [row for at in ends for row in _faults(at, random)],
        "primitives": [row for at in ends for row in _primitives(at, random)],
        "segments": [row for at in ends for row in _segments(at)],
        "queue": [row for at in ends for row in _queue(at, random)],
    }
    frames = {name: frame(found, name) for name, found in rows.items()}
    return replace(run, **frames, processes=_processes(ends, users), stacks=frame(_stacks(ends), "stacks"))


def _span(at: int) -> dict[str, Any]:
    return {"at_ns": at, "span_ns": S}


def _time(at: int, random: np.random.Generator) -> list[dict[str, Any]]:
    """Every category of each processor; they add up to the span, to the nanosecond."""
    rows = []
    for processor in range(PROCESSORS):
        weights = np.array(list(SHARES.values())) * random.uniform(0.3, 1.7, len(SHARES))
        weights[0] *= 1.5 + np.sin(at / S / 9)
        times = np.floor(weights / weights.sum() * S).astype(np.int64)
        times[0] += S - times.sum()
        rows += [
            _span(at) | {"processor": processor, "category": name, "time_ns": int(time)}
            for name, time in zip(SHARES, times, strict=True)
        ]
    return rows


def _buckets(ns: NDArray[np.float64]) -> NDArray[np.int64]:
    power = 2 ** np.floor(np.log2(ns)).astype(np.int64)
    return power + ((ns - power) * 8 // power).astype(np.int64) * power // 8


def _histogram(row: dict[str, Any], count: int, usual_ns: float, random: np.random.Generator) -> list[dict[str, Any]]:
    """`count` durations about `usual_ns`, as rows with a bucket."""
    buckets = _buckets(np.maximum(1.0, usual_ns * random.lognormal(0, 0.5, count)))
    found = zip(*np.unique(buckets, return_counts=True), strict=True)
    return [row | {"bucket_ns": int(bucket), "count": int(number)} for bucket, number in found]


def _faults(at: int, random: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for kind, (count, cpu, wait, usual_us) in FAULTS.items():
        row = _span(at) | {"kind": kind}
        rows.append(row | {"count": count, "cpu_ns": cpu * count, "wait_ns": wait * count})
        rows += _histogram(row, count, usual_us * 1000, random)
        for user, command, part in ((1, "edit", 3), (2, "compile", 2)):
            whose = {"user": user, "command": command, "count": count // part}
            rows.append(row | whose | {"cpu_ns": cpu * (count // part), "wait_ns": wait * (count // part)})
        for device, part in DEVICES.get(kind, {}).items():
            many = round(count * part)
            rows.append(row | {"device": device, "count": many, "cpu_ns": cpu * many, "wait_ns": 0})
    return rows


def _primitives(at: int, random: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for name, (count, each_ns, failed) in PRIMITIVES.items():
        row = _span(at) | {"name": name}
        wait_ns = count * each_ns * 9 // 10 if name in WAITING else 0
        told = {"errors": round(count * failed), "time_ns": count * each_ns, "wait_ns": wait_ns, "faults": count // 2}
        rows.append(row | {"count": count} | told)
        rows += _histogram(row, min(count, 40), each_ns, random)
        whose = {"user": 1, "command": "edit", "count": count // 4, "errors": 0, "time_ns": count // 4 * each_ns}
        rows.append(row | whose)
    return rows


def _segments(at: int) -> list[dict[str, Any]]:
    return [
        _span(at) | {"segment": name, "faults_minor": minor, "faults_major": major, "samples": samples}
        for name, (minor, major, samples) in SEGMENTS.items()
    ]


def _stacks(ends: list[int]) -> list[dict[str, Any]]:
    whose = {"process": "cc1", "user": 1, "command": "compile"}
    return [
        _span(at) | whose | {"stack": stack, "samples": samples} for at in ends for stack, samples in STACKS.items()
    ]


def _queue(at: int, random: np.random.Generator) -> list[dict[str, Any]]:
    shares = np.array(list(LENGTHS.values())) * random.uniform(0.5, 1.5, len(LENGTHS))
    times = dict(zip(LENGTHS, shares / shares.sum() * S, strict=True))
    measures = {"ready": 0.7, "switches": 5_000.0, "pre-emptions": 800.0} | times
    return [_span(at) | {"queue": "processors", "measure": name, "value": value} for name, value in measures.items()]


def _processes(ends: list[int], users: int) -> pl.DataFrame:
    """All users together, the laboratory, and every user's and process' own; with the columns of the meters."""
    rows: list[dict[str, Any]] = []
    for at in ends:
        groups = {"users": 700_000_000, "driver": 6_000_000, "meters": 3_000_000}
        rows += [_span(at) | {"who": who, "cpu_ns": cpu} for who, cpu in groups.items()]
        for user in range(1, users + 1):
            whose = {"user": user, "ready_wait_ns": 2_000_000 * user}
            rows += [_span(at) | whose | {"who": "sh", "cpu_ns": 10_000_000}]
            rows += [_span(at) | whose | {"who": "cc1", "cpu_ns": 1_000_000 * user}]
        rows.append(_span(at) | {"who": "kworker/0:1", "cpu_ns": 7_000_000, "ready_wait_ns": 100_000})
    return frame(rows, "processes")


@cache
def metered_alone() -> Tables:
    """The same host without a load: nobody is logged in, and only the meters' threads are ours."""
    run = metered_host()
    alone = ("interactions", "sessions", "phases")
    owner = run.processes["who"].cast(pl.String)
    meter_conditions: dict[str, Any] = {
        "kind": "meter",
        "name": "this host",
        "load": {},
        "meters": {
            "tier": "exact",
            "exact": ["total time", "queue"],
            "estimated": {"getwork": "by a clock that samples"},
            "not_here": {"segments": "perf events are not permitted: run as root"},
            "notes": ["2 programs did not load"],
        },
    }
    return replace(
        run,
        **{name: getattr(run, name).clear() for name in alone},
        processes=run.processes.filter(~owner.is_in(["users", "driver"])),
        conditions={name: part for name, part in run.conditions.items() if name not in ("usage", "driver")}
        | meter_conditions,
    )

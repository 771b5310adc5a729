"""loadgo against pexpect and a bare loop, under the same load in alternation: CPU, memory, and the response they see.

    python bench/bench_pexpect.py [ROUNDS] [SECONDS] [USERS]

With think time: 1000 calculator users, think exponential(1s), driver on processor 0, users on processor 1. Without:
64 users on the whole machine. CPU is that of the whole process, so loadgo's has in it what recording and metering take.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from driven import Driven, Load, bare, loadgo, pexpect, raw
from figures import Figure, figure, finish
from machine import machine, terminals


@dataclass(frozen=True)
class Round:
    """One run of each, one after the other."""

    loadgo: Driven
    pexpect: Driven
    bare: Driven


def main() -> None:
    """Measures in alternation, first with think time and then without."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    users = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    here = machine()
    with terminals(users):
        thinking = [_round(Load(users=users, seconds=seconds)) for _ in range(rounds)]
    hurrying = Load(users=64, think_s=0, seconds=seconds / 2, pinned=False, scheduling="batch")
    saturated = [_round(hurrying) for _ in range(rounds)]
    every = saturated[0].loadgo.more["usage_every"]
    notes = [
        f"pexpect {thinking[0].pexpect.more['pexpect']}: a thread a user, delays off, poll, records nothing",
        f"usage: read for each interaction with think time; for one in {every} of a user without",
    ]
    figures = [*_thinking(thinking, users), *_saturated(saturated)]
    finish("pexpect", here, figures, notes, {"thinking": _raw(thinking), "saturated": _raw(saturated)})


def _round(load: Load) -> Round:
    return Round(loadgo(load), pexpect(load), bare(load))


def _thinking(rounds: list[Round], users: int) -> list[Figure]:
    return [
        figure("loadgo, CPU an interaction", "us", [one.loadgo.cpu_us for one in rounds]),
        figure("pexpect, CPU an interaction", "us", [one.pexpect.cpu_us for one in rounds]),
        figure("bare loop, CPU an interaction", "us", [one.bare.cpu_us for one in rounds]),
        figure("CPU, loadgo : pexpect", "", [one.loadgo.cpu_us / one.pexpect.cpu_us for one in rounds], "<= 0.5"),
        figure("loadgo, memory a user", "KB", [one.loadgo.allocated_bytes / users / 1000 for one in rounds]),
        figure("pexpect, memory a user", "KB", [one.pexpect.allocated_bytes / users / 1000 for one in rounds]),
        figure(
            "memory, loadgo : pexpect",
            "",
            [one.loadgo.allocated_bytes / one.pexpect.allocated_bytes for one in rounds],
            "<= 0.05",
        ),
        figure(
            "memory with the program's pages, loadgo : pexpect",
            "",
            [one.loadgo.resident_bytes / one.pexpect.resident_bytes for one in rounds],
        ),
        figure("loadgo, response p50", "us", [one.loadgo.response_p50_us for one in rounds]),
        figure("pexpect, response p50", "us", [one.pexpect.response_p50_us for one in rounds]),
        figure("bare loop, response p50", "us", [one.bare.response_p50_us for one in rounds]),
        figure(
            "response p50, loadgo : bare loop",
            "",
            [one.loadgo.response_p50_us / one.bare.response_p50_us for one in rounds],
            "<= 1.1",
        ),
        figure(
            "response p50, pexpect : bare loop",
            "",
            [one.pexpect.response_p50_us / one.bare.response_p50_us for one in rounds],
        ),
        figure("loadgo, lateness p50", "us", [one.loadgo.lateness_p50_us for one in rounds]),
        figure("pexpect, lateness p50", "us", [one.pexpect.lateness_p50_us for one in rounds]),
    ]


def _saturated(rounds: list[Round]) -> list[Figure]:
    return [
        figure("saturated: loadgo, CPU an interaction", "us", [one.loadgo.cpu_us for one in rounds]),
        figure("saturated: pexpect, CPU an interaction", "us", [one.pexpect.cpu_us for one in rounds]),
        figure("saturated: bare loop, CPU an interaction", "us", [one.bare.cpu_us for one in rounds]),
        figure(
            "saturated: CPU, pexpect : loadgo", "", [one.pexpect.cpu_us / one.loadgo.cpu_us for one in rounds], ">= 13"
        ),
        figure("saturated: loadgo, interactions a second", "/s", [one.loadgo.rate for one in rounds]),
        figure("saturated: pexpect, interactions a second", "/s", [one.pexpect.rate for one in rounds]),
    ]


def _raw(rounds: list[Round]) -> dict[str, object]:
    return raw({name: [getattr(one, name) for one in rounds] for name in ("loadgo", "pexpect", "bare")})


if __name__ == "__main__":
    main()

"""Runs one load by agents on this host: `drive_agents.py AGENTS USERS SECONDS` prints a JSON object with the figures.

The agents are started without ssh, and users log in by a program of this host. So all the rest is as with generators
elsewhere: frames, beats, orders, clocks, and rows that are received and merged.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import loadgo
from loadgo.hosts.address import ThisHost
from loadgo.hosts.fleet import FleetHost
from loadgo.running.elsewhere.drivers import DriversElsewhere
from loadgo.running.host import DEFAULT_DRIVER, host_options
from loadgo.running.load import Load
from loadgo.running.run import load_options
from memory import Memory, memory

WARM_UP_S = 3.0
LOGIN = "loadgo-calculator"
SCRIPT = f"""
name = "calculator"
login = "{LOGIN}"
until = '\\\\? $'
think = "exponential(8s, max 60s)"
logout = "quit"
lines = ["12 + 30"]
"""
DESCRIPTION = f'[system]\nkind = "host"\nname = "the bench"\nlogin = "{LOGIN}"\n'


@dataclass
class Watch:
    """The controller at both ends of the steady phase, read while it receives."""

    place: Path
    before: Memory = field(default_factory=memory)
    samples: list[tuple[float, float, int, int]] = field(default_factory=list)
    """Seconds, processor seconds, interactions and received bytes: of the first steady moment, and of the latest."""
    last: Memory | None = None
    agents: list[tuple[int, int]] = field(default_factory=list)
    """Memory of each agent in bytes: anonymous, and all."""
    logged_in_s: float = 0.0

    def on_progress(self, state: dict[str, Any]) -> bool:
        """Reads the clocks, the sizes of what has come, and the memory of all agents."""
        if state["phase"] == "log-in":
            self.logged_in_s = state["at_s"]
        if state["phase"] == "steady":
            now = (time.monotonic(), time.process_time(), int(state["interactions"]), self._received_bytes())
            self.samples = [*self.samples[:1], now]
            self.last = memory()
            self.agents = [sizes for pid in _agents() if (sizes := _sizes(pid))]
        return True

    def _received_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.place.glob("drivers/*/*.arrows"))


def main() -> None:
    """Runs the load, and prints its figures."""
    agents, users, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        folder = Path(place) / "run"
        load = load_options(Load(users=users, duration=seconds, warm_up=WARM_UP_S))
        options = {
            **host_options((), None, None, DEFAULT_DRIVER),
            **load,
            "script": "calculator",
            "command": [],
            "passes": None,
            "meters": "none",
            "login": LOGIN,
            "other_host": DESCRIPTION,
            "other_host_users": [(users, LOGIN, None)],
        }
        watch = Watch(folder)
        hosts = tuple(FleetHost(f"agent-{number}", ThisHost(), 1) for number in range(1, agents + 1))
        began_s = time.monotonic()
        counts = DriversElsewhere(hosts)(SCRIPT, options, str(folder), watch.on_progress)
        print(json.dumps(_figures(watch, folder, counts, time.monotonic() - began_s)))


def _figures(watch: Watch, folder: Path, counts: dict[str, Any], wall_s: float) -> dict[str, Any]:
    (first_s, first_cpu_s, first_lines, first_bytes), (last_s, cpu_s, lines, sent_bytes) = watch.samples
    assert watch.last is not None, "there was a steady phase"
    tables = loadgo.tables(folder)
    grown = watch.last.since(watch.before)
    drivers = tables.conditions["drivers"]
    return {
        "window_s": last_s - first_s,
        "interactions_in_window": lines - first_lines,
        "cpu_s": cpu_s - first_cpu_s,
        "bytes_in_window": sent_bytes - first_bytes,
        "controller_allocated_bytes": grown.allocated,
        "controller_resident_bytes": watch.last.resident,
        "agent_allocated_bytes": [allocated for allocated, _ in watch.agents],
        "agent_resident_bytes": [resident for _, resident in watch.agents],
        "lateness_p99_ns": [driver.get("lateness_p99_ns", 0) for driver in drivers],
        "clock_bound_ns": [driver["clock"]["bound_ns"] for driver in drivers],
        "interactions": len(tables.interactions),
        "lost": int(tables.lost["count"].sum()),
        "refused": counts["refused"],
        "logged_in_s": watch.logged_in_s,
        "steady_share": float((tables.interactions["phase"].cast(str) == "steady").mean() or 0.0),
        "wall_s": wall_s,
    }


def _agents() -> list[int]:
    """The processes of this one that are agents."""
    children = Path("/proc/self/task").glob("*/children")
    pids = [int(pid) for path in children for pid in path.read_text().split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/comm").read_text().startswith("loadgo-agent")]


def _sizes(pid: int) -> tuple[int, int] | None:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return None
    kilobytes = dict(re.findall(r"^(Anonymous|Rss):\s+(\d+) kB", text, re.MULTILINE))
    return int(kilobytes["Anonymous"]) * 1024, int(kilobytes["Rss"]) * 1024


if __name__ == "__main__":
    main()

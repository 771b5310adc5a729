"""20 agents on this machine that drive 20,000 calculator users in all: what receiving their rows costs the controller.

    python bench/bench_agents.py [AGENTS] [USERS] [SECONDS]

Users log in by the calculator itself, since 20,000 sshds do not fit one machine. Agents and users share the processors,
so that the lateness is no figure of generators that have machines of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from figures import figure, finish
from machine import machine, terminals

AGENTS, USERS, SECONDS = 20, 20_000, 60.0
PROGRAM = Path(__file__).parent / "drive_agents.py"


def main() -> None:
    """Measures once: a run of this size is a sample of many thousand rows."""
    agents = int(sys.argv[1]) if len(sys.argv) > 1 else AGENTS
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else USERS
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else SECONDS
    here, notes = machine(), []
    with terminals(wanted) as users:
        run = _driven(agents, users, seconds)
    if users < wanted:
        notes.append(f"{users} users of {wanted}: kernel.pty.max may not be raised: run as root")
    notes.append("agents, users and the controller share this machine: lateness is that of a crowded one")
    lines = run["interactions_in_window"]
    figures = [
        figure("agents", "", [agents]),
        figure("users", "", [users]),
        figure("rows a second", "/s", [lines / run["window_s"]]),
        figure("controller, share of a core", "", [run["cpu_s"] / run["window_s"]], "<= 0.25"),
        figure("controller, CPU a row", "us", [run["cpu_s"] / lines * 1e6]),
        figure("bytes a row on the wire", "B", [run["bytes_in_window"] / lines], "<= 1000"),
        figure("controller's memory, growth", "MB", [run["controller_allocated_bytes"] / 1e6], "<= 100"),
        figure("controller's memory, all pages", "MB", [run["controller_resident_bytes"] / 1e6]),
        figure("memory of an agent", "MB", [size / 1e6 for size in run["agent_allocated_bytes"]], "<= 20"),
        figure("the same, with its program's pages", "MB", [size / 1e6 for size in run["agent_resident_bytes"]]),
        figure("bound of an agent's clock", "us", [bound / 1e3 for bound in run["clock_bound_ns"]]),
        figure("lateness p99 of an agent", "us", [late / 1e3 for late in run["lateness_p99_ns"]]),
        figure("until all are logged in", "s", [run["logged_in_s"]]),
        figure("rows in the steady phase of all", "", [run["steady_share"]]),
        figure("records lost, users refused", "", [run["lost"] + run["refused"]], "<= 0"),
    ]
    finish("agents", here, figures, notes, {"controller": run})


def _driven(agents: int, users: int, seconds: float) -> dict[str, Any]:
    """Runs the controller in a fresh process."""
    words = [sys.executable, str(PROGRAM), str(agents), str(users), str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as controller:
        try:
            output, _ = controller.communicate()
        except KeyboardInterrupt:
            controller.terminate()  # it logs the users of all agents out
            controller.wait()
            raise
    if controller.returncode != 0:
        raise SystemExit(f"{' '.join(words)} ended with status {controller.returncode}; its messages are above")
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()

"""Makes two large runs to compare, the second on a machine a tenth faster: `large_pair.py FOLDER INTERACTIONS USERS`.

The machine has a bit of everything that is metered, and so much of it that its processors are 70 % busy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import loadgo

SIDES = (("a", 1, 1.0), ("b", 2, 1.1))
"""Folder, seed, and how fast."""
MACHINE = """\
title  = "A large machine"
source = "assumed, all of it"

[processors]
count      = 8
speed      = {speed}
discipline = "round-robin"
quantum    = "50ms"
switch     = "100us"

[memory]
residence        = "paging"
frames           = {frames}
wired            = 16
replacement      = "lru"
headway_per_page = "0.5ms"
device           = "drum"

[multiprogramming]
limit = {users}

[storage.drum]
kind       = "drum"
revolution = "0.1ms"
sectors    = 8

[storage.disk]
kind    = "server"
service = "exponential(0.1ms)"

[supervisor]
page_fault       = "1ms"
segment_fault    = "2ms"
device_interrupt = "0.3ms"
getwork          = "0.2ms"
line_in          = "1ms"
line_out         = "0.5ms"

[commands.compile]
cpu            = "exponential(1.5s)"
pages          = 40
segment_faults = 4
lines_out      = 2
requests       = {{ disk = 3 }}

[commands."*"]
cpu            = "exponential(0.2s)"
pages          = 20
segment_faults = 1
lines_out      = 5
"""
SCRIPT = """\
name  = "large"
login = "sh"
think = "exponential(3s)"
lines = ["edit prime.c", { type = "cc prime.c", as = "compile" }, "ls"]
"""


def main() -> None:
    """Writes the machine, the script, and the two runs."""
    folder, (interactions, users) = Path(sys.argv[1]), map(int, sys.argv[2:4])
    script, machine = folder / "large.toml", folder / "machine.toml"
    script.write_text(SCRIPT)
    for name, seed, faster in SIDES:
        machine.write_text(MACHINE.format(users=users, frames=64 * users, speed=0.04 * users * faster))
        passes = -(-interactions // (3 * users))
        loadgo.run(script, on=str(machine), users=users, passes=passes, seed=seed, out=folder / name)


if __name__ == "__main__":
    main()

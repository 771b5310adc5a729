"""A small machine that has a bit of everything, and a script for it: for the tests of runs on simulated machines."""

from pathlib import Path

MACHINE = """\
title  = "A small machine"
source = "assumed, all of it"

[processors]
count      = 2
discipline = "round-robin"
quantum    = "50ms"
switch     = "100us"

[memory]
residence        = "paging"
frames           = 64
wired            = 16
replacement      = "lru"
headway_per_page = "0.5ms"
dirty            = 0.3
device           = "drum"

[multiprogramming]
limit = 2

[storage.drum]
kind       = "drum"
revolution = "16ms"
sectors    = 8

[storage.disk]
kind    = "server"
service = "exponential(30ms)"

[supervisor]
page_fault       = "1ms"
segment_fault    = "2ms"
bound_fault      = "1ms"
device_interrupt = "0.3ms"
getwork          = "0.2ms"
wall_crossing    = "0.1ms"
line_in          = "1ms"
line_out         = "0.5ms"
process_creation = "50ms"

[tariff]
shifts = { 1 = 400.0, 2 = 100.0 }

[commands.compile]
cpu            = "exponential(1.5s)"
pages          = 40
segment_faults = 4
bound_faults   = 1
wall_crossings = 20
lines_out      = 2
line_bytes     = 30
requests       = { disk = 3 }

[commands."*"]
cpu            = "exponential(0.2s)"
pages          = 20
segment_faults = 1
lines_out      = 5
line_bytes     = 40
"""

SCRIPT = """\
name   = "small"
login  = "sh"
passes = 3
think  = "exponential(3s)"
needs  = ["a-program-that-no-host-has"]
lines  = ["edit prime.c", { type = "cc prime.c", as = "compile" }, "ls"]
"""


def laid(folder: Path) -> tuple[Path, Path]:
    """The script and the machine as files in `folder`."""
    script, machine = folder / "small.toml", folder / "small-machine.toml"
    script.write_text(SCRIPT)
    machine.write_text(MACHINE)
    return script, machine

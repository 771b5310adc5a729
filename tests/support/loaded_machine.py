"""A known machine whose commands take another processor time under load, and a script of its three commands."""

THREE_COMMANDS = """\
name  = "three commands"
login = "sh"
think = "exponential(1s)"
lines = ["edit x", { type = "cc x.c", as = "compile" }, "ls"]
"""


def machine_under_load(factor: float) -> str:
    """The machine's file. `factor` is the processor time when all processors are busy, over that when all are idle."""
    return f"""\
title  = "a machine whose commands change under load"
source = "made up"
[processors]
count         = 2
discipline    = "linux"
cpu_when_busy = {factor}
[commands.edit]
cpu = "lognormal(30ms, 8ms)"
[commands.compile]
cpu = "lognormal(90ms, 15ms)"
[commands.ls]
cpu = "10ms"
"""

"""A small fitted machine, whose parameters and their uncertainty are known: for the tests of predictions."""

import math
from pathlib import Path

DOUBT = {"edit": 0.05, "compile": 0.15}
"""The standard deviation of the logarithm of each command's processor time; those of the spread are 0.1."""
CORRELATION = 0.5
"""Correlation of the logarithms of both means."""

SCRIPT = """\
name   = "two commands"
login  = "sh"
passes = 10
think  = "exponential(2s)"
lines  = ["edit prime.c", "edit prime.c", { type = "cc prime.c", as = "compile" }]
"""


def machine(edit_ms: float = 50.0, compile_ms: float = 300.0, spread: float = 0.8, *, fit: bool = True) -> str:
    """The machine's file with these mean processor times, the spread of compiling, and with `fit` their uncertainty."""
    text = f"""\
title  = "a machine that was fitted"
source = "made up for tests"
[processors]
count      = 2
discipline = "linux"
[storage.disk]
kind    = "server"
service = "exponential(5ms)"
[commands.edit]
cpu = "lognormal({edit_ms}ms, {edit_ms / 2}ms)"
requests = {{ disk = 2 }}
[commands.compile]
cpu = "lognormal({compile_ms}ms, {compile_ms * spread}ms)"
"""
    covariance = CORRELATION * DOUBT["edit"] * DOUBT["compile"]
    rows = [[DOUBT["edit"] ** 2, covariance, 0.0], [covariance, DOUBT["compile"] ** 2, 0.0], [0.0, 0.0, 0.01]]
    fitted = f"""
[fit]
script = "two commands"
runs = ["a-run"]
users = [5]
interactions = 600
parameters = [
    {{ key = "commands.edit.cpu", of = "mean", value = "{edit_ms}ms", source = "metered" }},
    {{ key = "commands.compile.cpu", of = "mean", value = "{compile_ms}ms", source = "metered" }},
    {{ key = "commands.compile.cpu", of = "spread", value = "{spread}", source = "metered" }},
]
covariance = {rows}
"""
    return text + (fitted if fit else "")


def truth(z: tuple[float, float, float]) -> str:
    """A machine drawn from the fit's uncertainty, from three standard normal numbers."""
    edit = DOUBT["edit"] * z[0]
    compiled = DOUBT["compile"] * (CORRELATION * z[0] + math.sqrt(1 - CORRELATION**2) * z[1])
    return machine(50.0 * math.exp(edit), 300.0 * math.exp(compiled), 0.8 * math.exp(0.1 * z[2]), fit=False)


def laid(folder: Path) -> tuple[Path, Path]:
    """The script and the machine as files in `folder`."""
    script, file = folder / "two-commands.toml", folder / "fitted.toml"
    script.write_text(SCRIPT)
    file.write_text(machine())
    return script, file

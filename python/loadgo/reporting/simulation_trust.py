"""Whether to believe a simulation: its precision, its check by Little's law, and that it is a model."""

from __future__ import annotations

from loadgo.measures.trust import A_MODEL, WIDE_SHARE, Evidence, trust_in_words
from loadgo.notation.figures import digits
from loadgo.running.simulation import Simulation


def simulation_trust(simulation: Simulation, *, is_warned: bool) -> str:
    """The line on whether to believe the figures. `is_warned`: a warning stands over them."""
    mean, audit = simulation.all.mean_s, simulation.little
    against, grounds = [], []
    if simulation.end == "stopped":
        against.append("it was stopped before its end")
    if not mean.relative:
        against.append("the run is too short for intervals")
    elif mean.relative > WIDE_SHARE:
        against.append(f"the mean response is known only within ±{digits(100 * mean.relative)} %")
    else:
        grounds.append(f"the mean response is known within ±{digits(100 * mean.relative)} %")
    if simulation.end == "precision":
        grounds.append("the precision asked for is reached")
    if audit is None or audit.verdict == "too short to tell":
        against.append("the run is too short to be checked by Little's law")
    elif audit.verdict == "holds":
        grounds.append("Little's law holds")
    untold = "" if mean.relative else "what users would get"
    evidence = Evidence(tuple(against), tuple(grounds), A_MODEL)
    return trust_in_words(evidence, is_warned=is_warned, is_low=not mean.relative, untold=untold)

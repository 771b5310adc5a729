"""Our figures for "Multics Performance, 3/3/69" (`multics-1969`), from runs of the bundled machines."""

from __future__ import annotations

from loadgo.reproduce_lab import Lab
from loadgo.reproduce_value import Plot, Values


def provide(lab: Lab) -> Values:
    """Our figures by the ids of the printed ones; those that need no run are in `reproduce_arithmetic`."""
    return {}


def plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts that the document has only as axes."""
    return ()

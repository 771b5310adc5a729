"""Reports of the recorded runs that have every kind of figure, which several tests of notation and words read."""

from __future__ import annotations

from functools import cache
from typing import Any

import loadgo

from support.places import TESTS

REPORTED = TESTS / "runs" / "reported"
RUNS = sorted(path.parent.name for path in REPORTED.glob("*/run.toml"))


@cache
def reported_page(run: str, format: str, **view: Any) -> str:
    """The report of a run as text, on a page of 160 characters; it is made once."""
    return str(loadgo.report(REPORTED / run, format=format, width=160, **view))

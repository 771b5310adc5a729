"""A capacity that is made up, and its tables by name, for tests of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loadgo.documents.table import Table
from loadgo.sizing.curve import LoadPoint, MixClass, Target
from loadgo.sizing.models.models import models_of
from loadgo.sizing.report.tables import capacity_tables
from loadgo.sizing.search.results import Capacity, Saturation, SearchLimits

from support.known_capacity import P90, SERVERS


def capacity_of(
    points: Sequence[LoadPoint], targets: tuple[Target, ...] = (P90,), classes: tuple[MixClass, ...] = ()
) -> Capacity:
    """A capacity of 34 users, 33 to 35, with these points and the models of them."""
    shown = tuple(replace(p, verdicts=tuple(v for t in targets for v in p.verdicts if v.target == t)) for p in points)
    return Capacity(
        script="typical-user",
        on="central-server.toml",
        targets=targets,
        end="found",
        answer=34,
        interval=(33, 35),
        confidence=0.95,
        in_words="central-server.toml holds 34 users (33 to 35): p90 < 5s decides.",
        binding=targets[0],
        saturates_first=Saturation("processors", 37.3),
        points=shown,
        interactions_spent=34_567,
        trials=12,
        seconds=9876.0,
        classes=classes,
        limits=SearchLimits(200, False, 600.0, 30),
        servers=SERVERS,
        currency="$",
        models=models_of(shown, SERVERS, classes),
        notes=("The disk's queue was not metered.",),
    )


def table_titled(capacity: Capacity, title: str) -> Table:
    """The table whose title begins with `title`."""
    return next(table for table in capacity_tables(capacity) if table.title.startswith(title))


def rows_by_name(table: Table) -> dict[str, tuple[str, ...]]:
    """A table's rows by their names."""
    return {row[0]: row[1:] for row in table.rows()}

"""What runs cost as one JSON object in full precision: money in the tariff's currency; null is not known."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from loadgo.costs.curve import Curve, curves
from loadgo.documents.as_json import finite

if TYPE_CHECKING:
    from loadgo.costs.cost import Costs, Point
    from loadgo.costs.priced import Priced


def costs_json(made: Costs) -> str:
    """The object; times in nanoseconds, memory in byte nanoseconds."""
    told = {
        "format": 1,
        "title": made.title,
        "by": made.by,
        "curves": [_curve(curve) for curve in curves(made.points)] if len(made.points) > 1 else [],
        "points": [_point(point) for point in made.points],
        "differing": list(made.differing),
        "notes": list(made.notes),
    }
    return json.dumps(finite(told), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _point(point: Point) -> dict[str, Any]:
    use = point.use
    return {
        "users": point.users,
        "runs": list(point.runs),
        "interactions": use.interactions,
        "held": dataclasses.asdict(use.held),
        "machine": None if use.machine is None else dataclasses.asdict(use.machine),
        "stretch": use.stretches[0].name,
        "tariffs": [_priced(one) for one in point.priced],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {"tariff": curve.tariff.label, "loads": [dataclasses.asdict(load) for load in curve.loads]}


def _priced(told: Priced) -> dict[str, Any]:
    return {
        "tariff": dataclasses.asdict(told.tariff),
        "interaction": dataclasses.asdict(told.interaction),
        "user_hour": dataclasses.asdict(told.user_hour),
        "megabit_out": dataclasses.asdict(told.megabit),
        "uncharged": told.uncharged,
        "items": [dataclasses.asdict(item) for item in told.items],
        "rows": [dataclasses.asdict(row) for row in (*told.rows, told.everything)],
    }

"""Costs of runs as one JSON object in full precision. Money is in the tariff's currency; null means not known."""

from __future__ import annotations

from loadgo.costs.cost import Costs, Point
from loadgo.costs.curve import Load, curves
from loadgo.costs.priced import Figure, Item, Priced, Row
from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.measures.charged_use import MachineTime
from loadgo.measures.charges import SharedHoldings
from loadgo.measures.json_keys import JSON_KEYS as SUMMARY_KEYS

JSON_KEYS: Keys = {
    **SUMMARY_KEYS,
    SharedHoldings: "elapsed_ns logged_in_ns present_ns memory_byte_ns rented_ns",
    MachineTime: "busy_ns laboratory_ns total_ns",
    Load: "users throughput busy response_ns answered_share interaction user_hour whole",
    Priced: "tariff interaction user_hour megabit_out=megabit uncharged items",
    Figure: "value interval",
    Item: "name quantity amount",
    Row: "name interactions measured each parts total user_hour megabit",
}


def costs_json(costs: Costs) -> str:
    """The JSON object. Times are in nanoseconds, memory in byte nanoseconds."""
    tariff_curves = curves(costs.points) if len(costs.points) > 1 else ()
    members = {
        "title": costs.title,
        "by": costs.by,
        "curves": [{"tariff": curve.tariff.label, "loads": curve.loads} for curve in tariff_curves],
        "points": [_point(point) for point in costs.points],
        "differing": costs.differing,
        "notes": costs.notes,
        "warnings": costs.warnings,
    }
    return json_document(members, JSON_KEYS)


def _point(point: Point) -> dict[str, object]:
    use = point.use
    return {
        "users": point.users,
        "runs": point.runs,
        "interactions": use.interactions,
        "held": use.held,
        "machine": use.machine,
        "stretch": use.stretches[0].name,
        "tariffs": [
            members_of(priced, JSON_KEYS) | {"rows": (*priced.rows, priced.everything)} for priced in point.priced
        ],
    }

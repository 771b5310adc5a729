"""Costs, and the fairness of a price, in every format: documents with JSON and charts, and frames."""

from __future__ import annotations

from loadgo.costs.as_json import costs_json
from loadgo.costs.cost import Costs
from loadgo.costs.curve import curves
from loadgo.costs.document import costs_document
from loadgo.costs.fairness import Fairness
from loadgo.costs.fairness_document import fairness_document, fairness_json
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation

_ROW_COLUMNS = (
    "users=point.users tariff=priced.tariff.label currency=priced.tariff.currency name=row.name "
    "interactions=row.interactions interaction=row.each.value interaction_low=row.each.interval.low "
    "interaction_high=row.each.interval.high total=row.total user_hour=row.user_hour megabit=row.megabit"
)
_LOAD_COLUMNS = (
    "users=load.users tariff=curve.tariff.label currency=curve.tariff.currency throughput=load.throughput "
    "busy=load.busy response_ns=load.response_ns interaction=load.interaction.value "
    "interaction_low=load.interaction.interval.low interaction_high=load.interaction.interval.high "
    "user_hour=load.user_hour.value whole=load.whole"
)
_LEVEL_COLUMNS = (
    "shift=price.shift charges_b_over_a=price.charges.b_over_a "
    "charges_b_over_a_low=price.charges.b_over_a_interval.low "
    "charges_b_over_a_high=price.charges.b_over_a_interval.high charges=price.charges.value "
    "measure times=level.value low=level.interval.low high=level.interval.high verdict"
)


def presentation(costs: Costs) -> Presentation:
    """The parts of costs. Money is in each row's currency; the last row of each load and tariff is the sum."""
    rows = [
        {"point": point, "priced": priced, "row": row}
        for point in costs.points
        for priced in point.priced
        for row in (*priced.rows, priced.everything)
    ]
    return Presentation(
        lambda: costs_document(costs),
        lambda: costs_json(costs),
        {
            "rows": lambda: frame_of(rows, _ROW_COLUMNS),
            "loads": lambda: frame_of(
                ({"curve": curve, "load": load} for curve in curves(costs.points) for load in curve.loads),
                _LOAD_COLUMNS,
            ),
        },
    )


def fairness_presentation(fairness: Fairness) -> Presentation:
    """The parts of a judgement of a price. `charges` and `ratio` are A over B, `b_over_a` is B over A."""
    levels = [
        {"price": price, "measure": name, "level": level, "verdict": price.verdict(name)}
        for price in fairness.prices
        for name, level in price.levels.items()
    ]
    return Presentation(
        lambda: fairness_document(fairness),
        lambda: fairness_json(fairness),
        {
            "prices": lambda: frame_of(levels, _LEVEL_COLUMNS),
            "performance": lambda: frame_of(
                ({"measure": name, "ratio": ratio} for name, ratio in fairness.performance.items()),
                "measure a=ratio.before b=ratio.after b_over_a=ratio.b_over_a b_over_a_low=ratio.b_over_a_interval.low "
                "b_over_a_high=ratio.b_over_a_interval.high ratio=ratio.value low=ratio.interval.low "
                "high=ratio.interval.high",
            ),
        },
    )

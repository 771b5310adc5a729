"""Whether to believe what runs cost, and whether a price is fair: the reasons against it, and what speaks for it."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.costs.cost import Costs
from loadgo.costs.curve import Curve
from loadgo.costs.fairness import Fairness
from loadgo.measures.run_evidence import evidence_of, is_simulated
from loadgo.measures.run_warnings import RunFacts
from loadgo.measures.tariff import Tariff
from loadgo.measures.trust import NO_EVIDENCE, trust_in_words
from loadgo.notation.figures import in_words

_NO_INTERVALS = "the costs have no intervals, so chance may explain any of the changes"
_SOME_INTERVALS = "not all of the costs have an interval, so chance may explain the difference"
_BETWEEN_RUNS = "the intervals are those within the runs: how much runs of one host differ by themselves is not in them"
_ONE_TARIFF = "one tariff prices both sides, so whether B's price is fair cannot be told"


def costs_trust(costs: Costs) -> str:
    """The line on the costs of one load. Empty where no cost is known."""
    if not costs.known:
        return ""
    priced = next(priced for point in costs.points for priced in point.priced if priced.known)
    against = [_assumed(priced.tariff)] if priced.tariff.assumption else []
    against += [] if priced.interaction.interval else ["the run is too short for an interval"]
    evidence = evidence_of(costs.facts).and_also(against, _resampled(bool(priced.interaction.interval)))
    is_low = priced.interaction.interval is None
    return trust_in_words(evidence, is_warned=bool(costs.warnings), is_low=is_low)


def _assumed(tariff: Tariff) -> str:
    """The reason that nobody has printed or paid the tariff's prices."""
    if tariff.name == "default":
        return "the price is an assumption (`--tariff` names yours)"
    return f"the price of the tariff {tariff.name} is an assumption (`--tariff FILE.toml` names yours)"


def curve_trust(costs: Costs, tariff_curves: Sequence[Curve]) -> str:
    """The line on the costs of several loads. Empty where no cost is known."""
    curve = next((curve for curve in tariff_curves if curve.times is not None), None)
    if curve is None:
        return ""
    has_intervals = curve.told_apart is not None
    doubt = _doubt(costs.facts, has_intervals=has_intervals)
    if not has_intervals and any(load.interaction.interval for load in curve.loads):
        doubt = [_SOME_INTERVALS]
    evidence = evidence_of(costs.facts).and_also(doubt, _resampled(has_intervals))
    return trust_in_words(evidence, is_warned=bool(costs.warnings), is_low=not has_intervals)


def fairness_trust(fairness: Fairness, warnings: Sequence[str]) -> str:
    """The line on the fairness of a price."""
    sides = (fairness.a, fairness.b)
    facts = [run for side in sides for run in side.facts]
    has_intervals = any(price.levels[fairness.measure].interval for price in fairness.prices)
    printed = [side.name for side in sides if side.use is None]
    against = [f"the figures of {in_words(printed)} are printed, and no records can check them"] if printed else []
    against += [_ONE_TARIFF] if all(price.verdict(fairness.measure) == "one price" for price in fairness.prices) else []
    against += _doubt(facts, has_intervals=has_intervals)
    evidence = (evidence_of(facts) if facts else NO_EVIDENCE).and_also(against, _resampled(has_intervals))
    return trust_in_words(evidence, is_warned=bool(warnings), is_low=not has_intervals)


def _doubt(facts: Sequence[RunFacts], *, has_intervals: bool) -> list[str]:
    """The reason that the intervals of a change give: that there are none, or that they leave out other runs."""
    if not has_intervals:
        return [_NO_INTERVALS]
    return [] if all(map(is_simulated, facts)) else [_BETWEEN_RUNS]


def _resampled(has_intervals: bool) -> list[str]:
    return ["the 95 % intervals are from resampled users"] if has_intervals else []

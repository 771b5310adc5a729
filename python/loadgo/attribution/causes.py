"""Attributes a speed-up to several changes, from the measurements of every combination of them, in two ways.

*Causes* are log-Shapley factors over the 2^k machines. Each change also has its factors when it is made first and when
it is made last. The pair of changes that interacts most is named.

The *decomposition by meters* compares the machine without changes to that with all of them, as chains of factors that
multiply exactly. The two answer different questions and are never mixed. All runs are resampled with the same seeds on
every machine, so the factors multiply to the ratio in every resample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from loadgo.attribution.results import NO_CHANGES, Cause, Caused, Change, Pair, Speedup
from loadgo.decomposition.chains import chains
from loadgo.decomposition.parts import per_interaction
from loadgo.decomposition.roads import Road, roads_of
from loadgo.errors import BadArgument
from loadgo.measures.account import RunAccount
from loadgo.measures.trust import Evidence, unanswered_in_words
from loadgo.stats.factors import exponential, exponential_interval
from loadgo.stats.resample import Floats, drawn, interval_of
from loadgo.stats.shapley import MOST_CHANGES, effects, strongest_interaction


def taken_apart(
    title: str,
    changes: tuple[Change, ...],
    accounts: Sequence[Sequence[RunAccount]],
    seeds: tuple[int, ...],
    further_roads: tuple[Road, ...],
) -> Speedup:
    """Computes the speed-up from the accounts of every combination of the changes, with `further_roads` to check it.

    `accounts` has 2^k entries with one account for each seed; bit i of an entry's index says whether change i is made.
    Raises `ValueError` when the processors' time is missing in a run.
    """
    runs = len(seeds)
    if any(len(machine_accounts) != runs for machine_accounts in accounts):
        raise BadArgument("the processors' time was not measured in every run: there is nothing to take apart")
    weights = drawn(runs)
    causes = []
    for measure, unit, figure in _figures(accounts):
        values = np.array([per_interaction(machine_accounts, figure, weights) for machine_accounts in accounts])
        if (values > 0).all():
            causes.append(_caused(measure, unit, values, changes, runs))
    meter_chains, missing_notes = chains(accounts[NO_CHANGES], accounts[-1], paired=True)
    return Speedup(
        title=title,
        changes=changes,
        runs=runs,
        seeds=seeds,
        causes=tuple(causes),
        bookkeeping=meter_chains,
        roads=(*roads_of(accounts[NO_CHANGES], accounts[-1], paired=True), *further_roads),
        notes=missing_notes,
        evidence=Evidence(_unanswered([account for machine_accounts in accounts for account in machine_accounts])),
    )


def _unanswered(accounts: Sequence[RunAccount]) -> tuple[str, ...]:
    """The reason for doubt that lines had no answer, if any had none."""
    count = sum(account.unanswered for account in accounts)
    return (unanswered_in_words(count, round(sum(account.interactions for account in accounts))),) if count else ()


def check_changes(changes: tuple[Change, ...], runs: int) -> None:
    """Raises `ValueError` for too many changes, two changes of the same name, or no runs."""
    if not 1 <= len(changes) <= MOST_CHANGES:
        raise BadArgument(f"{len(changes)} changes: there must be 1 to {MOST_CHANGES}; join some into one change")
    if len({change.name for change in changes}) < len(changes):
        raise BadArgument("two changes have the same name")
    if runs < 1:
        raise BadArgument(f"{runs} runs are too few: at least 1, and 5 for intervals")


def _figures(accounts: Sequence[Sequence[RunAccount]]) -> list[tuple[str, str, Callable[[RunAccount], float]]]:
    """The figures that are attributed, each with its name, its unit and a function that computes it."""
    figures: list[tuple[str, str, Callable[[RunAccount], float]]] = [
        ("elapsed", "ns", lambda account: account.elapsed_ns or 0.0),
        ("CPU", "ns", lambda account: account.used.get("cpu", 0.0)),
        ("response", "ns", lambda account: account.used.get("response", 0.0)),
    ]
    all_accounts = [account for machine_accounts in accounts for account in machine_accounts]
    currency = all_accounts[0].currency
    for tariff in dict.fromkeys(name for account in all_accounts for name in account.charges):
        figures.append((f"cost, {tariff}", currency, lambda account, key=tariff: account.charges.get(key, 0.0)))  # type: ignore[misc]
    return figures


def _caused(measure: str, unit: str, values: Floats, changes: tuple[Change, ...], runs: int) -> Caused:
    logs = np.log(values)
    ratio = logs[NO_CHANGES] - logs[-1]
    change_effects = effects(logs)
    error = np.abs(sum(effect.log for effect in change_effects) - ratio)
    assert (error < 1e-12 * (1 + np.abs(ratio))).all(), f"the causes of {measure} do not multiply to it"
    difference = float(values[NO_CHANGES][0] - values[-1][0])
    total_log = float(ratio[0])
    causes = tuple(
        Cause(
            name=changes[effect.change].name,
            factor=exponential(effect.log[0]),
            interval=exponential_interval(interval_of(effect.log, runs)),
            first=exponential(effect.first[0]),
            last=exponential(effect.last[0]),
            saved=difference * float(effect.log[0]) / total_log if total_log else 0.0,
            apart=exponential_interval(interval_of(effect.first - effect.last, runs)),
        )
        for effect in change_effects
    )
    strongest = strongest_interaction(logs)
    pair = None
    if strongest is not None:
        i, j = strongest.pair
        names = (changes[i].name, changes[j].name)
        pair = Pair(names, exponential(-strongest.log[0]), exponential_interval(interval_of(-strongest.log, runs)))
    before, after = float(values[NO_CHANGES][0]), float(values[-1][0])
    return Caused(
        measure, unit, before, after, before / after, exponential_interval(interval_of(ratio, runs)), causes, pair
    )

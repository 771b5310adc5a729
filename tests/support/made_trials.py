"""Trials of a capacity search that are made of chance alone, and searches through them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from loadgo.sizing.resources import ProcessorShares
from loadgo.sizing.search.trials import BatchSums, CapacityTrial
from loadgo.sizing.search.validity import Invalidity

BATCHES = 12


def made_trial(
    users: int,
    count: int,
    slow: float,
    seed: int,
    *,
    drift: float = 0.0,
    limit_s: float = 1.0,
    others: float | None = None,
    why: str = "",
) -> CapacityTrial:
    """A trial of independent interactions, of which a share `slow` takes longer.

    With `why` it is not valid, since the driver was late.
    """
    random = np.random.default_rng([seed, users, count])
    batch = np.sort(random.integers(0, BATCHES, count))
    slower = random.random(count) < slow
    responses = np.where(slower, 2.0, 0.5) * limit_s * (1 + drift * batch / BATCHES) * random.uniform(0.9, 1.1, count)
    counts = np.bincount(batch, minlength=BATCHES).astype(float)
    tally = BatchSums(np.bincount(batch, weights=slower.astype(float), minlength=BATCHES), counts)
    return CapacityTrial(
        users=users,
        name=f"seed {seed}",
        seconds=count / users * 10,
        elapsed_s=count / users * 10,
        spent=count,
        tallies=(tally,),
        batch=batch,
        responses_s=responses,
        batches=BATCHES,
        think_s=9.5,
        utilisation={"processors": min(users / 50, 1.0)},
        cost_user_hour=None,
        faults_a_command=None,
        lost=0,
        refused=0,
        invalidity=Invalidity(why, of_driver=True) if why else None,
        processors=None if others is None else ProcessorShares(0.25, others, 0.25),
    )


def slow_share(users: int, capacity: int, effect: float = 0.0) -> float:
    """The share of slow interactions of a host with this capacity; `effect` is the effect of one trial."""
    return 1 / (1 + math.exp(math.log(9) - 0.35 * (users - capacity - 0.4) - effect))


def mean_trial(users: int, count: int, mean_s: float, seed: int, *, dispersion: float = 8.0) -> CapacityTrial:
    """A trial for a target on the mean, from batches of responses whose variance is `dispersion` times their square."""
    random = np.random.default_rng([seed, users, count])
    batches = BATCHES if count < 2000 else 30
    each = max(count // batches, 1)
    sums = each * mean_s * random.gamma(each / dispersion, dispersion / each, batches)
    return replace(
        made_trial(users, 60, 0.0, seed),
        tallies=(BatchSums(sums, np.full(batches, float(each))),),
        batches=batches,
        batch=np.sort(random.integers(0, batches, count)),
        responses_s=np.full(count, mean_s),
        spent=count,
        seconds=count * (10.0 + mean_s) / users,
    )

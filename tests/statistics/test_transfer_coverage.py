"""Whether the intervals of a transfer's parts hold as often as they say, over tables whose parts are known."""

import numpy as np
import pytest
from loadgo.transfers.csv_table import Observed
from loadgo.transfers.parts import parts_of

TRUE = {"transfer": 300e-6, "message": 1.5e-6, "byte": 0.25e-9, "fault": 0.4e-6}
SEEDS = 100
LEAST = 88
"""Least number of 100 intervals that hold. True 95 % intervals fall below it once in a thousand tests."""


def grid(seed: int, noise: float, *, faults: bool) -> list[Observed]:
    """A grid like `loadgo transfer --grid 3`: sizes of 4 KiB to 16 MiB, messages of 64 bytes to 64 KiB, three times."""
    random = np.random.default_rng(seed)
    rows = []
    for size in (4096, 32768, 262144, 2097152, 16777216):
        for message in (64, 512, 4096, 65536):
            for _ in range(3):
                messages = -(-size // message)
                happened = int(random.poisson(20 + size / 65536)) if faults else 0
                parts = {"transfer": 1, "message": messages, "byte": size, "fault": happened}
                # Noise of mean 1, and skewed as times are.
                cpu_s = sum(TRUE[of] * count for of, count in parts.items())
                cpu_s *= np.exp(noise * random.standard_normal() - noise**2 / 2)
                rows.append(
                    Observed("", "s", "blocks", size, float(cpu_s), messages=messages, faults=happened, message=message)
                )
    return rows


@pytest.mark.parametrize(("noise", "faults"), [(0.05, False), (0.2, False), (0.05, True)])
def test_intervals_hold_the_true_parts_as_often_as_they_say(noise: float, faults: bool) -> None:
    held = dict.fromkeys(TRUE, 0)
    for seed in range(SEEDS):
        (kind,) = parts_of(grid(seed, noise, faults=faults))
        for part in kind.parts:
            assert part.interval is not None
            held[part.of] += part.interval.holds(TRUE[part.of])
    asked = [of for of in TRUE if faults or of != "fault"]
    assert all(held[of] >= LEAST for of in asked), held


def test_intervals_are_no_wider_than_they_must_be() -> None:
    """A part that makes up much of the transfers is known to a few percent, at five percent of noise."""
    (kind,) = parts_of(grid(1, 0.05, faults=False))
    each = {part.of: part for part in kind.parts}
    for of in ("transfer", "message"):
        interval = each[of].interval
        assert interval is not None
        assert interval.high - interval.low < 0.1 * TRUE[of]

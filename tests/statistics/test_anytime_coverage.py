"""Anytime intervals over many experiments that look after each observation: 5 of 100 ever miss the mean, at most."""

import math
import random

from loadgo.stats.anytime import anytime_interval

EXPERIMENTS = 2000
MOST_OBSERVATIONS = 30
STUDENT_T = (
    *(3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101),
    *(2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045),
)
"""Two-sided 5 % points of Student's t for 4, 5, … 30 observations."""


def misses(values: list[float], *, student: bool) -> bool:
    """Whether any interval of an experiment, looked at after each observation from the fourth on, leaves out 0."""
    for count in range(4, len(values) + 1):
        seen = values[:count]
        if student:
            mean = sum(seen) / count
            error = math.sqrt(sum((value - mean) ** 2 for value in seen) / (count - 1) / count)
            missed = abs(mean) > STUDENT_T[count - 4] * error
        else:
            interval = anytime_interval(seen)
            missed = interval is not None and not interval.low <= 0 <= interval.high
        if missed:
            return True
    return False


def missed_share(*, student: bool) -> float:
    """The share of experiments that ever miss."""
    chance = random.Random(1973)
    drawn = ([chance.gauss(0.0, 1.0) for _ in range(MOST_OBSERVATIONS)] for _ in range(EXPERIMENTS))
    return sum(misses(values, student=student) for values in drawn) / EXPERIMENTS


def test_at_most_5_of_100_experiments_ever_miss_the_mean() -> None:
    assert missed_share(student=False) <= 0.05


def test_looking_after_each_observation_would_make_students_t_miss_often() -> None:
    assert missed_share(student=True) > 0.15

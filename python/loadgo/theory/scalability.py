"""The universal scalability law, fitted to measured throughputs by least squares, with intervals and its extrapolation.

X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1)): gamma is one user's throughput, alpha the contention (the share
of the work that is done one after another), beta the coherency (what each pair of users costs). With beta > 0 the
throughput has a peak at N = sqrt((1 - alpha) / beta) and falls beyond it; with alpha > 0 and beta = 0 it comes near to
gamma / alpha. N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6; with three parameters, N. J. Gunther
and others, Hadoop Superlinear Scalability, Communications of the ACM 58 (2015), page 46.

Neither alpha nor beta is below 0 here: where the best fit would be, it is held at 0, and has no interval. Intervals are
those of nonlinear regression (the covariance at the fit, Student's t with n - 3 degrees of freedom): they hold what
the points scatter about the curve, and no doubt that the curve is the right one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import BadArgument
from loadgo.stats.resample import CONFIDENCE, Interval

Floats = NDArray[np.float64]

FEWEST = 3
"""Different numbers of users; from one more on there are intervals."""
NAMES = ("alpha", "beta", "gamma")


@dataclass(frozen=True)
class Scalability:
    """The law with its three parameters."""

    alpha: float
    beta: float
    gamma: float
    """One user's throughput, in the unit of what was fitted."""

    def throughput(self, users: float) -> float:
        """X(N)."""
        return self.gamma * users / (1.0 + self.alpha * (users - 1.0) + self.beta * users * (users - 1.0))

    @property
    def peak_users(self) -> float:
        """Where the throughput is greatest: infinite when it never falls, 1 when it falls from the first user on."""
        if self.beta == 0.0:
            return math.inf if self.alpha < 1.0 else 1.0
        return max(1.0, math.sqrt(max(0.0, 1.0 - self.alpha) / self.beta))

    @property
    def peak(self) -> float:
        """The greatest throughput, or what it comes near to; infinite when it grows without end."""
        if math.isfinite(self.peak_users):
            return self.throughput(self.peak_users)
        return self.gamma / self.alpha if self.alpha else math.inf


@dataclass(frozen=True)
class FittedLaw:
    """The law that fits best, and how well."""

    law: Scalability
    intervals: dict[str, Interval | None]
    """95 %, by the name of the parameter; None for one at its bound, and with as many points as parameters."""
    covariance: tuple[tuple[float, ...], ...]
    """Of alpha, beta, gamma; zero for one at its bound."""
    at_bound: tuple[str, ...]
    """Which of alpha and beta are held at 0, since less would fit better."""
    error: float
    """The residual standard error, in the unit of throughput."""
    freedom: int
    """Points less free parameters."""
    least_users: float
    most_users: float
    """Between these it was fitted; beyond them it extrapolates."""

    def between(self, users: float) -> Interval | None:
        """Where a measurement at so many users is to be expected, 95 %; None without degrees of freedom."""
        if self.freedom < 1:
            return None
        slope = _slopes(np.array([users]), np.array([self.law.alpha, self.law.beta, self.law.gamma]))[0]
        spread = math.sqrt(max(0.0, float(slope @ np.array(self.covariance) @ slope)) + self.error**2)
        middle, half = self.law.throughput(users), _student(self.freedom) * spread
        return Interval(max(0.0, middle - half), middle + half)


def fitted_law(users: Sequence[float], throughput: Sequence[float]) -> FittedLaw:
    """The law that fits these throughputs with the least sum of squares.

    Raises `ValueError` for fewer than three different numbers of users, and for any that is no positive number.
    """
    n, x = np.array(users, dtype=np.float64), np.array(throughput, dtype=np.float64)
    if len(n) != len(x):
        raise BadArgument(f"{len(n)} numbers of users have {len(x)} throughputs")
    if not (np.isfinite(n).all() and np.isfinite(x).all() and (n > 0).all() and (x > 0).all()):
        raise BadArgument("the scalability law is fitted to numbers of users and throughputs above 0")
    if (there := len(np.unique(n))) < FEWEST:
        raise BadArgument(f"the scalability law needs {FEWEST} different numbers of users, and there are {there}")
    parameters, free = _best(n, x)
    return _judged(n, x, parameters, free)


def _judged(n: Floats, x: Floats, parameters: Floats, free: list[int]) -> FittedLaw:
    residuals = x - _curve(n, parameters)
    freedom = len(n) - len(free)
    error = math.sqrt(float(residuals @ residuals) / freedom) if freedom else 0.0
    covariance = np.zeros((3, 3))
    slopes = _slopes(n, parameters)[:, free]
    scale = np.linalg.norm(slopes, axis=0)
    inner = np.linalg.pinv((slopes / scale).T @ (slopes / scale)) / np.outer(scale, scale)
    covariance[np.ix_(free, free)] = error**2 * inner
    intervals: dict[str, Interval | None] = dict.fromkeys(NAMES)
    for place in free if freedom else []:
        half = _student(freedom) * math.sqrt(covariance[place, place])
        intervals[NAMES[place]] = Interval(float(parameters[place]) - half, float(parameters[place]) + half)
    return FittedLaw(
        law=Scalability(*map(float, parameters)),
        intervals=intervals,
        covariance=tuple(tuple(map(float, row)) for row in covariance),
        at_bound=tuple(NAMES[place] for place in range(3) if place not in free),
        error=error,
        freedom=freedom,
        least_users=float(n.min()),
        most_users=float(n.max()),
    )


def _best(n: Floats, x: Floats) -> tuple[Floats, list[int]]:
    """The parameters with the least sum of squares, and which of them are free.

    Where one comes out below 0, every choice of parameters to hold at 0 is tried.
    """
    found: list[tuple[float, int, Floats, list[int]]] = []
    for held in itertools.chain.from_iterable(itertools.combinations((0, 1), count) for count in range(3)):
        free = [place for place in range(3) if place not in held]
        parameters = _unbounded(n, x, free)
        if (parameters >= 0.0).all() and parameters[2] > 0.0:
            if not held:
                return parameters, free
            residuals = x - _curve(n, parameters)
            found.append((float(residuals @ residuals), len(held), parameters, free))
    _, _, parameters, free = min(found, key=lambda one: one[:2])
    return parameters, free


def _unbounded(n: Floats, x: Floats, free: list[int]) -> Floats:
    """The best parameters with only these free and the others 0, which may come out below 0."""
    from scipy.optimize import least_squares

    start = _started(n, x, free)
    scale = np.where(start[free] > 0.0, start[free], [(0.01, 0.0001, 1.0)[place] for place in free])

    def whole(scaled: Floats) -> Floats:
        parameters = np.zeros(3)
        parameters[free] = scaled * scale
        return parameters

    found = least_squares(
        lambda scaled: (_curve(n, whole(scaled)) - x) / x.max(),
        start[free] / scale,
        jac=lambda scaled: _slopes(n, whole(scaled))[:, free] * scale / x.max(),
        method="lm",
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    return whole(found.x)


def _started(n: Floats, x: Floats, free: list[int]) -> Floats:
    """Where to begin: N / X is linear in 1 / gamma, alpha / gamma and beta / gamma."""
    from scipy.optimize import nnls

    columns = np.stack([n - 1.0, n * (n - 1.0), np.ones_like(n)], axis=1)[:, free]
    weight = x / n
    coefficients, _ = nnls(columns * weight[:, None], np.ones_like(n))
    parameters = np.zeros(3)
    parameters[free] = coefficients
    base = parameters[2] or 1.0 / float((x / n).max())
    return np.array([parameters[0] / base, parameters[1] / base, 1.0 / base])


def _curve(n: Floats, parameters: Floats) -> Floats:
    alpha, beta, gamma = parameters
    curve: Floats = gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0))
    return curve


def _slopes(n: Floats, parameters: Floats) -> Floats:
    """What the curve changes by with each parameter: shape (points, 3)."""
    alpha, beta, gamma = parameters
    below = 1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0)
    each = gamma * n / below**2
    return np.stack([-each * (n - 1.0), -each * n * (n - 1.0), n / below], axis=1)


@cache
def _student(freedom: int) -> float:
    from scipy import stats

    return float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))

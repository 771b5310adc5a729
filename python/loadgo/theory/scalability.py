"""The universal scalability law, fitted to measured throughputs by least squares, with intervals and extrapolation.

X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1)), where gamma is one user's throughput. The contention alpha is
the share of the work that is done serially. The coherency beta is the cost of each pair of users. With beta > 0 the
throughput has a peak at N = sqrt((1 - alpha) / beta). With alpha > 0 and beta = 0 it approaches gamma / alpha.
Sources: N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6; with three parameters, N. J. Gunther and
others, Hadoop Superlinear Scalability, Communications of the ACM 58 (2015), page 46.

Neither alpha nor beta is negative here. A parameter whose best fit would be negative is set to 0, and has no interval.
Intervals come from nonlinear regression: the covariance at the fit, and Student's t with n - 3 degrees of freedom.
They contain the scatter of the points about the curve, but no uncertainty about the form of the curve.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import BadArgument
from loadgo.stats.resample import Interval
from loadgo.stats.student import student_reach

Floats = NDArray[np.float64]

FEWEST_LAW_LOADS = 3
"""Fewest different numbers of users for a fit. One more is needed for intervals."""
LAW_PARAMETERS = ("alpha", "beta", "gamma")


@dataclass(frozen=True)
class Scalability:
    """The law with values for its three parameters."""

    alpha: float
    beta: float
    gamma: float
    """Throughput of one user, in the unit of the fitted throughputs."""

    def throughput(self, users: float) -> float:
        """Throughput with a number of users, X(N)."""
        return self.gamma * users / (1.0 + self.alpha * (users - 1.0) + self.beta * users * (users - 1.0))

    @property
    def peak_users(self) -> float:
        """Number of users with the largest throughput. Infinite if it never falls, 1 if it falls from 1 user on."""
        if self.beta == 0.0:
            return math.inf if self.alpha < 1.0 else 1.0
        return max(1.0, math.sqrt(max(0.0, 1.0 - self.alpha) / self.beta))

    @property
    def peak(self) -> float:
        """The largest throughput, or the limit that it approaches. Infinite if it grows without end."""
        if math.isfinite(self.peak_users):
            return self.throughput(self.peak_users)
        return self.gamma / self.alpha if self.alpha else math.inf


@dataclass(frozen=True)
class FittedLaw:
    """The law that fits best, and the quality of the fit."""

    law: Scalability
    intervals: dict[str, Interval | None]
    """95 % intervals by parameter. None for a parameter at its bound, and for all without degrees of freedom."""
    covariance: tuple[tuple[float, ...], ...]
    """Covariance of alpha, beta and gamma. Zero for a parameter at its bound."""
    at_bound: tuple[str, ...]
    """The parameters of alpha and beta that were set to 0 because a negative value would fit better."""
    error: float
    """Residual standard error, in the unit of throughput."""
    freedom: int
    """Degrees of freedom: points less free parameters."""
    least_users: float
    most_users: float
    """The fitted numbers of users lie between these two. Beyond them the law extrapolates."""

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The parameters that the points do not determine.

        Gamma is undetermined if half the width of its interval is at least gamma. Alpha and beta are undetermined if a
        change by half the width of their interval changes the law's denominator, at `most_users`, by at least itself.
        """
        n, law = self.most_users, self.law
        denominator = 1.0 + law.alpha * (n - 1.0) + law.beta * n * (n - 1.0)
        effects = {"alpha": (n - 1.0) / denominator, "beta": n * (n - 1.0) / denominator, "gamma": 1.0 / law.gamma}
        halves = {name: (found.high - found.low) / 2 for name, found in self.intervals.items() if found is not None}
        return tuple(name for name in LAW_PARAMETERS if name in halves and halves[name] * effects[name] >= 1.0)

    def prediction_interval(self, users: float) -> Interval | None:
        """95 % interval in which a measurement with `users` is expected. None without degrees of freedom."""
        if self.freedom < 1:
            return None
        slope = _slopes(np.array([users]), np.array([self.law.alpha, self.law.beta, self.law.gamma]))[0]
        spread = math.sqrt(max(0.0, float(slope @ np.array(self.covariance) @ slope)) + self.error**2)
        middle, half = self.law.throughput(users), student_reach(self.freedom) * spread
        return Interval(max(0.0, middle - half), middle + half)


def fitted_law(users: Sequence[float], throughput: Sequence[float]) -> FittedLaw:
    """Fits the law to throughputs by least squares.

    Raises `ValueError` for fewer than three different numbers of users, and for a value that is not positive.
    """
    n, x = np.array(users, dtype=np.float64), np.array(throughput, dtype=np.float64)
    if len(n) != len(x):
        raise BadArgument(f"{len(n)} numbers of users have {len(x)} throughputs")
    if not (np.isfinite(n).all() and np.isfinite(x).all() and (n > 0).all() and (x > 0).all()):
        raise BadArgument("the scalability law is fitted to numbers of users and throughputs above 0")
    if (loads := len(np.unique(n))) < FEWEST_LAW_LOADS:
        raise BadArgument(
            f"the scalability law needs {FEWEST_LAW_LOADS} different numbers of users, and there are {loads}"
        )
    parameters, free = _best_fit(n, x)
    return _with_intervals(n, x, parameters, free)


def _with_intervals(n: Floats, x: Floats, parameters: Floats, free: list[int]) -> FittedLaw:
    residuals = x - _curve(n, parameters)
    freedom = len(n) - len(free)
    error = math.sqrt(float(residuals @ residuals) / freedom) if freedom else 0.0
    covariance = np.zeros((3, 3))
    slopes = _slopes(n, parameters)[:, free]
    scale = np.linalg.norm(slopes, axis=0)
    inner = np.linalg.pinv((slopes / scale).T @ (slopes / scale)) / np.outer(scale, scale)
    covariance[np.ix_(free, free)] = error**2 * inner
    intervals: dict[str, Interval | None] = dict.fromkeys(LAW_PARAMETERS)
    for index in free if freedom else []:
        half = student_reach(freedom) * math.sqrt(covariance[index, index])
        intervals[LAW_PARAMETERS[index]] = Interval(float(parameters[index]) - half, float(parameters[index]) + half)
    return FittedLaw(
        law=Scalability(*map(float, parameters)),
        intervals=intervals,
        covariance=tuple(tuple(map(float, row)) for row in covariance),
        at_bound=tuple(LAW_PARAMETERS[index] for index in range(3) if index not in free),
        error=error,
        freedom=freedom,
        least_users=float(n.min()),
        most_users=float(n.max()),
    )


def _best_fit(n: Floats, x: Floats) -> tuple[Floats, list[int]]:
    """The parameters with the least sum of squares, and the indices of those that are free.

    If the best fit has a negative alpha or beta, fits with either or both set to 0 are compared.
    """
    candidates: list[tuple[float, int, Floats, list[int]]] = []
    for fixed in itertools.chain.from_iterable(itertools.combinations((0, 1), count) for count in range(3)):
        free = [index for index in range(3) if index not in fixed]
        parameters = _unbounded_fit(n, x, free)
        if (parameters >= 0.0).all() and parameters[2] > 0.0:
            if not fixed:
                return parameters, free
            residuals = x - _curve(n, parameters)
            candidates.append((float(residuals @ residuals), len(fixed), parameters, free))
    _, _, parameters, free = min(candidates, key=lambda candidate: candidate[:2])
    return parameters, free


def _unbounded_fit(n: Floats, x: Floats, free: list[int]) -> Floats:
    """The best parameters with only `free` fitted and the others 0. They may be negative."""
    from scipy.optimize import least_squares

    start = _starting_point(n, x, free)
    scale = np.where(start[free] > 0.0, start[free], [(0.01, 0.0001, 1.0)[index] for index in free])

    def unscale(scaled: Floats) -> Floats:
        parameters = np.zeros(3)
        parameters[free] = scaled * scale
        return parameters

    solution = least_squares(
        lambda scaled: (_curve(n, unscale(scaled)) - x) / x.max(),
        start[free] / scale,
        jac=lambda scaled: _slopes(n, unscale(scaled))[:, free] * scale / x.max(),
        method="lm",
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    return unscale(solution.x)


def _starting_point(n: Floats, x: Floats, free: list[int]) -> Floats:
    """Starting parameters of the fit: N / X is linear in 1 / gamma, alpha / gamma and beta / gamma."""
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
    """Derivative of the curve by each parameter: shape (points, 3)."""
    alpha, beta, gamma = parameters
    denominator = 1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0)
    slope = gamma * n / denominator**2
    return np.stack([-slope * (n - 1.0), -slope * n * (n - 1.0), n / denominator], axis=1)

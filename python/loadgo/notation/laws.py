"""Laws of a machine file, such as `lognormal(80ms, 120ms)`: read, written, scaled, and given another spread.

Times are in nanoseconds. The mean and the spread of a law leave its bounds `min` and `max` out, as in a machine file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from loadgo import _loadgo
from loadgo.errors import BadArgument

# The positions of each law's arguments that are in the law's unit. Other arguments are plain numbers.
_AMOUNTS = {
    "fixed": (0,),
    "uniform": (0, 1),
    "exponential": (0,),
    "lognormal": (0, 1),
    "erlang": (1,),
    "hyperexponential": (0,),
    "pareto": (0,),
    "geometric": (0,),
}


@dataclass(frozen=True)
class Law:
    """A law with its arguments. The arguments of an empirical law are its values."""

    name: str
    values: tuple[float, ...]
    timed: bool
    """Whether the amounts are nanoseconds. Otherwise they are numbers."""
    least: float | None = None
    most: float | None = None
    """The bounds `min` and `max` of its values."""

    @property
    def mean(self) -> float:
        """The mean of the law without its bounds."""
        if self.name in ("uniform", "empirical"):
            return float(np.mean(self.values))
        return self.values[1] if self.name == "erlang" else self.values[0]

    @property
    def spread(self) -> float:
        """The standard deviation over the mean. 0 if the mean is 0, infinite if there is no standard deviation."""
        if not self.mean or self.name == "fixed":
            return 0.0
        if self.name == "empirical":
            return float(np.std(self.values)) / self.mean
        first, last = self.values[0], self.values[-1]
        ratios = {
            "uniform": (last - first) / 12**0.5 / self.mean,
            "exponential": 1.0,
            "lognormal": last / first,
            "erlang": first**-0.5,
            "hyperexponential": last**0.5,
            "pareto": (last * (last - 2)) ** -0.5 if last > 2 else float("inf"),
            "geometric": (1 - 1 / first) ** 0.5,
        }
        return float(ratios[self.name])


def read_law(value: str | float) -> Law:
    """Parses a law from a machine file; a number alone is a fixed law. Raises `ValueError` for any other text."""
    if not isinstance(value, str):
        return Law("fixed", (float(value),), timed=False)
    law = _loadgo.parse_law(value)
    if law["kind"] == "none":
        raise BadArgument(f"{value!r} is no law of a machine file: write one, such as exponential(8ms)")
    return Law(law["kind"], tuple(law["parameters"]), law["timed"], law["least"], law["most"])


def written(law: Law) -> str:
    """The law as in a machine file. A fixed law without bounds is written as its value alone."""
    if law.name == "fixed" and not law.timed and law.least is None and law.most is None:
        return number(law.values[0])
    amounts = range(len(law.values)) if law.name == "empirical" else _AMOUNTS[law.name]
    arguments = [amount(value, law.timed) if i in amounts else number(value) for i, value in enumerate(law.values)]
    inside = ", ".join(arguments)
    inside = f"[{inside}]" if law.name == "empirical" else inside
    inside += "".join(
        f", {word} {amount(bound, law.timed)}"
        for word, bound in (("min", law.least), ("max", law.most))
        if bound is not None
    )
    is_fixed = law.name == "fixed" and law.least is None and law.most is None
    return inside if is_fixed else f"{law.name}({inside})"


def amount(value: float, timed: bool) -> str:
    """A time with a unit, or a number, to seven digits."""
    if not timed:
        return number(value)
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if value >= size:
            return f"{number(value / size)}{unit}"
    return f"{number(value)}ns"


def number(value: float) -> str:
    """A number to seven digits without an exponent, which a machine file would not accept."""
    text = f"{value:.7g}"
    return text if "e" not in text else f"{value:.12f}".rstrip("0").rstrip(".")


def scaled(law: Law, factor: float) -> Law:
    """The law of values that are `factor` times those of `law`. Its bounds are scaled too."""
    amounts = range(len(law.values)) if law.name == "empirical" else _AMOUNTS[law.name]
    values = tuple(value * factor if i in amounts else value for i, value in enumerate(law.values))
    if law.name == "geometric":
        values = (max(values[0], 1.0),)
    least = None if law.least is None else law.least * factor
    most = None if law.most is None else law.most * factor
    return replace(law, values=values, least=least, most=most)


def spread_out(law: Law, factor: float) -> Law:
    """The law with the same mean and `factor` times the spread. A law without a free spread stays as it is."""
    if law.name == "lognormal":
        return replace(law, values=(law.values[0], law.values[1] * factor))
    if law.name == "hyperexponential":
        return replace(law, values=(law.values[0], max(law.values[1] * factor**2, 1.000001)))
    if law.name == "empirical" and law.mean > 0:
        powers = np.power(np.asarray(law.values) / law.mean, factor)
        return replace(law, values=tuple(map(float, law.mean * powers / powers.mean())))
    return law

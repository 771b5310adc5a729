"""What must hold, read from words: `p90 < 2s`, `mean(edit) <= 500ms`, `errors < 1%`, `throughput > 3/s`.

A response time, a share of errors and a busy resource have a ceiling; a throughput has a floor, or a ceiling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from loadgo.errors import BadArgument
from loadgo.notation.units import TIME_S
from loadgo.sizing.curve import Target
from loadgo.sizing.resources import PROCESSORS

MEASURES = ("mean", "p50", "p90", "p95", "p99", "errors", "busy", "throughput")
"""What can be asked for; any other quantile (`p75`, `p99.5`) too."""

_RATE = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
_SHARE = {"%": 0.01, "": 1.0}
_TARGET = re.compile(
    r"""(?P<measure>[A-Za-z][\w.]*)\s*
    (?:\(\s*(?P<of>"[^"]*"|'[^']*'|[^()]*?)\s*\))?\s*
    (?P<compare><=|>=|<|>|==|=|!=)\s*
    (?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>%|/?[A-Za-zµ]+|)""",
    re.VERBOSE,
)
_QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")


def targets_of(texts: str | Sequence[str]) -> tuple[Target, ...]:
    """The targets in `texts`, several of one text joined with `and` or commas.

    Raises `ValueError` for a text that is no target, with what would be right, and for targets that contradict.
    """
    each = [texts] if isinstance(texts, str) else list(texts)
    parts = [part for text in each for part in re.split(r"\s+and\s+|,", text)]
    targets = tuple(dict.fromkeys(target_of(part) for part in parts if part.strip()))
    if not targets:
        raise BadArgument("no target is given: say what must hold, such as `target='p90 < 2s'`").about("target")
    _check_agreement(targets)
    return targets


def target_of(text: str) -> Target:
    """One target; raises `ValueError`."""
    found = _TARGET.fullmatch(text.strip())
    if found is None:
        raise BadArgument(
            f"target {text.strip()!r}: write MEASURE < LIMIT, such as 'p90 < 2s', 'mean(edit) < 500ms', 'errors < 1%'"
        )
    measure, of = found["measure"], (found["of"] or "").strip("\"'") or None
    _check_measure(text, measure)
    if found["compare"] in ("=", "==", "!="):
        raise BadArgument(f"target {text.strip()!r}: a limit is needed, with < or >; {found['compare']} is none")
    floor = found["compare"].startswith(">")
    if floor and measure != "throughput":
        raise BadArgument(
            f"target {text.strip()!r}: {measure} has a ceiling, not a floor: write "
            f"'{measure} < {found['number']}{found['unit']}'"
        )
    if of is not None and measure == "throughput":
        raise BadArgument(f"target {text.strip()!r}: throughput is of all interactions: leave the brackets out")
    return Target(
        text=" ".join(text.split()),
        measure=measure,
        command=of or (PROCESSORS if measure == "busy" else None),
        sense="least" if floor else "most",
        limit=_limit(text, measure, float(found["number"]), found["unit"]),
        share=_slower(measure),
    )


def check_commands(targets: Iterable[Target], commands: Sequence[str]) -> None:
    """Raises `ValueError` when a target is of a command that the script does not have."""
    for target in targets:
        if target.measure != "busy" and target.command is not None and target.command not in commands:
            raise BadArgument(
                f"target {target.text!r}: the script has no command {target.command!r}; "
                f"it has {', '.join(dict.fromkeys(commands))}"
            )


def check_resources(targets: Iterable[Target], resources: Sequence[str]) -> None:
    """Raises `ValueError` when a target is of a resource that the system does not have, or that is never full."""
    for target in targets:
        if target.measure == "busy" and target.command not in resources:
            raise BadArgument(
                f"target {target.text!r}: there is no resource {target.command!r} that could be busy; "
                f"there are {', '.join(resources)}"
            )


def _check_measure(text: str, measure: str) -> None:
    quantile = _QUANTILE.fullmatch(measure)
    if quantile and not 0 < float(quantile[1]) < 100:
        raise BadArgument(f"target {text.strip()!r}: a quantile lies between p0 and p100, such as p90")
    if quantile or measure in MEASURES:
        return
    near = get_close_matches(measure, MEASURES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(MEASURES)}, and any other quantile"
    raise BadArgument(f"target {text.strip()!r}: {measure!r} is no measure; {hint}")


def _slower(measure: str) -> float | None:
    """The share of interactions that may be slower than a quantile's limit."""
    quantile = _QUANTILE.fullmatch(measure)
    return round(1 - float(quantile[1]) / 100, 9) if quantile else None


def _limit(text: str, measure: str, number: float, unit: str) -> float:
    units, right = dict(TIME_S), "a time with its unit, such as 500ms or 2s"
    if measure == "throughput":
        units, right = _RATE, "a rate, such as 5/s or 300/min"
    if measure in ("errors", "busy"):
        units, right = _SHARE, "a share, such as 1%"
    if unit not in units:
        raise BadArgument(f"target {text.strip()!r}: {measure} is compared with {right}, not with {number:g}{unit}")
    limit = number * units[unit]
    if limit <= 0 or (units is _SHARE and limit >= 1):
        raise BadArgument(f"target {text.strip()!r}: the limit must be {right}, more than 0 and less than everything")
    return limit


def _check_agreement(targets: Sequence[Target]) -> None:
    """Raises `ValueError` for a floor of the throughput that is above a ceiling of it."""
    floors = [target for target in targets if target.sense == "least"]
    ceilings = [target for target in targets if target.measure == "throughput" and target.sense == "most"]
    for floor in floors:
        for ceiling in ceilings:
            if floor.limit >= ceiling.limit:
                raise BadArgument(f"targets {floor.text!r} and {ceiling.text!r} contradict: nothing can meet both")

"""What must hold, read from words: `p90 < 2s`, `mean(edit) <= 500ms`, `errors < 1%`, `throughput > 3/s`.

A response time, a share of errors and a busy resource have a ceiling; a throughput has a floor, or a ceiling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadgo.errors import BadArgument
from loadgo.notation.comparisons import EXAMPLE_QUANTITIES, Comparison, Figures, parse_comparisons
from loadgo.sizing.curve import Target
from loadgo.sizing.resources import PROCESSORS

FIGURES = Figures(
    "target",
    of_commands={"time": "mean p50 p90 p95 p99", "share": "errors busy"},
    of_run={"rate": "throughput"},
    any_quantile=True,
)


def targets_of(texts: str | Sequence[str]) -> tuple[Target, ...]:
    """The targets in `texts`, several of one text joined with `and` or commas.

    Raises `ConditionError` for a text that is no target, and `ValueError` for targets that contradict.
    """
    each = [texts] if isinstance(texts, str) else list(texts)
    comparisons = [one for text in each if text.strip() for one in parse_comparisons(text, FIGURES)]
    targets = tuple(dict.fromkeys(map(_target, comparisons)))
    if not targets:
        raise BadArgument("no target is given: say what must hold, such as `target='p90 < 2s'`").about("target")
    _check_agreement(targets)
    return targets


def check_commands(targets: Iterable[Target], commands: Sequence[str]) -> None:
    """Raises `ConditionError` when a target is of a command that the script does not have."""
    for target in targets:
        if target.measure != "busy" and target.command is not None and target.command not in commands:
            raise _comparison(target).unknown_command(list(dict.fromkeys(commands)))


def check_resources(targets: Iterable[Target], resources: Sequence[str]) -> None:
    """Raises `ConditionError` when a target is of a resource that the system does not have, or that is never full."""
    for target in targets:
        if target.measure == "busy" and target.command not in resources:
            known = ", ".join(resources)
            raise _comparison(target).mistake(
                "command", f"there is no resource {target.command!r} that could be busy; there are {known}"
            )


def _comparison(target: Target) -> Comparison:
    return parse_comparisons(target.text, FIGURES)[0]


def _target(comparison: Comparison) -> Target:
    figure, compare = comparison.figure, comparison.compare
    if compare in ("=", "==", "!="):
        raise comparison.mistake("compare", f"a limit is needed, with < or >; {compare} is none")
    is_floor = compare.startswith(">")
    if is_floor and figure != "throughput":
        raise comparison.mistake("compare", f"{figure} has a ceiling, not a floor: write <")
    limit = comparison.limit / 1e9 if comparison.dimension == "time" else comparison.limit
    if limit <= 0 or (comparison.dimension == "share" and limit >= 1):
        right = f"{EXAMPLE_QUANTITIES[comparison.dimension]}, more than 0 and less than everything"
        raise comparison.mistake("quantity", f"the limit must be {right}")
    return Target(
        text=comparison.words,
        measure=figure,
        command=comparison.command or (PROCESSORS if figure == "busy" else None),
        sense="least" if is_floor else "most",
        limit=limit,
        share=round(1 - float(figure[1:]) / 100, 9) if figure.startswith("p") else None,
    )


def _check_agreement(targets: Sequence[Target]) -> None:
    """Raises `ValueError` for a floor of the throughput that is above a ceiling of it."""
    floors = [target for target in targets if target.sense == "least"]
    ceilings = [target for target in targets if target.measure == "throughput" and target.sense == "most"]
    for floor in floors:
        for ceiling in ceilings:
            if floor.limit >= ceiling.limit:
                raise BadArgument(f"targets {floor.text!r} and {ceiling.text!r} contradict: nothing can meet both")

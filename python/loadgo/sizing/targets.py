"""The parser of targets: `p90 < 2s`, `mean(edit) <= 500ms`, `errors < 1%`, `throughput > 3/s`.

Response times, shares of errors and utilisations have a ceiling; a throughput has a floor or a ceiling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadgo.errors import BadArgument
from loadgo.notation.comparisons import EXAMPLE_QUANTITIES, Comparison, Figures, parse_comparisons
from loadgo.sizing.curve import Target
from loadgo.sizing.resources import PROCESSORS_RESOURCE

TARGET_FIGURES = Figures(
    "target",
    of_commands={"time": "mean p50 p90 p95 p99", "share": "errors busy"},
    of_run={"rate": "throughput"},
    any_quantile=True,
)


def parse_targets(texts: str | Sequence[str]) -> tuple[Target, ...]:
    """Parses the targets in `texts`; a text may have several targets, joined with `and` or commas.

    A text that is not a target raises `ConditionError`. Targets that contradict each other raise `ValueError`.
    """
    all_texts = [texts] if isinstance(texts, str) else list(texts)
    comparisons = [
        comparison for text in all_texts if text.strip() for comparison in parse_comparisons(text, TARGET_FIGURES)
    ]
    targets = tuple(dict.fromkeys(map(_target_from, comparisons)))
    if not targets:
        raise BadArgument("no target is given: name one, such as `target='p90 < 2s'`").about("target")
    _check_agreement(targets)
    return targets


def check_commands(targets: Iterable[Target], commands: Sequence[str]) -> None:
    """Raises `ConditionError` if a target names a command that the script does not have."""
    for target in targets:
        if target.measure != "busy" and target.command is not None and target.command not in commands:
            raise _comparison_of(target).unknown_command(list(dict.fromkeys(commands)))


def check_resources(targets: Iterable[Target], resources: Sequence[str]) -> None:
    """Raises `ConditionError` if a target names a resource that the system does not have, or that never saturates."""
    for target in targets:
        if target.measure == "busy" and target.command not in resources:
            reason = (
                f"{target.command!r} is not a resource that can be saturated; the resources are: {', '.join(resources)}"
            )
            raise _comparison_of(target).mistake("command", reason)


def _comparison_of(target: Target) -> Comparison:
    return parse_comparisons(target.text, TARGET_FIGURES)[0]


def _target_from(comparison: Comparison) -> Target:
    figure, compare = comparison.figure, comparison.compare
    if compare in ("=", "==", "!="):
        raise comparison.mistake("compare", f"a target is a limit: write < or > in place of {compare}")
    is_floor = compare.startswith(">")
    if is_floor and figure != "throughput":
        raise comparison.mistake("compare", f"{figure} has a ceiling, not a floor: write <")
    limit = comparison.limit / 1e9 if comparison.dimension == "time" else comparison.limit
    if limit <= 0 or (comparison.dimension == "share" and limit >= 1):
        most = " and less than 100 %" if comparison.dimension == "share" else ""
        example = EXAMPLE_QUANTITIES[comparison.dimension]
        raise comparison.mistake("quantity", f"the limit must be more than 0{most}: {example}")
    return Target(
        text=comparison.words,
        measure=figure,
        command=comparison.command or (PROCESSORS_RESOURCE if figure == "busy" else None),
        sense="least" if is_floor else "most",
        limit=limit,
        share=round(1 - float(figure[1:]) / 100, 9) if figure.startswith("p") else None,
    )


def _check_agreement(targets: Sequence[Target]) -> None:
    """Raises `ValueError` for a floor of the throughput above its ceiling."""
    floors = [target for target in targets if target.sense == "least"]
    ceilings = [target for target in targets if target.measure == "throughput" and target.sense == "most"]
    for floor in floors:
        for ceiling in ceilings:
            if floor.limit >= ceiling.limit:
                raise BadArgument(
                    f"targets {floor.text!r} and {ceiling.text!r} contradict each other: no throughput meets both"
                )

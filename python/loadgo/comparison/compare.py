"""Compares two runs, sets of runs or printed tables: which is better, by how much, and what it came of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from loadgo.comparison.judgement import WITHIN, Judged, judged_of, share_of
from loadgo.comparison.printed_side import findings_of, is_printed, printed_side
from loadgo.comparison.rows import Matched, matched
from loadgo.comparison.side import Side, side_of_runs
from loadgo.decomposition.chains import Chain, chains
from loadgo.decomposition.parts import Parts, parts_of
from loadgo.decomposition.roads import Road, roads_of
from loadgo.errors import BadArgument
from loadgo.measures.record_checks import Check, checks_of
from loadgo.notation.quantities import percentage
from loadgo.records.conditions import Condition, conditions_of, differing, lines_of
from loadgo.records.prediction import ALL, read_prediction, run_folders
from loadgo.records.runs import find_run
from loadgo.records.tables import Tables, tables
from loadgo.stats.resample import Interval

Asked = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A run's folder or id, several of them, or a column of a published document."""

DOCUMENT_CHECK = "the document's own sums"
WORSE = ("response", "cpu")
"""What must not be worse when nothing is named."""


@dataclass(frozen=True)
class Threshold:
    """How much worse a measure may be."""

    measure: str
    percent: float


@dataclass(frozen=True)
class Finding:
    """What a threshold came to; failed is None when it cannot be told."""

    failed: bool | None
    text: str


@dataclass(frozen=True)
class Comparison:
    """`b` compared with `a`."""

    a: Side
    b: Side
    phases: str
    conditions: tuple[Condition, ...]
    rows: Matched
    parts: Parts
    chains: tuple[Chain, ...]
    roads: tuple[Road, ...]
    """The same ratios, come by otherwise."""
    checks: tuple[tuple[str, Check], ...]
    """Of each side."""
    findings: tuple[Finding, ...]
    judged: tuple[Judged, ...]
    """`a` as a prediction of `b`; empty where it is none."""
    notes: tuple[str, ...]

    @property
    def predicted(self) -> bool:
        """Whether every judged figure is shown to be inside."""
        return bool(self.judged) and all(one.judgement == "inside" for one in self.judged)

    @property
    def bad(self) -> bool:
        """Whether a threshold is passed, or cannot be told."""
        return any(finding.failed is not False for finding in self.findings)


def compare(
    a: Asked,
    b: Asked,
    *,
    by: Literal["line", "command"] | None = None,
    phases: Literal["auto", "all", "steady"] = "auto",
    tariff: str = "default",
    worse: Sequence[str] = (),
    judge: bool = False,
    within: str | None = None,
) -> Comparison:
    """Compares `b` with `a`: each a run (folder, id or `last`), several runs, or a column of a published document
    (`mpl-16:ctss`).

    `by` is what a row is: a line of the script in its pass, or a command. `phases` is `steady`, `all`, or `auto`: all
    of a run in which users did a number of passes. `worse` are thresholds (`5%`, `cpu=5%`). With `judge`, or where `a`
    is simulated and `b` measured on a host, `a` is judged as a prediction of `b`: its figures are inside when they are
    shown to be off by no more than `within` (`20%` when nothing is said).

    Raises `ValueError` for what makes no sense, `errors.BadRun` for a run that cannot be read.
    """
    thresholds = tuple(one for text in worse for one in thresholds_of(text))
    left, right = (side_of(asked, phases, tariff) for asked in (a, b))
    limit = WITHIN if within is None else share_of(within)
    made = of_sides(left, right, by=by, phases=phases, thresholds=thresholds, judge=judge, within=limit)
    if within is not None and not made.judged:
        raise BadArgument("within says how near a prediction must be: say judge, too")
    return made


def of_sides(
    a: Side,
    b: Side,
    *,
    by: Literal["line", "command"] | None = None,
    phases: str = "auto",
    thresholds: Sequence[Threshold] = (),
    judge: bool = False,
    within: float = WITHIN,
) -> Comparison:
    """The comparison of two sides that are there already."""
    rows = matched(a, b, by)
    paired = rows.paired or (len(a.accounts) == len(b.accounts) and a.seeds == b.seeds)
    found, lacking = chains(a.accounts, b.accounts, paired=paired)
    prediction = judge or (a.kind == "machine" and b.kind == "host")
    judged = judged_of(rows.whole, a.doubts, within) if prediction else ()
    return Comparison(
        a=a,
        b=b,
        phases=phases,
        conditions=_differing(a, b),
        rows=rows,
        parts=parts_of(a.accounts, b.accounts, paired=paired),
        chains=found,
        roads=roads_of(a.accounts, b.accounts, paired=paired),
        checks=tuple(dict.fromkeys((side.document or side.name, check) for side in (a, b) for check in _checks(side))),
        findings=tuple(_found(threshold, rows) for threshold in thresholds),
        judged=judged,
        notes=(*rows.left_out, *lacking),
    )


def _differing(a: Side, b: Side) -> tuple[Condition, ...]:
    """The conditions that differ; of what is in a machine's file only where both sides are simulated."""
    own = () if a.kind == b.kind == "machine" else ("machine ", "tariff.")
    told = [{name: value for name, value in side.conditions.items() if not name.startswith(own)} for side in (a, b)]
    return differing(told[0], told[1])


def side_of(asked: Asked, phases: str = "auto", tariff: str = "default") -> Side:
    """The side that `asked` names; raises what `compare` raises."""
    names = [fspath(asked)] if isinstance(asked, str | PathLike) else [fspath(one) for one in asked]
    names = [name for text in names for name in text.split(",") if name]
    if not names:
        raise BadArgument("a comparison needs two sides: a run, several with commas between them, or DOCUMENT:SIDE")
    if is_printed(names[0]):
        if len(names) > 1:
            raise BadArgument(f"{names[0]} is printed: it is a side alone, not with {names[1]}")
        return printed_side(names[0])
    folders = [folder for name in names for folder in _runs_of(find_run(name))]
    runs = tuple(tables(folder) for folder in folders)
    if phases not in ("auto", "all", "steady"):
        raise BadArgument(f"phases: {phases!r} is none of auto, all, steady")
    scripts = [lines_of(folder) for folder in folders]
    if any(script != scripts[0] for script in scripts):
        raise BadArgument(f"the runs {', '.join(names)} have not typed the same script: they are not one side")
    told = conditions_of(folders[0], runs[0].conditions)
    name = folders[0].name if len(folders) == 1 else f"{folders[0].name} and {len(folders) - 1} more"
    ended = any(key in run.conditions.get("load", {}) for run in runs for key in ("duration_s", "until"))
    chosen = phases if phases != "auto" else "steady" if ended else "all"
    side = side_of_runs(name, runs, chosen, tariff, told)
    return replace(side, lines=scripts[0], doubts=_doubts(runs, chosen))


def _runs_of(folder: Path) -> list[Path]:
    """The run in `folder`; of a prediction all runs of the machine as fitted."""
    prediction = read_prediction(folder)
    return [folder] if prediction is None else run_folders(folder, prediction.draws)[0]


def _doubts(runs: Sequence[Tables], phases: str) -> dict[str, Interval]:
    """What the doubt in a fitted machine's parameters makes of a prediction, by measure."""
    told = [run.prediction.of(phases).figures[phases] for run in runs if run.prediction is not None]
    return {one.measure: one.doubt for figures in told for one in figures if one.command == ALL}


def thresholds_of(text: str) -> tuple[Threshold, ...]:
    """`5%`, for response and CPU, or `MEASURE=5%`; raises `ValueError` in words."""
    name, equals, figure = text.rpartition("=")
    percent = percentage(figure)
    if percent is None or (equals and not name.strip()):
        raise BadArgument(f"`worse={text}`: write a percentage, 5%, or one of a measure, cpu=5%").about("worse")
    from loadgo.comparison.rows import QUANTILES
    from loadgo.comparison.side import MEASURES

    known = {name.replace(" ", "-").lower(): name for name in (*MEASURES, *QUANTILES, "throughput")}
    asked = name.strip().lower().replace(" ", "-").replace("_", "-")
    asked = {"p50": "p50-response", "p90": "p90-response"}.get(asked, asked)
    if asked and asked not in known:
        there_are = f"there is no measure {name.strip()!r}; there are {', '.join(known)}"
        raise BadArgument(f"`worse={text}`: {there_are}").about("worse")
    names = (known[asked],) if asked else WORSE
    return tuple(Threshold(measure, percent) for measure in names)


def _found(threshold: Threshold, rows: Matched) -> Finding:
    """Worse by more than the threshold, and by more than chance; without an interval the figures alone decide."""
    told = rows.whole.get(threshold.measure)
    name, limit = threshold.measure, f"{threshold.percent:g} %"
    if told is None or told.relative is None:
        return Finding(None, f"{name} cannot be told")
    worse = -told.relative if told.more_is_better else told.relative
    text = f"{name} is {abs(100 * told.relative):.1f} % {'more' if told.relative > 0 else 'less'}"
    if 100 * worse <= threshold.percent:
        return Finding(False, f"{text}: not worse by more than {limit}")
    if told.verdict == "no difference":
        return Finding(False, f"{text}, which may be chance")
    doubt = "" if told.interval else ", by the figures alone: there is no interval"
    return Finding(True, f"{text}: worse by more than {limit}{doubt}")


def _checks(side: Side) -> list[Check]:
    """The checks of each of its runs, those that hold for all of them told once; of print, what contradicts itself."""
    if side.kind == "printed":
        return [_of_document(side)]
    every = [checks_of(run, stretch) for run, stretch in zip(side.tables, side.stretches, strict=True)]
    found = []
    for place, check in enumerate(every[0]):
        worst = [run[place] for run in every if run[place].verdict == "broken"]
        told = [run[place] for run in every if run[place].verdict == "cannot be told"]
        found.append((worst or told or [check])[0])
    return found


def _of_document(side: Side) -> Check:
    findings = findings_of(side)
    if not findings:
        return Check(DOCUMENT_CHECK, "holds", "everything that it says of its numbers is borne out")
    words = "it contradicts itself: " + "; ".join(
        f"{one.relation.name} ({failure.left:g} for {failure.right:g})"
        for one in findings
        for failure in (one.remaining or one.failures)[:1]
    )
    return Check(DOCUMENT_CHECK, "broken", words)

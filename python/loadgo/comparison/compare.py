"""Compares two runs, sets of runs or printed tables: which is better, by how much, and from which parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from loadgo.comparison.difference import Difference
from loadgo.comparison.estimated_faults import with_estimated_faults
from loadgo.comparison.judgement import DEFAULT_WITHIN_SHARE, Judged, judged_of, share_of
from loadgo.comparison.like_runs import like_runs_of
from loadgo.comparison.metered_rates import ComparedRates, compared_rates, is_metering
from loadgo.comparison.printed_side import findings_of, is_printed, printed_side
from loadgo.comparison.rows import Matched, matched, without_intervals
from loadgo.comparison.side import Side, side_of_runs
from loadgo.comparison.thresholds import Threshold, ThresholdResult, threshold_result
from loadgo.comparison.totals import matched_by_totals
from loadgo.comparison.unlike_loads import unlike_loads, without_merit
from loadgo.decomposition.chains import Chain, chains
from loadgo.decomposition.parts import Parts, parts_of
from loadgo.decomposition.roads import Road, roads_of
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.measures.other_work import Level, judged_together
from loadgo.measures.record_checks import RunCheck, checks_of, worst
from loadgo.notation.figures import in_words, setting
from loadgo.notation.margin import DEFAULT_MARGIN_SHARE, margin_share
from loadgo.notation.quantities import percentage
from loadgo.published.finding import contradictions_in_words
from loadgo.records.conditions import (
    DifferingCondition,
    conditions_of,
    differing_conditions,
    has_passes,
    script_lines,
)
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.prediction import ALL_COMMANDS, read_prediction, run_folders
from loadgo.records.runs import RunSpec, find_run, run_names
from loadgo.records.tables import Tables, tables
from loadgo.stats.resample import FEWEST_UNITS, Interval

SideSpec = RunSpec | Sequence[RunSpec]
"""Runs, or the name of a side that is printed: a column of a published document, or a file with printed figures."""

DOCUMENT_CHECK = "the document's own sums"
DEFAULT_WORSE_MEASURES = ("response", "cpu")
"""The measures of a threshold that names none."""


@dataclass(frozen=True, repr=False)
class Comparison(Result, presented_by="loadgo.comparison.presentation:presentation"):
    """`b` compared with `a`."""

    a: Side
    b: Side
    phases: str
    conditions: tuple[DifferingCondition, ...]
    rows: Matched
    parts: Parts
    chains: tuple[Chain, ...]
    roads: tuple[Road, ...]
    """The same ratios from independent meters."""
    checks: tuple[tuple[str, RunCheck], ...]
    """The checks of each side's records, with the side's name."""
    findings: tuple[ThresholdResult, ...]
    judged: tuple[Judged, ...]
    """The figures of `a` judged as a prediction of `b`. Empty if `a` is no prediction."""
    notes: tuple[str, ...]
    margin: float = DEFAULT_MARGIN_SHARE
    """The relative change that is too small to matter."""
    command_rows: Matched | None = None
    """The same sides by command, if `rows` are by line. None for printed sides, which have each line once."""
    metered: ComparedRates | None = None
    """The host by second, if a side is a metering without a load of users. None for other sides."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """A and B."""
        return self.a, self.b

    @property
    def is_by_totals(self) -> bool:
        """Whether a side is printed as totals alone, so that the whole of both sides is compared."""
        return any(side.has_totals_alone for side in self.sides)

    @property
    def by_command(self) -> Matched:
        """The rows by command, or by line for printed sides."""
        return self.command_rows or self.rows

    @property
    def unlike_loads(self) -> tuple[DifferingCondition, ...]:
        """The conditions of the load that differ. If there are any, nothing is better or worse."""
        return unlike_loads(self.conditions)

    @property
    def predicted(self) -> bool:
        """Whether there are judged figures and all are inside."""
        return bool(self.judged) and all(figure.judgement == "inside" for figure in self.judged)

    @property
    def bad(self) -> bool:
        """Whether a threshold has failed, or cannot be judged."""
        return any(finding.failed is not False for finding in self.findings)


def compare(
    a: SideSpec,
    b: SideSpec,
    *,
    by: Literal["line", "command"] | None = None,
    phases: Literal["auto", "all", "steady"] = "auto",
    tariff: str = "default",
    worse: Sequence[str] = (),
    judge: bool = False,
    within: str | None = None,
    margin: str | float = DEFAULT_MARGIN_SHARE,
) -> Comparison:
    """Compares two measurements command by command: which is better, by how much, and from which parts.

        comparison = loadgo.compare("before", "after", worse=["5%"])
        print(comparison.bad, comparison.report("text"))

    Args:
        a: The first side. A run's folder, its id or `last`; several runs in a sequence or with commas between; a column
            of a published document, such as `mpl-16:ctss`; or a file of your own with printed figures, `before.toml`
            or `before.toml:SIDE` (docs/published.md).
        b: The second side. It is called better or worse than `a`.
        by: The rows: `line` is a line of the script in its pass, `command` a command. By default lines if both sides
            typed the same script in passes, else commands.
        phases: `steady` is the part of a run with all users, `all` the entire run. `auto` is `all` for runs with a
            number of passes.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, or the path of a TOML file.
        worse: Thresholds, such as `5%` (response and processor time) or `p90=10%`. Each becomes one of `findings`,
            which fails if `b` is worse by more and the difference is not chance.
        judge: Whether `a` is judged as a prediction of `b`. That is the default if `a` is simulated and `b` is a host.
        within: How far a prediction may be off to be inside, in percent. By default `20%`.
        margin: The relative change that is too small to matter, such as `5%`. Only an interval within it is called no
            difference.

    Returns:
        A `Comparison`: `rows` with the differences, `parts` and `chains` with the causes, `findings`, and `bad`,
        whether a threshold failed. Times are in nanoseconds, intervals have 95 % confidence.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense, or the two do not fit; it is a `ValueError`.
        loadgo.errors.BadRun: A run is missing or cannot be read.

    Intervals come from resampled users, in pairs if both sides typed the same script. See docs/compare.md.
    """
    thresholds = tuple(threshold for text in worse for threshold in thresholds_of(text))
    limit = DEFAULT_WITHIN_SHARE if within is None else share_of(within)
    small = margin_share(margin)
    side_a, side_b = (side_of(spec, phases, tariff) for spec in (a, b))
    like_runs = _like_runs(side_a, side_b, tariff)
    comparison = of_sides(
        side_a,
        side_b,
        by=by,
        phases=phases,
        thresholds=thresholds,
        judge=judge,
        within=limit,
        like_runs=like_runs,
        margin=small,
    )
    if within is not None and not comparison.judged:
        raise BadArgument("within says how near a prediction must be: say judge, too")
    return comparison


def _judged_beside(a: Side, b: Side) -> tuple[Side, Side]:
    """The sides, whose hosts are judged together: nearly equal shares of other work have one level."""
    works = judged_together((a.other_work, b.other_work))
    beside: Level = next((work.beside for work in works if work is not None), "quiet")
    return (a, b) if beside == "quiet" else (replace(a, beside=beside), replace(b, beside=beside))


def of_sides(
    a: Side,
    b: Side,
    *,
    by: Literal["line", "command"] | None = None,
    phases: str = "auto",
    thresholds: Sequence[Threshold] = (),
    judge: bool = False,
    within: float = DEFAULT_WITHIN_SHARE,
    like_runs: Sequence[Side] = (),
    margin: float = DEFAULT_MARGIN_SHARE,
) -> Comparison:
    """Compares two sides that have been read. `like_runs` show how much runs of the sides differ by themselves."""
    a, b = _judged_beside(a, b)
    match = matched_by_totals if a.has_totals_alone or b.has_totals_alone else matched
    conditions = _differing(a, b)
    has_like_loads = not unlike_loads(conditions)

    def compared(by: Literal["line", "command"] | None) -> Matched:
        found = match(a, b, by, like_runs, margin)
        if found.whole and (a.has_open_load or b.has_open_load):
            throughput = _throughput_of_arrivals(found.whole["throughput"], a, b)
            found = replace(found, whole={**found.whole, "throughput": throughput})
        found = with_estimated_faults(found, a, b)
        return found if has_like_loads else without_merit(found)

    rows = compared(by)
    is_by_line = rows.by == "line" and bool(rows.rows) and "printed" not in (a.kind, b.kind)
    paired = rows.paired or (len(a.accounts) == len(b.accounts) and a.seeds == b.seeds)
    metered = compared_rates(a, b, margin)
    ratio_chains, missing = chains(a.accounts, b.accounts, paired=paired)
    missing = _without_interactions(a, b, metered) or missing
    prediction = judge or (a.kind == "machine" and b.kind == "host")
    judged = judged_of(rows.whole, a.doubts, within) if prediction else ()
    return Comparison(
        a=a,
        b=b,
        phases=phases,
        conditions=conditions,
        rows=rows,
        parts=parts_of(a.accounts, b.accounts, paired=paired),
        chains=ratio_chains,
        roads=roads_of(a.accounts, b.accounts, paired=paired),
        checks=tuple(
            dict.fromkeys(
                (side.document.spec if side.document else side.name, check)
                for side in (a, b)
                for check in _checks(side)
            )
        ),
        findings=tuple(threshold_result(threshold, rows, has_like_loads) for threshold in thresholds),
        judged=judged,
        notes=(*rows.left_out, *missing),
        margin=margin,
        command_rows=compared("command") if is_by_line else None,
        metered=metered,
    )


def _without_interactions(a: Side, b: Side, metered: ComparedRates | None) -> tuple[str, ...]:
    """The reason why nothing is compared by interaction where a side has none. Empty where both have some."""
    names = [side.name for side in (a, b) if not side.interaction_count]
    if not names:
        return ()
    by_second = ": the host is compared by second" if metered is not None and metered.rows else ""
    of_hosts = [side.name for side in (a, b) if is_metering(side) and any(run.by_host for run in side.tables)]
    if of_hosts:
        by_second = "; of meterings of several hosts, compare those of each host, in `other-hosts` of the folder"
    return (f"{in_words(names)} {'has' if len(names) == 1 else 'have'} no interactions{by_second}",)


def _throughput_of_arrivals(of_users: Difference, a: Side, b: Side) -> Difference:
    """The throughput where a side has an open load, whose users are there for a part of the time: without an interval.

    It is the number of interactions over the time, and says what was offered, not what the system could do.
    """
    before, after = (
        side.interactions_per_second if side.has_open_load else measured
        for side, measured in ((a, of_users.before), (b, of_users.after))
    )
    return replace(without_intervals(of_users), before=before, after=after)


def _like_runs(a: Side, b: Side, tariff: str) -> tuple[Side, ...]:
    """The like runs beside those of the sides, unless the sides have enough runs themselves."""
    if min(len(side.tables) for side in (a, b)) >= FEWEST_UNITS:
        return ()
    return like_runs_of(a, b, tariff)


def _differing(a: Side, b: Side) -> tuple[DifferingCondition, ...]:
    """The conditions that differ. Those from a machine's file count only if both sides are simulated.

    Empty if a printed side states none.
    """
    if any(side.kind == "printed" and not side.conditions for side in (a, b)):
        return ()
    skipped = () if a.kind == b.kind == "machine" else ("machine ", "tariff.")
    conditions = [
        {name: value for name, value in side.conditions.items() if not name.startswith(skipped)} for side in (a, b)
    ]
    return differing_conditions(conditions[0], conditions[1])


def side_of(spec: SideSpec, phases: str = "auto", tariff: str = "default") -> Side:
    """Reads the side that `spec` names. Raises the errors of `compare`."""
    names = run_names(spec)
    if not names:
        raise BadArgument(
            "a comparison needs two sides: a run, several with commas between them, DOCUMENT:SIDE, or a file"
        )
    printed = [name for name in names if is_printed(name)]
    if printed and len(names) > 1:
        other = next((name for name in names if name != printed[0]), names[0])
        raise BadArgument(f"{printed[0]} is printed: it is a side alone, not with {other}")
    if printed:
        return printed_side(printed[0])
    folders = [folder for name in names for folder in _run_folders(find_run(name))]
    runs = tuple(tables_of_load(tables(folder)) for folder in folders)
    _check_distinct(folders, runs)
    if phases not in ("auto", "all", "steady"):
        raise BadArgument(f"phases: {phases!r} is none of auto, all, steady")
    scripts = [script_lines(folder) for folder in folders]
    if any(script != scripts[0] for script in scripts):
        raise BadArgument(f"the runs {', '.join(names)} have not typed the same script: they are not one side")
    conditions = conditions_of(folders[0], runs[0].conditions)
    name = folders[0].name if len(folders) == 1 else f"{folders[0].name} and {len(folders) - 1} more"
    of_passes = all(has_passes(run.conditions) for run in runs)
    chosen = phases if phases != "auto" else "all" if of_passes else "steady"
    side = side_of_runs(name, runs, chosen, tariff, conditions)
    return replace(side, lines=scripts[0], doubts=_doubts(runs, chosen), folders=tuple(folders))


def _check_distinct(folders: Sequence[Path], runs: Sequence[Tables]) -> None:
    """Raises `BadArgument` if a run of a side is there twice, also as a copy: its scatter would be too small."""
    names_by_run: dict[object, str] = {}
    for folder, run in zip(folders, runs, strict=True):
        conditions = run.conditions
        identity: object = folder.resolve()
        is_live = conditions.get("system", {}).get("kind", "host") == "host"
        if is_live and "id" in conditions and "started" in conditions:
            identity = str([conditions["id"], conditions["started"], conditions.get("wall_s")])
        if identity in names_by_run:
            raise BadArgument(f"{names_by_run[identity]} and {folder.name} are the same run: a side has each run once")
        names_by_run[identity] = folder.name


def _run_folders(folder: Path) -> list[Path]:
    """The folder of a run, or the folders of a prediction's runs of the machine as fitted."""
    prediction = read_prediction(folder)
    return [folder] if prediction is None else run_folders(folder, prediction.draws)[0]


def _doubts(runs: Sequence[Tables], phases: str) -> dict[str, Interval]:
    """The uncertainty of a prediction that comes from the fit, as factors by measure."""
    predictions = [run.prediction.of(phases).figures[phases] for run in runs if run.prediction is not None]
    return {
        figure.measure: figure.doubt for figures in predictions for figure in figures if figure.command == ALL_COMMANDS
    }


def thresholds_of(text: str) -> tuple[Threshold, ...]:
    """`5%`, for response and CPU, or `MEASURE=5%`; raises `ValueError` in words."""
    name, equals, figure = text.rpartition("=")
    percent = percentage(figure)
    if percent is None or (equals and not name.strip()):
        raise BadArgument(f"`worse={text}`: write a percentage, 5%, or one of a measure, cpu=5%").about("worse")
    from loadgo.comparison.difference import QUANTILES_BY_MEASURE
    from loadgo.comparison.side import COMPARED_MEASURES

    known = {name.replace(" ", "-").lower(): name for name in (*COMPARED_MEASURES, *QUANTILES_BY_MEASURE, "throughput")}
    asked = name.strip().lower().replace(" ", "-").replace("_", "-")
    asked = {"p50": "p50-response", "p90": "p90-response"}.get(asked, asked)
    if asked and asked not in known:
        there_are = f"there is no measure {name.strip()!r}; there are {', '.join(known)}"
        raise BadArgument(f"`worse={text}`: {there_are}").about("worse")
    names = (known[asked],) if asked else DEFAULT_WORSE_MEASURES
    return tuple(Threshold(measure, percent) for measure in names)


def _checks(side: Side) -> list[RunCheck]:
    """The checks of a side's records. Of several runs, the worst result of each check counts."""
    if side.kind == "printed":
        return [_document_check(side)]
    checks_by_run = [checks_of(run, stretch) for run, stretch in zip(side.tables, side.stretches, strict=True)]
    return [worst([checks[index] for checks in checks_by_run]) for index in range(len(checks_by_run[0]))]


def _document_check(side: Side) -> RunCheck:
    """Whether the published document contradicts itself, as a check."""
    findings = findings_of(side)
    if side.document is None or not side.document.relations:
        return RunCheck(DOCUMENT_CHECK, "cannot be told", "it says nothing by which its numbers could be checked")
    if not findings:
        return RunCheck(DOCUMENT_CHECK, "holds", "everything that it says of its numbers is borne out")
    words = f"{contradictions_in_words(findings)}: " + "; ".join(
        f"{finding.relation.name} ({setting(failure.left)} for {setting(failure.right)})"
        for finding in findings
        for failure in (finding.remaining or finding.failures)[:1]
    )
    return RunCheck(DOCUMENT_CHECK, "broken", words)

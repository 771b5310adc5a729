"""The tables of a capacity: the curve, the classes of a mix, the capacity by model, and the service demands."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import (
    NEVER_TEXT,
    NOT_MEASURED,
    TOO_FEW_TEXT,
    capitalized,
    counted,
    digits,
    money,
    number,
    people,
    seconds,
    share,
)
from loadgo.notation.measures import percent
from loadgo.running.prepared import is_host
from loadgo.sizing.curve import LoadPoint, MeasuredFigure, Target, TargetStanding, TargetVerdict
from loadgo.sizing.models.answers import ModelCapacity
from loadgo.sizing.models.models import CapacityModel, Models
from loadgo.sizing.report.answer import format_measure
from loadgo.sizing.report.chart_data import made_word, response_chart_names
from loadgo.sizing.search.results import Capacity, TrialRecord
from loadgo.stats.quantiles import samples_needed
from loadgo.stats.resample import Interval

UNDECIDED_MEANING = "with {}, the 95 % interval includes the target's limit, or there are too few samples"
"""The meaning of the word `undecided`, with room for what was tried."""


def capacity_tables(capacity: Capacity) -> list[Table]:
    """The tables of a capacity's page, in order."""
    tables = [
        _curve_table(capacity),
        _classes_table(capacity),
        _models_table(capacity),
        _demands_table(capacity),
        _trials_table(capacity),
    ]
    return [table for table in tables if table is not None]


def _point_standing(point: LoadPoint) -> TargetStanding:
    """The standing of all targets at a point: all `met`, any `missed`, else `open`."""
    standings = {verdict.standing for verdict in point.verdicts}
    return "missed" if "missed" in standings else "open" if "open" in standings else "met"


def standing_word(standing: TargetStanding) -> str:
    """The word for a standing in a table: `undecided` for `open`."""
    return "undecided" if standing == "open" else standing


FEW_TRIALS, FEW_ANSWERS = "few trials", "few answers"
"""The words for a target that is open although its interval leaves out the limit."""
FEW_MEANINGS = {
    FEW_TRIALS: "the interval leaves out the limit, but trials of a host differ by more than one trial shows: with so "
    "few, nothing is decided",
    FEW_ANSWERS: "all answers lie on one side of the limit, but they are too few to decide",
}


def standing_cell(standing: TargetStanding, point: LoadPoint, on: str) -> str:
    """The word for the standing at a point: where its intervals leave out the limit, the reason why it is open."""
    is_open = [verdict for verdict in point.verdicts if verdict.standing == "open"]
    if standing != "open" or not is_open or not all(_is_on_one_side(verdict) for verdict in is_open):
        return standing_word(standing)
    intervals = [_judged(verdict)[0] for verdict in is_open]
    is_measured = all(figure is not None and figure.interval is not None for figure in intervals)
    return FEW_TRIALS if is_measured and is_host(on) else FEW_ANSWERS


def _judged(verdict: TargetVerdict) -> tuple[MeasuredFigure | None, float]:
    """The figure by which a target is judged, and its limit: a quantile by the share of slow interactions."""
    if verdict.target.share is not None:
        return verdict.slow_share, verdict.target.share
    return verdict.value, verdict.target.limit


def _is_on_one_side(verdict: TargetVerdict) -> bool:
    """Whether the shown interval leaves out the limit; also where there is none, since no answer was slow, or all."""
    figure, limit = _judged(verdict)
    if figure is None:
        return False
    ends = figure.interval or Interval(figure.value, figure.value)
    return not ends.low <= limit <= ends.high


def undecided_notes(tried: str, table: Table, of_line: str = "") -> list[tuple[str, str]]:
    """Notes on the words of a table for a target that its own trials leave open. `of_line` is about the line."""
    cells = {cell for column in table.columns if column.heading == "own trials" for cell in column.cells}
    notes = [("Own trials", f"the trials with one number of users by themselves; the answer comes from all{of_line}.")]
    notes = notes if any(column.heading == "all trials" for column in table.columns) else []
    if "undecided" in cells:
        notes.append(("Undecided", f"{UNDECIDED_MEANING.format(tried)}."))
    return notes + [(capitalized(word), f"{meaning}.") for word, meaning in FEW_MEANINGS.items() if word in cells]


def _curve_table(capacity: Capacity) -> Table | None:
    points = capacity.points
    if not points:
        return None

    def column(heading: str, cell: Callable[[LoadPoint], str], spare: int = 0) -> Column:
        return Column(heading, tuple(cell(point) for point in points), spare)

    columns = [column("users", lambda point: f"{point.users:,}")]
    for index, target in enumerate(capacity.targets):
        if has_value(target):
            columns.append(column(target.text, lambda point, index=index: value_cell(point, index)))  # type: ignore[misc]
        if target.share is not None:
            heading, spare = slow_heading(target), 3 if has_value(target) else 0
            columns.append(column(heading, lambda point, index=index: slow_cell(point.verdicts[index]), spare))  # type: ignore[misc]
    standings = tuple(standing_cell(_point_standing(point), point, capacity.on) for point in points)
    columns.append(Column("own trials", standings, kept=True))
    columns.append(column("all trials", lambda point: _line_cell(capacity, point)))
    columns.append(column("remark", lambda point: _point_remark(capacity, point)))
    columns.append(column("throughput", lambda point: f"{number(point.throughput.value)}/s"))
    intervals = tuple(_interval_cell(point.throughput.interval, number) for point in points)
    columns.append(Column("95 % interval", intervals, spare=5, of_previous=True))
    if not any(target.measure == "mean" and target.command is None for target in capacity.targets):
        columns.append(column("mean", lambda point: _time_cell(point.response_s.get("mean")), spare=2))
    names = dict.fromkeys(name for point in points for name in point.utilisation)
    resources = sorted(names, key=lambda name: -max(point.utilisation.get(name, 0.0) for point in points))
    for rank, name in enumerate(resources):
        columns.append(column(name, lambda point, name=name: share(point.utilisation.get(name)), min(rank, 1) * 4))  # type: ignore[misc]
    if any(point.others is not None for point in points):
        columns.append(column("other work", lambda point: share(point.others), spare=1))
        columns.append(column("users' CPU", lambda point: seconds(point.users_cpu_s), spare=6))
    if any(point.cost_user_hour is not None for point in points):
        spare = 1 if capacity.has_cost else 6
        columns.append(
            column("cost of a user-hour", lambda point: money(point.cost_user_hour, capacity.currency), spare)
        )
    if any(point.faults_a_command for point in points):
        columns.append(column("faults", lambda point: number(point.faults_a_command), spare=7))
    if any(point.trials > 1 for point in points):
        columns.append(column("trials", lambda point: number(point.trials), spare=7))
    columns.append(column("interactions", lambda point: number(point.interactions), spare=8))
    charts = (*response_chart_names(capacity), "capacity-throughput", "capacity-cost", "capacity-faults")
    return Table(
        f"{made_word(capacity).capitalize()}, by users",
        tuple(shown for shown in columns if any(shown.cells)),
        charts=charts,
    )


def _point_remark(capacity: Capacity, point: LoadPoint) -> str:
    if not point.valid:
        return "not valid"
    if not point.steady:
        return "not steady"
    is_last = capacity.end == "every number" and point.users == capacity.answer
    return "limit of the search" if is_last else ""


def _line_cell(capacity: Capacity, point: LoadPoint) -> str:
    """The judgement of a number of users by the line through all trials; empty where the answer comes from no line.

    Of a fitted machine it is the line of the machine exactly as fitted.
    """
    low, high = capacity.interval or (0, None)
    doubt = capacity.fit_doubt
    if doubt is not None and doubt.search_low is not None:
        low, high = doubt.search_low, doubt.search_high
    if not capacity.answer or capacity.end == "every number":
        return ""
    if point.users == capacity.answer:
        is_sure = all(verdict.standing == "met" for verdict in point.verdicts)
        return "the answer" if is_sure else "probable answer"
    if point.users <= low:
        return "met"
    return "" if high is None else "missed" if point.users > high else "may meet"


def _trials_table(capacity: Capacity) -> Table | None:
    """Each trial of a search on a host, in the order in which they ran."""
    trials = capacity.each_trial
    if not any(trial.others is not None or not trial.valid for trial in trials):
        return None
    columns = (
        Column("trial", tuple(f"{number:,}" for number, _ in enumerate(trials, 1))),
        Column("users", tuple(f"{trial.users:,}" for trial in trials)),
        Column("length", tuple(seconds(trial.seconds) for trial in trials), spare=2),
        Column("interactions", tuple(number(trial.interactions) for trial in trials), spare=1),
        Column("other work", tuple(share(trial.others) for trial in trials)),
        Column("targets", tuple(standing_word(trial.standing) for trial in trials), kept=True),
        Column("", tuple(_trial_remark(trial) for trial in trials)),
    )
    return Table("Trials, in order", tuple(column for column in columns if any(column.cells)))


def _trial_remark(trial: TrialRecord) -> str:
    remarks = [
        "" if trial.valid else "not valid",
        f"ended early, {counted(trial.censored, 'line')} in flight" if trial.cut_short else "",
        "interrupted" if trial.interrupted else "",
        counted(trial.late, "late line") if trial.late else "",
        "" if trial.used else _why_left_out(trial),
    ]
    return ", ".join(filter(None, remarks))


def _why_left_out(trial: TrialRecord) -> str:
    """The remark on a trial that the answer does not use. A valid one that ran to its end was not steady."""
    is_whole = trial.valid and not (trial.cut_short or trial.interrupted)
    return "left out: not steady, and repeated" if is_whole else "left out"


def _classes_table(capacity: Capacity) -> Table | None:
    """Each class of the mix at the answer, or at the next point below it."""
    class_points = [point for point in capacity.points if point.classes]
    if not class_points:
        return None
    within = [point for point in class_points if capacity.answer is not None and point.users <= capacity.answer]
    point = max(within or class_points[:1], key=lambda point: point.users)
    classes = point.classes
    columns = (
        Column("class", tuple(figures.name for figures in classes)),
        Column("users", tuple(f"{figures.users:,}" for figures in classes)),
        Column("a second", tuple(number(figures.throughput) for figures in classes)),
        Column("mean", tuple(seconds(figures.response_s) for figures in classes)),
        Column("think", tuple(seconds(figures.think_s) for figures in classes), spare=1),
        Column("CPU", tuple(seconds(figures.cpu_s) for figures in classes)),
    )
    return Table(f"The mix with {people(point.users)}", columns)


def _models_table(capacity: Capacity) -> Table | None:
    """The answer beside the capacity of each model, with the model's errors at measured points."""
    models = capacity.models
    if models is None or not (models.models or models.holds):
        return None
    decides = capacity.binding.text if capacity.binding else ""
    rows = [
        (
            made_word(capacity),
            _answer_cell(capacity),
            _user_range(capacity.interval),
            "",
            "",
            "",
            decides,
        )
    ]
    rows += [_model_row(model, models) for model in models.models]
    bounds = [holds for holds in models.holds if holds.by == "bounds" and models.drawn_bounds]
    rows += [("bounds", "", _capacity_interval(bound), "", "", "", bound.target.text) for bound in bounds]
    names, users, intervals, throughput_errors, response_errors, held_out_errors, target = zip(*rows, strict=True)
    columns = (
        Column("", names),
        Column("capacity", users),
        Column("interval", intervals),
        Column("throughput error", throughput_errors, spare=1),
        Column("response error", response_errors),
        Column(f"error without {models.used[-1]:,}", held_out_errors, spare=2),
        Column("limited by", target, spare=3),
    )
    return Table("Capacity by model", tuple(column for column in columns if any(column.cells)))


def _model_row(model: CapacityModel, models: Models) -> tuple[str, str, str, str, str, str, str]:
    holding = (holds for holds in models.holds if holds.by == model.name and not model.wrong)
    model_capacity = next(holding, None)
    throughput, response, left_out = model.throughput_miss.throughput, model.response_miss, model.held_out
    return (
        model.name,
        NOT_MEASURED if model_capacity is None else _capacity_cell(model_capacity),
        "" if model_capacity is None else _capacity_interval(model_capacity),
        percent(throughput),
        percent(response.response if response else None),
        percent(left_out.response if left_out else None),
        "" if model_capacity is None else model_capacity.target.text,
    )


def _answer_cell(capacity: Capacity) -> str:
    if capacity.answer is None:
        return NOT_MEASURED
    return f"{capacity.answer:,} or more" if capacity.end == "every number" else f"{capacity.answer:,}"


def _capacity_cell(model_capacity: ModelCapacity) -> str:
    users = f"over {model_capacity.reach:,}" if model_capacity.users is None else f"{model_capacity.users:,}"
    return f"{users} *" if model_capacity.extrapolated else users


def _capacity_interval(model_capacity: ModelCapacity) -> str:
    return "" if model_capacity.at_least is None else _user_range((model_capacity.at_least, model_capacity.at_most))


def _user_range(ends: tuple[int, int | None] | None) -> str:
    if ends is None or ends == (0, None):
        return ""
    low, high = ends
    return f"{low:,} or more" if high is None else f"{low:,}–{high:,}" if low != high else f"{low:,}"


def _demands_table(capacity: Capacity) -> Table | None:
    """The service demand of each resource, and the saturation point N*, where it would be full without queues."""
    models = capacity.models
    if models is None or not models.demands:
        return None
    demands = models.demands
    delays = [models.delay_s] if models.delay_s else []
    empty = [""] * len(delays)
    demands_s = [*(demand.seconds for demand in demands), *delays]
    ranges = (_demand_range(demand.least_s, demand.most_s) for demand in demands)
    columns = (
        Column("resource", (*(demand.resource for demand in demands), *("other delay" for _ in delays))),
        Column("servers", (*(f"{demand.servers:,}" for demand in demands), *empty)),
        Column("demand", tuple(seconds(demand_s) for demand_s in demands_s)),
        Column("range", (*ranges, *empty), spare=1),
        Column("full from (N*)", (*(f"{digits(users)} users" for users in _saturation_users(models)), *empty)),
    )
    return Table("Service demands", columns, charts=("capacity-busy",))


def _saturation_users(models: Models) -> list[float]:
    think_and_delay_s = models.think_s + models.delay_s + sum(demand.seconds for demand in models.demands)
    return [think_and_delay_s * demand.servers / demand.seconds for demand in models.demands]


def _demand_range(least_s: float, most_s: float) -> str:
    low, high = seconds(least_s), seconds(most_s)
    same = low.rpartition(" ")[2] == high.rpartition(" ")[2]
    return low if low == high else f"{low.rpartition(' ')[0] if same else low}–{high}"


def has_value(target: Target) -> bool:
    """Whether points have the measured value of a target. Of a single command they have only the share of slow ones."""
    return target.share is None or target.command is None


def value_cell(point: LoadPoint, index: int) -> str:
    """The measured value of the target with this index; for a quantile, a word that says why there is none."""
    verdict = point.verdicts[index]
    if verdict.value is not None:
        return format_measure(verdict.target, verdict.value.value)
    if verdict.target.share is None:
        return NOT_MEASURED
    return TOO_FEW_TEXT if point.interactions < samples_needed(1 - verdict.target.share) else NEVER_TEXT


def slow_heading(target: Target) -> str:
    """The heading of the column with the share of interactions that are slower than a target's limit."""
    slow = f"slower than {seconds(target.limit)}"
    return slow if target.command is None else f"{target.command} {slow}"


def slow_cell(verdict: TargetVerdict) -> str:
    """The share of interactions slower than a target's limit, with its interval."""
    if verdict.slow_share is None:
        return NOT_MEASURED
    interval = verdict.slow_share.interval
    ends = f" ({100 * interval.low:.1f}–{100 * interval.high:.1f})" if interval else ""
    return f"{share(verdict.slow_share.value)}{ends}"


def _time_cell(figure: MeasuredFigure | None) -> str:
    return seconds(None if figure is None else figure.value)


def _interval_cell(interval: Interval | None, format_value: Callable[[float], str]) -> str:
    return NOT_MEASURED if interval is None else f"{format_value(interval.low)}–{format_value(interval.high)}"

"""The data of the chart of a run over time: response times, throughput, users, the run queue, and page faults.

Response times are counted when the answer comes. A bin without enough answers for a quantile has a null, which the
chart draws as a gap. Answers a second have a 0 where no answer came.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.measures.summary import Summary
from loadgo.notation.figures import counted, duration, number
from loadgo.records.interactions import IS_ANSWERED, IS_MEASURED, RESPONSE_NS
from loadgo.reporting.charts.chart_data import MOST_TIME_BINS, ChartData, phase_marks
from loadgo.reporting.charts.meter_chart_data import fault_rates, ready_over_time
from loadgo.stats.quantiles import samples_needed

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

EVERY_COMMAND = "all commands"
"""The name of all commands together, beside the names of the commands."""
MOST_DOTS = 1000
"""The largest number of answers that the chart draws one by one."""
MOST_COMMANDS = 20
"""The largest number of commands whose response times can be chosen."""

_BIN_ANSWERS = 20
"""Mean number of answers in a bin of response times. Few bins then have fewer than the ten that a p90 needs."""
_RATE_ANSWERS = 10
"""Mean number of answers in a bin of throughput. With fewer the chart shows the scatter of think times."""
_COMMAND_BINS = 100
"""The largest number of bins of one command."""
_FEWEST_SPANS = 3
"""Fewest bins that a line or bars over time need. With fewer, the table of response times has all that they show."""
_NS_PER_S = 1e9


@dataclass(frozen=True)
class OverTime:
    """All parts of the chart. A part without data, or that would say nothing, is empty."""

    begin_s: float
    """The beginning of the shown time, in seconds since the run began."""
    end_s: float
    """The end of the records."""
    quantiles: pl.DataFrame
    """Columns: command, from_s, to_s, count, p50_s and p90_s, which are null without enough answers.

    All of a command are null where fewer than three spans have a p90. Such a command is left out if there are no dots.
    """
    dots: pl.DataFrame
    """Every answer of a short run. Columns: command, user, at_s, response_s."""
    throughput: pl.DataFrame
    """Columns: from_s, to_s, per_second."""
    users: pl.DataFrame
    """Users logged in, where their number changes in the steady phase. Columns: from_s, to_s, users."""
    ready: pl.DataFrame
    """Columns: from_s, to_s, ready."""
    faults: pl.DataFrame
    """Columns: from_s, to_s, faults, major."""
    notes: tuple[str, ...]
    """Sentences on the bins, and on parts that are left out."""

    @property
    def commands(self) -> list[str]:
        """The names that can be chosen: all commands together first."""
        return self.quantiles["command"].unique(maintain_order=True).to_list()

    @property
    def has_lines(self) -> bool:
        """Whether there are enough answers for quantiles over time."""
        return self.quantiles["p90_s"].count() > 0


def over_time(summary: Summary, tables: Tables) -> OverTime:
    """The parts of the chart of a run, or of a metering without users."""
    span = shown_time_ns(tables)
    answers = _answers(summary, tables)
    width_ns, rate_width_ns = (
        bin_width_ns(span[1] - span[0], len(answers), least) for least in (_BIN_ANSWERS, _RATE_ANSWERS)
    )
    dots = answers.select("command", "user", at_s=pl.col("ready_ns") / _NS_PER_S, response_s=pl.col("response_s"))
    dots = dots.clear() if len(dots) > MOST_DOTS else dots.with_columns(pl.col("at_s", "response_s").round(6))
    quantiles, left_out = _quantiles_that_say_something(_quantiles(answers, span, width_ns), keep_all=len(dots) > 0)
    ready, faults = (_within(frame, span) for frame in (ready_over_time(tables).frame, fault_rates(tables)))
    queue_is_empty = not ready.is_empty() and not (ready["ready"] > 0).any()
    no_faults = not faults.is_empty() and not (faults["faults"] > 0).any()
    return OverTime(
        begin_s=span[0] / _NS_PER_S,
        end_s=span[1] / _NS_PER_S,
        quantiles=quantiles,
        dots=dots,
        throughput=_throughput(answers, span, rate_width_ns),
        users=_users(tables, span),
        ready=ready.clear() if queue_is_empty else ready,
        faults=faults.clear() if no_faults else faults,
        notes=(
            *_bin_notes(answers, span, (width_ns, rate_width_ns), has_lines=quantiles["p90_s"].count() > 0),
            *_left_out_notes(answers, left_out),
            *(["No task ever waited for a processor."] if queue_is_empty else []),
            *(["There were no page faults."] if no_faults else []),
        ),
    )


def over_time_data(summary: Summary, tables: Tables) -> ChartData:
    """The parts of the chart as one long frame, for CSV. Columns: measure, command, from_s, to_s, value."""
    parts = over_time(summary, tables)
    shown = pl.col("command")
    none = pl.lit(None, pl.String)
    frames = [
        _long(parts.quantiles, "p50_s", "response p50_s", shown),
        _long(parts.quantiles, "p90_s", "response p90_s", shown),
        _long(parts.throughput, "per_second", "answers per_second", none),
        _long(parts.users, "users", "users", none),
        _long(parts.ready, "ready", "ready", none),
        _long(parts.faults, "faults", "faults per_second", none),
        _long(parts.faults, "major", "major faults per_second", none),
    ]
    return ChartData(pl.concat(frames), " ".join(parts.notes))


def _long(frame: pl.DataFrame, column: str, measure: str, command: pl.Expr) -> pl.DataFrame:
    return frame.select(
        pl.lit(measure).alias("measure"),
        command.alias("command"),
        pl.col("from_s", "to_s").cast(pl.Float64),
        pl.col(column).cast(pl.Float64).alias("value"),
    )


def bin_width_ns(span_ns: int, answers: int, bin_answers: int = _BIN_ANSWERS) -> int:
    """The length of a bin: 1, 2 or 5 times a power of ten, for at most `MOST_TIME_BINS` bins of enough answers."""
    least = max(span_ns / MOST_TIME_BINS, span_ns * bin_answers / answers if answers else 0.0, 1.0)
    return _round_up(least)


def _round_up(least: float) -> int:
    power = 10.0 ** math.floor(math.log10(least))
    return round(next(step for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9)) * power)


def _within(frame: pl.DataFrame, span: tuple[int, int]) -> pl.DataFrame:
    """The spans of the meters, cut at the ends of the shown time: a span may begin before a part of a run."""
    begin_s, end_s = (at / _NS_PER_S for at in span)
    return frame.with_columns(pl.col("from_s", "to_s").clip(begin_s, end_s))


def shown_time_ns(tables: Tables) -> tuple[int, int]:
    """Beginning and end of the part of the run that charts show: the whole run, if no part was chosen."""
    return tables.part_ns or (0, _end_ns(tables))


def _end_ns(tables: Tables) -> int:
    """The last instant of the records."""
    rows = tables.interactions
    ends = [rows["ready_ns"].max(), rows["sent_ns"].max(), tables.sessions["ended_ns"].max()]
    ends += [frame["at_ns"].max() for frame in (tables.time, tables.queue, tables.faults)]
    return max((int(end) for end in ends if isinstance(end, int)), default=0)


def _answers(summary: Summary, tables: Tables) -> pl.DataFrame:
    """The answered lines of the whole run in the order of the script's commands, without those of a metering."""
    if summary.run.kind == "meter":
        return tables.interactions.clear().select("user", "ready_ns", command=pl.lit(""), response_s=pl.lit(0.0))
    order = {row.name: place for place, row in enumerate(summary.commands)}
    command = pl.col("command").cast(pl.String)
    return (
        tables.interactions.filter(IS_ANSWERED & IS_MEASURED)
        .select(
            "user",
            pl.col("ready_ns").cast(pl.Int64),
            command.alias("command"),
            (RESPONSE_NS.clip(1000) / _NS_PER_S).alias("response_s"),
        )
        .with_columns(place=pl.col("command").replace_strict(order, default=len(order), return_dtype=pl.Int64))
        .sort("place", maintain_order=True)
    )


def _quantiles(answers: pl.DataFrame, span: tuple[int, int], width_ns: int) -> pl.DataFrame:
    """The quantiles of all commands, then those of each command in bins of its own length."""
    if answers.is_empty():
        return pl.DataFrame(schema=_QUANTILE_COLUMNS)
    length_ns = span[1] - span[0]
    frames = [_binned_quantiles(EVERY_COMMAND, answers, span, width_ns)]
    names = answers["command"].unique(maintain_order=True)[:MOST_COMMANDS].to_list()
    if len(names) > 1:
        by_name = answers.partition_by("command", as_dict=True)
        for name in names:
            rows = by_name[(name,)]
            own_ns = max(bin_width_ns(length_ns, len(rows)), _round_up(max(length_ns / _COMMAND_BINS, 1.0)))
            frames.append(_binned_quantiles(name, rows, span, own_ns))
    return pl.concat(frames)


def _quantiles_that_say_something(frame: pl.DataFrame, *, keep_all: bool) -> tuple[pl.DataFrame, int]:
    """The quantiles without lines of fewer than three spans with a p90, and the number of commands left out.

    With `keep_all` no command is left out: its answers are drawn as dots.
    """
    p90_count = pl.col("p90_s").count().over("command")
    has_line = p90_count >= _FEWEST_SPANS
    kept = frame if keep_all else frame.filter(has_line | (pl.col("command") == EVERY_COMMAND))
    lines = kept.with_columns(pl.when(has_line).then(pl.col("p50_s", "p90_s")))
    return lines, frame["command"].n_unique() - kept["command"].n_unique()


_QUANTILE_COLUMNS = {
    "command": pl.String,
    "from_s": pl.Float64,
    "to_s": pl.Float64,
    "count": pl.Int64,
    "p50_s": pl.Float64,
    "p90_s": pl.Float64,
}


def _binned_quantiles(name: str, rows: pl.DataFrame, span: tuple[int, int], width_ns: int) -> pl.DataFrame:
    """The quantiles of every bin of the run. A bin without enough answers has nulls."""
    begin_ns, end_ns = span
    bins = pl.DataFrame({"bin": range(-(-(end_ns - begin_ns) // width_ns))}, schema={"bin": pl.Int64})
    value = pl.col("response_s")
    counted = rows.group_by(bin=((pl.col("ready_ns") - begin_ns - 1).clip(0) // width_ns)).agg(
        count=pl.len().cast(pl.Int64), p50_s=value.quantile(0.5, "linear"), p90_s=value.quantile(0.9, "linear")
    )
    count = pl.col("count")
    return (
        bins.join(counted, on="bin", how="left", maintain_order="left")
        .with_columns(
            command=pl.lit(name),
            from_s=(begin_ns + pl.col("bin") * width_ns) / _NS_PER_S,
            to_s=pl.min_horizontal(begin_ns + (pl.col("bin") + 1) * width_ns, pl.lit(end_ns)) / _NS_PER_S,
            count=count.fill_null(0),
            p50_s=pl.when(count >= samples_needed(0.5)).then("p50_s"),
            p90_s=pl.when(count >= samples_needed(0.9)).then("p90_s"),
        )
        .with_columns(pl.col("from_s", "to_s").round(6), pl.col("p50_s", "p90_s").round_sig_figs(5))
        .select(*_QUANTILE_COLUMNS)
    )


def _throughput(answers: pl.DataFrame, span: tuple[int, int], width_ns: int) -> pl.DataFrame:
    """Answers a second in every bin; 0 where none came. Empty with fewer than three bins."""
    schema = {"from_s": pl.Float64, "to_s": pl.Float64, "per_second": pl.Float64}
    if len(answers) < 2:
        return pl.DataFrame(schema=schema)
    begin_ns, end_ns = span
    begins = np.arange(begin_ns, end_ns, width_ns)
    # A run often ends with an answer: alone in a short last bin, it would be the highest rate of all.
    if len(begins) > 1 and 2 * (end_ns - begins[-1]) < width_ns:
        begins = begins[:-1]
    if len(begins) < _FEWEST_SPANS:
        return pl.DataFrame(schema=schema)
    edges = np.append(begins, end_ns)
    ready = np.sort(answers["ready_ns"].to_numpy())
    counts = np.diff(np.searchsorted(ready, edges, side="right"))
    frame = pl.DataFrame(
        {
            "from_s": edges[:-1] / _NS_PER_S,
            "to_s": edges[1:] / _NS_PER_S,
            "per_second": counts / (np.diff(edges) / _NS_PER_S),
        }
    )
    return frame.with_columns(pl.col("from_s", "to_s").round(6), pl.col("per_second").round_sig_figs(5))


def _users(tables: Tables, span: tuple[int, int]) -> pl.DataFrame:
    """Users logged in. Empty if their number does not change while the run is steady."""
    schema = {"from_s": pl.Float64, "to_s": pl.Float64, "users": pl.Int64}
    logged_in = tables.sessions.filter(pl.col("ready_ns").is_not_null())
    begin_ns, end_ns = span
    if logged_in.is_empty() or begin_ns == end_ns or tables.conditions.get("kind") == "meter":
        return pl.DataFrame(schema=schema)
    arrivals = np.sort(logged_in["ready_ns"].cast(pl.Int64).to_numpy())
    departures = np.sort(logged_in["ended_ns"].fill_null(end_ns).cast(pl.Int64).to_numpy())
    edges = np.linspace(begin_ns, end_ns, MOST_TIME_BINS + 1).astype(np.int64)
    middle = (edges[:-1] + edges[1:]) // 2
    users = np.searchsorted(arrivals, middle, side="right") - np.searchsorted(departures, middle, side="right")
    frame = pl.DataFrame({"from_s": edges[:-1] / _NS_PER_S, "to_s": edges[1:] / _NS_PER_S, "users": users})
    starts = dict(phase_marks(tables).select("phase", "at_s").rows())
    steady = frame.filter(
        (pl.col("from_s") >= starts.get("steady", 0.0)) & (pl.col("to_s") <= starts.get("ramp-down", math.inf))
    )
    if steady["users"].n_unique() <= 1:
        return pl.DataFrame(schema=schema)
    return frame.with_columns(pl.col("from_s", "to_s").round(6))


def _bin_notes(
    answers: pl.DataFrame, span: tuple[int, int], widths_ns: tuple[int, int], *, has_lines: bool
) -> list[str]:
    """Sentences on the bins of response times and of throughput, whose lengths are `widths_ns`."""
    if answers.is_empty():
        return []
    needed, (width_ns, rate_width_ns) = samples_needed(0.9), widths_ns
    rates = f"answers in spans of {duration(rate_width_ns)}"
    has_rates = rate_width_ns * _FEWEST_SPANS <= span[1] - span[0]
    if has_lines:
        more = f", {rates}" if has_rates and rate_width_ns != width_ns else ""
        notes = [f"Response times are in spans of {duration(width_ns)}{more}. A span needs {needed} answers for a p90."]
    else:
        few = f"{counted(len(answers), 'answer')} {'is' if len(answers) == 1 else 'are'} too few for"
        notes = [f"{few} a p90 over time: it needs {_FEWEST_SPANS} spans with {needed} answers each."]
        notes += [f"{rates.capitalize()}."] if has_rates else []
    return notes + (["Each dot is one answer."] if len(answers) <= MOST_DOTS else [])


def _left_out_notes(answers: pl.DataFrame, without_lines: int) -> list[str]:
    """Sentences on the commands that cannot be chosen."""
    beyond = answers["command"].n_unique() - MOST_COMMANDS
    notes = [f"… and {number(beyond)} more commands, which cannot be chosen."] if beyond > 0 else []
    if without_lines:
        few = f"{counted(without_lines, 'command')} {'has' if without_lines == 1 else 'have'} too few answers"
        notes.append(f"{few} for a p90 over time and cannot be chosen.")
    return notes

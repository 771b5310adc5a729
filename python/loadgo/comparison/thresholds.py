"""The thresholds of `--worse`: the largest deterioration that a measure may have, and their results."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Matched

CANNOT_TELL_TEXT = "whether runs differ by as much without a change cannot be told"
UNANSWERED_TEXT = "without the lines that had no answer; with them it may be worse by more than"


@dataclass(frozen=True)
class Threshold:
    """The largest deterioration that a measure may have, in percent."""

    measure: str
    percent: float


@dataclass(frozen=True)
class ThresholdResult:
    """The result of a threshold. `failed` is None if the measure is not known."""

    failed: bool | None
    text: str
    is_open: bool = False
    """Whether it passed though B may be worse by more than the threshold, as far as is known."""


def threshold_result(threshold: Threshold, rows: Matched, has_like_loads: bool) -> ThresholdResult:
    """The result, with a clause if the loads differ: the difference is then not the system's alone."""
    result = _judged(threshold, rows)
    return result if has_like_loads else replace(result, text=f"{result.text}; the loads differ")


def _judged(threshold: Threshold, rows: Matched) -> ThresholdResult:
    """Fails if the measure is worse by more than the threshold, and by more than chance.

    Without an interval the figures alone decide.
    """
    difference = rows.whole.get(threshold.measure)
    name, limit = threshold.measure, f"{threshold.percent:g} %"
    if difference is None or difference.relative is None:
        return ThresholdResult(None, f"{name} cannot be told")
    worse = -difference.relative if difference.more_is_better else difference.relative
    text = f"{name} is {abs(100 * difference.relative):.1f} % {'more' if difference.relative > 0 else 'less'}"
    if 100 * worse <= threshold.percent:
        if 100 * _most_worse(difference) > threshold.percent:
            return ThresholdResult(None, f"{text} {UNANSWERED_TEXT} {limit}")
        doubt = _doubt(difference, threshold.percent)
        return ThresholdResult(False, f"{text}: not worse by more than {limit}{doubt}", bool(doubt))
    if difference.may_be_chance:
        return ThresholdResult(False, f"{text}, which may be chance", is_open=True)
    if difference.verdict == "cannot tell":
        return ThresholdResult(None, f"{text}: {CANNOT_TELL_TEXT}")
    doubt = "" if difference.interval else ", by the figures alone: there is no interval"
    return ThresholdResult(True, f"{text}: worse by more than {limit}{doubt}")


def _doubt(difference: Difference, percent: float) -> str:
    """A clause on why B may be worse by more than so many percent nevertheless; empty if it is surely not."""
    interval = difference.interval
    if interval is None or not difference.before:
        return ", by the figures alone: there is no interval"
    worst = -interval.low if difference.more_is_better else interval.high
    if 100 * worst / difference.before > percent:
        return ", but its 95 % interval reaches beyond that"
    return f", but {CANNOT_TELL_TEXT}" if difference.cannot_tell_by == "drift" else ""


def _most_worse(difference: Difference) -> float:
    """The largest relative change for the worse of the figures alone, with lines that had no answer. 0 without any."""
    if difference.by_unanswered is None or difference.change is None or not difference.before:
        return 0.0
    return (difference.change + difference.by_unanswered.high) / abs(difference.before)

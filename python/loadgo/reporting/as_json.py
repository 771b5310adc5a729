"""The summary as JSON, in full precision: every figure under the name that it has in `loadgo.measures.summary`."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from loadgo.documents.as_json import finite
from loadgo.measures.summary import Summary
from loadgo.measures.vocabulary import in_words_of
from loadgo.reporting.chart_frames import frame_of
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.view import View

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

OVER_TIME = ("time", "faults", "interrupts", "queue", "lengths")
"""The charts of the meters whose data are in the JSON: what the tables do not hold."""


def json_report(summary: Summary, tables: Tables, view: View | None = None) -> str:
    """One JSON object; times in nanoseconds end in `_ns`, in seconds in `_s`; null is not measured, or without end
    where `state` says `never`. `over_time` has the columns behind the charts of the meters.
    """
    text = json.dumps(
        finite(_told(summary, view or View())), indent=2, ensure_ascii=False, allow_nan=False, default=str
    )
    charts = json.dumps(finite(_over_time(summary, tables)), ensure_ascii=False, allow_nan=False)
    return text.removesuffix("\n}") + f',\n  "over_time": {charts}\n}}\n'


def _told(summary: Summary, view: View) -> dict[str, Any]:
    told = dataclasses.asdict(summary)
    told["format"] = 1
    told["driver"]["valid"] = summary.driver.valid
    told["classes"]["total_ns"] = summary.classes.total_ns
    if summary.prediction is not None:
        for phases, figures in summary.prediction.figures.items():
            for place, one in enumerate(figures):
                told["prediction"]["figures"][phases][place].update(
                    central=one.central, parameters_share=one.parameters_share
                )
    if summary.audit is not None:
        told["audit"]["discrepancy"] = summary.audit.discrepancy
    if summary.total_time is not None:
        told["total_time"]["total_ns"] = summary.total_time.total_ns
        told["total_time"]["non_idle_ns"] = summary.total_time.non_idle_ns
        if view.vocabulary != "today":
            words = in_words_of(view.vocabulary, summary.total_time, summary.meters)
            told["vocabulary"] = dataclasses.asdict(words)
    return told


def _over_time(summary: Summary, tables: Tables) -> dict[str, Any]:
    """By chart: its caption, and its columns; those without rows left out."""
    if not (summary.everything.response.count or without_load(summary)):
        return {}
    plotted = {name: frame_of(name, summary, tables) for name in OVER_TIME}
    return {
        name: {"caption": found.caption, "columns": found.frame.to_dict(as_series=False)}
        for name, found in plotted.items()
        if not found.frame.is_empty()
    }

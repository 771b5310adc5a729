"""The summary as JSON in full precision. Keys are the names of `loadgo.measures.json_keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgo.documents.as_json import json_document, members_of
from loadgo.measures.json_keys import JSON_KEYS
from loadgo.measures.summary import Summary
from loadgo.measures.vocabulary import in_words_of
from loadgo.reporting.charts.chart_frames import chart_data_of
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.view import View
from loadgo.reporting.words import warnings

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

OVER_TIME_CHARTS = ("time", "faults", "interrupts", "queue", "lengths")
"""Charts of the meters whose data are in the JSON, since the report's tables do not have them."""


def json_report(summary: Summary, tables: Tables, view: View | None = None) -> str:
    """The report as one JSON object. `over_time` has the data of the meters' charts.

    Names of times end in `_ns` or `_s`. A null was not measured; beside a `state` of `never`, it is a time without end.
    """
    members = {**members_of(summary, JSON_KEYS), "warnings": warnings(summary)}
    vocabulary = (view or View()).vocabulary
    if summary.total_time is not None and vocabulary != "today":
        members["vocabulary"] = in_words_of(vocabulary, summary.total_time, summary.meters)
    return json_document(members, JSON_KEYS, {"over_time": _over_time(summary, tables)})


def _over_time(summary: Summary, tables: Tables) -> dict[str, Any]:
    """The caption and the columns of each chart that has rows, by the chart's name."""
    if not (summary.everything.response.count or without_load(summary)):
        return {}
    plotted = {name: chart_data_of(name, summary, tables) for name in OVER_TIME_CHARTS}
    return {
        name: {"caption": chart_data.caption, "columns": chart_data.frame.to_dict(as_series=False)}
        for name, chart_data in plotted.items()
        if not chart_data.frame.is_empty()
    }

"""A likeness as a document, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Charts, Document, Section
from loadgo.notation.figures import as_code, counted, number, plain
from loadgo.observation.likeness.answer import answer, host_answer, trust
from loadgo.observation.likeness.overview import furthest_table, gap_points, overview_table
from loadgo.observation.likeness.results import (
    ComparedBytes,
    ComparedCorrelation,
    ComparedDistribution,
    ComparedFigure,
    ComparedMix,
    Curve,
    Gap,
    Likeness,
    LoadOfSide,
    Measure,
)
from loadgo.observation.likeness.tables import likeness_tables

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

JSON_KEYS: Keys = {
    Likeness: (
        "script run system source margin is_alike is_unlike sessions figures mixes distributions correlations "
        "bytes observed_load run_load not_compared not_modelled curves warnings"
    ),
    ComparedFigure: (
        "depends_on user_class command measure statistic counts observed observed_most run relative interval verdict"
    ),
    ComparedMix: "user_class what counts share interval verdict",
    ComparedBytes: (
        "user_class command moved runs observed observed_p90 script script_p90 relative distance observed_correlation "
        "script_correlation"
    ),
    ComparedDistribution: "user_class command measure counts distance interval",
    ComparedCorrelation: "user_class command second counts observed observed_interval run run_interval",
    LoadOfSide: "users span_s commands processors_used running_or_ready sessions_an_hour",
    Gap: "figure reason",
    Curve: "user_class command measure probabilities observed run",
}
_SMALL_FIGURES: dict[Measure, float] = {"processor time": 50e6, "page faults": 2000.0}
"""Nanoseconds and faults of a mean or p90. The start of a stand-in takes some 12 ms and 1,000 faults."""
_MORE = "the same command with `--full` prints all figures; with `--format html` it is a page with charts."


def likeness_document(likeness: Likeness) -> Document:
    """The document of a likeness."""

    def charts() -> list[Chart]:
        from loadgo.observation.likeness.charts import likeness_charts

        return likeness_charts(likeness)

    further = host_answer(likeness)
    return Document(
        title=f"{plain(likeness.run)} beside what was observed for {plain(likeness.script.name)}",
        answer=answer(likeness),
        further_answers=(further,) if further else (),
        trust=trust(likeness),
        warnings=likeness.warnings,
        about=(
            f"Observed: {likeness.source}, {counted(likeness.observed_load.commands, 'command')} in "
            f"{counted(likeness.sessions[0], 'session')}.",
            f"Run: {plain(likeness.run)} on {plain(likeness.system)}, "
            f"{counted(likeness.run_load.commands, 'command')} in {number(likeness.sessions[1])} sessions of the "
            "script.",
        ),
        sections=(Charts(charts), *_first_sections(likeness), *likeness_tables(likeness)),
        notes=_next_notes(likeness),
        short_notes=(*_next_notes(likeness), ("More", _MORE)),
    )


def _first_sections(likeness: Likeness) -> list[Section]:
    """The sections of the short report, of which a page has the first."""
    sections = (overview_table(likeness), furthest_table(likeness), gap_points(likeness))
    return [section for section in sections if section is not None]


def _next_notes(likeness: Likeness) -> tuple[tuple[str, str], ...]:
    """The remedy where stand-ins of small commands use more than the commands did."""
    names = [row.command for row in likeness.figures if _is_small(row)]
    if not names:
        return ()
    command = as_code(f"observe --typed {names[0]}='…'")
    return (
        (
            "Next",
            "A stand-in may use more than a command of few milliseconds or few page faults, since a program has to "
            f"start. {command} types the command itself.",
        ),
    )


def _is_small(figure: ComparedFigure) -> bool:
    """Whether the run has more of a figure than was observed, and so little was that the start of a program shows."""
    most = _SMALL_FIGURES.get(figure.measure)
    if most is None or figure.verdict != "differs" or not figure.command:
        return False
    return figure.relative is not None and figure.relative > 0 and (figure.observed_most or 0.0) < most


def likeness_json(likeness: Likeness) -> str:
    """The likeness as one JSON object. Units are nanoseconds, bytes and counts; null is not known."""
    members = {"answer": " ".join(filter(None, (answer(likeness), host_answer(likeness))))}
    return json_document({**members, **members_of(likeness, JSON_KEYS)}, JSON_KEYS)
